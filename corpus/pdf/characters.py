"""The characters of PDFs: what their codes stand for in text, and what their boxes tell of size and place."""

import unicodedata
from dataclasses import dataclass

_ACCENTS = {
    0x00A8: "\u0308",
    0x00B4: "\u0301",
    0x0060: "\u0300",
    0x02C6: "\u0302",
    0x02DC: "\u0303",
    0x02C7: "\u030c",
}


def character(code: int) -> str:
    """Return what a character code stands for in text, or nothing for what must not get into text."""
    if 0xD800 <= code <= 0xDFFF or code >= 0x110000 or (code & 0xFFFE) == 0xFFFE:
        return ""
    sign = chr(code)
    if code < 0x80:
        return sign if code >= 0x20 and code != 0x7F else ""
    if 0xFB00 <= code <= 0xFB06:
        return unicodedata.normalize("NFKC", sign)
    if code == 0xF0B7:
        return "•"
    return "" if unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs", "Cn") else sign


def compose(text: str) -> str:
    """Put accents that TeX sets before their letter ("¨o") onto it."""
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


@dataclass(slots=True)
class Glyph:
    """A character as drawn: its box, and where it begins on its baseline; points from the top left."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    x: float
    baseline: float


def size_from_letters(glyphs: list[Glyph]) -> float:
    """Estimate a font's height from how high its letters are drawn."""
    sizes = sorted(
        (glyph.bottom - glyph.top)
        / (0.45 if glyph.text in "acemnorsuvwxz" else 0.65 if glyph.text in "gpqy" else 0.69)
        for glyph in glyphs
    )
    return sizes[len(sizes) // 2]


def is_apart(before: Glyph, after: Glyph) -> bool:
    """Return True if two characters without a space between them stand in different places all the same."""
    height = max(before.bottom - before.top, after.bottom - after.top, 4.0)
    across = max(after.left - before.right, before.left - after.right)
    down = max(after.top - before.bottom, before.top - after.bottom)
    wraps = abs(after.baseline - before.baseline) > 1.2 * height and after.left < before.left - 1.2 * height
    return wraps or max(across, down) > 1.5 * height
