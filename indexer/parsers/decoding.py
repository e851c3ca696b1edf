"""Decode the bytes of a text: Unicode, Unicode with stray bytes, or a legacy encoding.

A legacy encoding is used only where it is certain. Encoding detectors need long texts: in short ones they
take Windows-1250 for Mac Roman and KOI8 for Shift-JIS. Here the common letters of each script decide, and
whether other characters are in plausible positions.
"""

import codecs
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROL = 0.02
_NOT_IN_WIDE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffe\uffff]")
_ESCAPES = {b"\x1b$)C": "iso2022_kr", b"\x1b$": "iso2022_jp_ext"}
_CUT_OFF = re.compile(  # "café" may end with a lone e9
    rb"(?:[\xc2-\xd7]|[\xe0-\xef][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{1,2}|(?<=[\x80-\xbf])[\xe0-\xf4])\Z"
)
# Bytes that are not UTF-8 are first decoded to these surrogates.
_STRAY_RUN = re.compile("[\udc80-\udcff]+")
_STRAY = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
_HIGH_RUN = re.compile(rb"[\x80-\xff]+(?:[\x40-\x7e][\x80-\xff]+)*")
_NEARLY_ALL, _MOSTLY = 0.9, 0.5  # of the bytes beyond ASCII
_SAMPLE = 20_000  # bytes
_LONG_RUN = 4  # consecutive bytes beyond ASCII; accented Latin letters come alone or in pairs
_FEWEST_LETTERS = 6
_LEAST_SCORE, _LEAST_LEAD = 0.55, 0.02
_LEAST_LEAD_OF_SCRIPT = 1.5  # letters by which a script must fit better than another
_ASCII = bytes(range(0x80))
_LATIN_LEAD = 0.08  # by which an encoding must fit better than Windows-1252
_FEW = 0.01  # of all bytes; so few doubtful letters do not make a text unreadable

WINDOWS = "cp1252"

_COMMON: Mapping[str, frozenset[str]] = {
    script: frozenset(letters)
    for script, letters in {
        "CYRILLIC": "оеёаинтсрвлкмдпуяыіїє",
        "GREEK": "αοιετσνηυρπκμλςάέήίόύώ",
        "HEBREW": "יוהלאתרבמשנדםח",
        "ARABIC": "اليمنوةرتبعد",
        "THAI": "านรอกเงมยลวดทสตะปบคหแ่้ิีัุู",
    }.items()
}
"""The letters that make up most of a text in a script."""

_SCRIPTS = {
    **dict.fromkeys(("cp1251", "koi8_r", "koi8_u", "mac_cyrillic", "cp866", "iso8859_5"), "CYRILLIC"),
    **dict.fromkeys(("cp1253", "cp737", "mac_greek"), "GREEK"),
    **dict.fromkeys(("cp1255", "cp862"), "HEBREW"),
    **dict.fromkeys(("cp1256", "iso8859_6"), "ARABIC"),
    "cp874": "THAI",
}
_FIRST_LEVELS = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "cp950": ("big5", 0xA4, 0xC6),
    "cp932": ("euc_jp", 0xB0, 0xCF),
    "euc_jp": ("euc_jp", 0xB0, 0xCF),
    "cp949": ("euc_kr", 0xB0, 0xC8),
}
"""The standards of East Asia with the first bytes of their commonly used characters."""

