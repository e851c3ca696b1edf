"""The characters of PDFs: the text of their codes, accents, and font sizes from the heights of letters."""

import unicodedata
from collections.abc import Sequence

# Radicals that fonts use for the characters that look the same (from Unicode's table of equivalent
# ideographs, those that do not decompose).
_RADICALS = dict(
    zip(
        "⺎⺒⺓⺔⺝⺟⺠⺩⺫⺬⺮⺯⺰⺷⺼⻁⻄⻅⻆⻉⻋⻓⻑⻔⻘⻙⻚⻛⻜⻝⻟⻢⻣⻤⻥⻦⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳",
        "兀巳幺彑月母民王目示竹糸纟羊月虎西见角贝车长長门青韦页风飞食食马骨鬼鱼鸟麦黄黾斉齐歯齿竜龙亀亀龟",
        strict=True,
    )
)
_ACCENTS = {
    0x00A8: "\u0308",
    0x00B4: "\u0301",
    0x0060: "\u0300",
    0x02C6: "\u0302",
    0x02DC: "\u0303",
    0x02C7: "\u030c",
}


def character(code: int) -> str:
    """Return the text of a character code, "" for a code that must not be in a text."""
    if 0xD800 <= code <= 0xDFFF or code >= 0x110000 or (code & 0xFFFE) == 0xFFFE:
        return ""
    sign = chr(code)
    if code < 0x80:
        return sign if code >= 0x20 and code != 0x7F else ""
    if 0xFB00 <= code <= 0xFB06:
        return unicodedata.normalize("NFKC", sign)
    if 0x2E80 <= code <= 0x2FD5:
        return _RADICALS.get(sign) or unicodedata.normalize("NFKC", sign)
    if code == 0xF0B7:
        return "•"
    return "" if unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs", "Cn") else sign


def compose(text: str) -> str:
    """Combine accents that TeX sets before their letter ("¨o") with it."""
    if text.isascii() and "`" not in text:
        return text
    if not any(ord(sign) in _ACCENTS for sign in text[:-1]):
        return unicodedata.normalize("NFC", text)
    parts: list[str] = []
    accent = ""
    for sign in text:
        if accent:
            letter = {"ı": "i", "ȷ": "j"}.get(sign, sign)
            joined = unicodedata.normalize("NFC", letter + _ACCENTS[ord(accent)])
            parts.append(joined if letter.isalpha() and len(joined) == 1 else accent + sign)
            accent = ""
        elif ord(sign) in _ACCENTS:
            accent = sign
        else:
            parts.append(sign)
    return unicodedata.normalize("NFC", "".join(parts) + accent)


def size_from_letters(letters: Sequence[str], heights: Sequence[float]) -> float:
    """Estimate a font's height from the heights of its letters."""
    sizes = sorted(
        height / (0.45 if letter in "acemnorsuvwxz" else 0.65 if letter in "gpqy" else 0.69)
        for letter, height in zip(letters, heights, strict=True)
    )
    return sizes[len(sizes) // 2]