_LATIN = (WINDOWS, "mac_roman", "cp850", "cp1250", "iso8859_2", "cp1254", "cp1257")
_ALPHABETS = tuple(
    frozenset(letters)
    for letters in (
        *("äöüßé", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "ãáàâçéêíõóôúü", "àèéìíòóù", "åäöéü", "æøåé"),
        *("áéíóúýðþæö", "äõöüšž", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű"),
        *("čćđšž", "ăâîșțşţ", "çğıiöşüâî", "āčēģīķļņšūž", "ąčęėįšųūž", "éèëïöüáó"),
    )
)
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüßœ")
_WESTERN_SHARE = 0.8  # of a fit, for names in several languages
_IN_WORDS = frozenset("-'’·­")
_NOT_AT_WORDS = frozenset("¤¦¨¯¸´¬¶ƒ¢¼½¾ˆ˜†‡‰Þ")
_NAMES = {
    "cp1252": "Windows-1252 (Latin-1)",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp1257": "Windows-1257",
    "cp874": "TIS-620",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "cp950": "Big5",
    "mac_roman": "Mac Roman",
    "mac_cyrillic": "Mac Cyrillic",
    "mac_greek": "Mac Greek",
}


class EncodingError(ValueError):
    """The encoding of a text is uncertain; the message completes a sentence about the file."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with its original encoding, and remarks for the report."""

    text: str
    encoding: str
    remarks: tuple[str, ...] = ()


def decode(content: bytes) -> Decoded:
    """Decode a text of unknown encoding; raises EncodingError."""
    for mark, encoding in _MARKS:
        if content.startswith(mark) and encoding != "utf-8":
            return _by_mark(content, encoding)
    content = content.removeprefix(codecs.BOM_UTF8)
    if (wide := _wide(content)) is not None:
        return wide
    for escape, encoding in _ESCAPES.items():
        if escape in content and (text := _strict(content, encoding)) is not None:
            return Decoded(text, encoding, (_remark(encoding),))
    text = _strict(content, "utf-8")
    return Decoded(text, "utf-8") if text is not None else _not_unicode(content)


def _by_mark(content: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(content.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"says that it is {encoding.upper()}, but byte {error.start} is not: save it as UTF-8"
        ) from error


def _strict(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _remark(encoding: str) -> str:
    return f"the text is not UTF-8; it was read as {_NAMES.get(encoding, encoding.upper().replace('_', '-'))}"


def _wide(content: bytes) -> Decoded | None:
    """Decode UTF-16 or UTF-32 without a byte order mark: it has nulls, and is no text in UTF-8."""
    if b"\x00" not in content:
        return None
    narrow = _strict(content, "utf-8")
    if narrow is not None and len(_CONTROL.findall(narrow)) <= _MOST_CONTROL * len(narrow):
        return None
    best, most = None, 0
    for encoding in _WIDE:
        text = _strict(content, encoding)
        if (
            text is None
            or _NOT_IN_WIDE.search(text)
            or any(unicodedata.category(c) == "Cn" for c in set(text))
        ):
            continue
        usual = sum(text.count(sign) for sign in " \n\r.,0123456789aeinost")
        if usual > most:
            best, most = Decoded(text, encoding), usual
    return best


def _not_unicode(content: bytes) -> Decoded:
    """Decode text that is not valid UTF-8: it has stray bytes, or is in a legacy encoding."""
    high = len(content.translate(None, _ASCII))
    of_utf_8 = high - _count_stray(content.decode("utf-8", "surrogateescape"))
    if of_utf_8 >= _NEARLY_ALL * high:
        return _with_stray_bytes(content)
    sample = b"\n".join(line for line in re.split(rb"[\r\n]+", content) if not line.isascii())[:_SAMPLE]
    runs = _HIGH_RUN.findall(sample)
    is_other_script = sum(len(run) for run in runs if len(run) >= _LONG_RUN) >= _MOSTLY * sum(map(len, runs))
    if is_other_script:
        encoding = _other_script(sample) or ("utf-8" if of_utf_8 >= _MOSTLY * high else "")
        # A few foreign letters do not make an English paper unreadable.
        encoding = encoding or (WINDOWS if high <= _FEW * len(content) else "")
    else:
        encoding = _latin(sample, is_rare=high <= _FEW * len(content))
    if encoding and (text := _strict(content, encoding)) is not None:
        return Decoded(text, encoding, (_remark(encoding),))
    if encoding in ("utf-8", WINDOWS):
        return _with_stray_bytes(content)
    raise EncodingError("is in an encoding that cannot be told for certain: save it as UTF-8")


def _with_stray_bytes(content: bytes) -> Decoded:
    """Decode UTF-8, with invalid bytes as Windows-1252."""
    remarks = []
    if cut := _CUT_OFF.search(content):
        content = content[: cut.start()]
        remarks.append("its last character is cut off")
    text = content.decode("utf-8", "surrogateescape")
    if stray := _count_stray(text):
        remarks.append(
            f"{stray:,} {'byte is' if stray == 1 else 'bytes are'} not UTF-8; read as Windows-1252 (Latin-1)"
        )
    text = text.translate(_STRAY)
    if lost := text.count("\ufffd"):
        remarks.append(f"{lost:,} of its characters cannot be read")
    return Decoded(text, "utf-8", tuple(remarks))


def _count_stray(text: str) -> int:
    return sum(map(len, _STRAY_RUN.findall(text)))


def _other_script(sample: bytes) -> str:
    """Return the encoding of a text in a non-Latin script, "" if uncertain."""
    scores: dict[str, tuple[float, str]] = {}
    for encoding in (*_SCRIPTS, *_FIRST_LEVELS):
        text = _strict_start(sample, encoding)
        if text is not None:
            score = _common_letters(text, encoding) - _odd_signs(text)
            scores[text] = max(scores.get(text, (score, encoding)), (score, encoding))
    ranked = sorted(scores.values(), reverse=True)
    if not ranked or ranked[0][0] < _LEAST_SCORE:
        return ""
    (best, encoding), *alternatives = ranked
    script = _SCRIPTS.get(encoding, encoding)
    least = _LEAST_LEAD_OF_SCRIPT / len(sample.translate(None, _ASCII))
    for score, rival in alternatives:
        if best - score < (_LEAST_LEAD if _SCRIPTS.get(rival, rival) == script else least):
            return ""
    return encoding


def _strict_start(sample: bytes, encoding: str) -> str | None:
    """Decode a sample that may end within a character."""
    for cut in (0, 1, 2, 3) if len(sample) == _SAMPLE else (0,):
        if (text := _strict(sample[: len(sample) - cut], encoding)) is not None:
            return text
    return None


def _common_letters(text: str, encoding: str) -> float:
    """Return the share of letters common in an encoding's script, 0..1, with a bonus for kana or Hangul."""
    letters = [sign for sign in text if not sign.isascii() and unicodedata.category(sign)[0] in "LM"]
    if len(letters) < _FEWEST_LETTERS:
        return 0.0
    if script := _SCRIPTS.get(encoding):
        capitals = sum(map(str.isupper, letters)) / len(letters)
        common = sum(letter.lower() in _COMMON[script] for letter in letters) / len(letters)
        return common - 0.15 * (capitals > _MOSTLY)
    common = sum(_is_in_first_level(letter, encoding) for letter in letters) / len(letters)
    kana = sum(_script(letter) in ("HIRAGANA", "KATAKANA") for letter in letters) / len(letters)
    hangul = sum(_script(letter) == "HANGUL" for letter in letters) / len(letters)
    # Japanese has kana, Korean mostly Hangul alone, and wrongly decoded text has neither.
    if encoding in ("cp932", "euc_jp"):
        return common + 0.2 * (kana > 0.2)
    return common - kana + (0.2 if hangul > 0.9 else -hangul)


def _is_in_first_level(letter: str, encoding: str) -> bool:
    if _script(letter) in ("HIRAGANA", "KATAKANA"):
        return True
    standard, first, last = _FIRST_LEVELS[encoding]
    place = letter.encode(standard, "ignore")
    return len(place) == 2 and first <= place[0] <= last


def _latin(sample: bytes, *, is_rare: bool) -> str:
    """Return the encoding of a text in Latin script, "" if uncertain.

    Windows-1252 is preferred if it fits nearly as well; `is_rare` means that few letters depend on it.
    """
    texts = {encoding: _strict(sample, encoding) for encoding in _LATIN}
    texts["utf-8"] = _with_stray_bytes(sample).text
    scores = {name: _fit(text) - _odd_signs(text) for name, text in texts.items() if text is not None}
    best = max(scores, key=lambda name: scores[name], default=WINDOWS)
    usual = scores.get(WINDOWS, -1.0)
    if usual >= scores.get(best, -1.0) - _LATIN_LEAD and (usual >= 0 or is_rare):
        return WINDOWS
    if scores.get(best, -1.0) >= _LEAST_SCORE:
        return best
    return WINDOWS if is_rare else ""


def _fit(text: str) -> float:
    """Return the share of non-ASCII letters that belong to the best fitting alphabet, 0..1."""
    letters = [sign.lower() for sign in text if not sign.isascii() and sign.isalpha() and sign not in "ªºµ"]
    if not letters:
        return 1.0
    best = max(sum(letter in alphabet for letter in letters) for alphabet in _ALPHABETS)
    western = sum(letter in _WESTERN for letter in letters)
    return max(best, _WESTERN_SHARE * western) / len(letters)


def _odd_signs(text: str) -> float:
    """Return the share of non-ASCII characters in implausible positions."""
    padded = f" {text} "
    neighbours = zip(padded, padded[1:], padded[2:], strict=False)
    signs = [around for around in neighbours if not around[1].isascii()]
    return sum(_oddity(*around) for around in signs) / max(len(signs), 1)


def _oddity(before: str, sign: str, after: str) -> float:
    """Rate a character between its neighbours from 0, plausible, to 1, odd."""
    category, script = unicodedata.category(sign), _script(sign)
    if category[0] == "C" or script in ("HALFWIDTH", "BOX", "BLOCK"):
        return float(sign not in _IN_WORDS)
    if category[0] in "SNP":
        return _oddity_of_mark(before, sign, after)
    if script in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI"):
        return 0.0
    if category == "Lu" and before.isalpha() and (before.islower() or after.islower()):
        return 1.0
    strangers = sum(neighbour.isalpha() and _script(neighbour) != script for neighbour in (before, after))
    stands_alone = script == "LATIN" and not before.isalnum() and not (after.isalnum() or after == ".")
    return max(0.5 * strangers, 0.5 * (stands_alone and sign not in "àéèóíúåöÅÖÀÉÓ"))


def _oddity_of_mark(before: str, sign: str, after: str) -> float:
    category, script = unicodedata.category(sign), _script(sign)
    if before.isalpha() and after.isalpha() and script not in ("CJK", "IDEOGRAPHIC", "FULLWIDTH"):
        return float(sign not in _IN_WORDS and category != "Pd")
    if sign in _NOT_AT_WORDS and (before.isalpha() or after.isalpha()):
        return 0.7
    if not after.isalpha():
        return 0.0
    is_opening = category in ("Pd", "Pi", "Ps") or sign in "¿¡„‚•·…§£€№"
    return 0.0 if is_opening and not before.isalnum() else 0.5


@cache
def _script(sign: str) -> str:
    return re.split("[ -]", unicodedata.name(sign, ""), maxsplit=1)[0]
