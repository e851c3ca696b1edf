"""Text from other sources made safe to store, and the words in it."""

import re
import unicodedata
from decimal import Decimal
from itertools import pairwise

# Ranges of format characters that no reader sees: soft hyphens and zero-width spaces split words for every
# search, bidi controls reorder the text around them, and tags (U+E0000 to U+E007F) and the supplementary
# variation selectors can carry whole instructions to a model. The joiners U+200C and U+200D, which Persian,
# the scripts of India and emoji need, and the direction marks U+200E and U+200F are not among them.
INVISIBLE = (
    "\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_FORBIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff{INVISIBLE}]")
# Control characters, overrides of the writing direction, joiners, surrogates and private characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\uffff\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Vowel signs and other marks of Arabic, the scripts of India and Thai: parts of words, no letters for Python.
_MARKS = "".join(
    chr(code) for code in (*range(0x0610, 0x0FBD), *range(0x1000, 0x1100), *range(0x1780, 0x17D4))
    if unicodedata.category(chr(code)) in ("Mn", "Mc")
)  # fmt: skip
_LETTERS = rf"[\w{_MARKS}]"
_WORD = re.compile(rf"{_LETTERS}+(?:[-'’]{_LETTERS}+)*")
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LEVEL = str.maketrans(_SUPERSCRIPTS + "⁻⁺", "0123456789-+")
_MAY_BE_FIGURES = re.compile(
    rf"\^[\d{{]|\d(?:[,\u00a0\u2009\u202f]\d{{3}}|\s?\^|[{_SUPERSCRIPTS}⁻⁺]|\*\*|(?:\.\d+)?[eE][-+−]?\d)"
)
# Thousands separated by commas or narrow spaces.
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,\d{3})++|(?:[\u00a0\u2009\u202f]\d{3})++)(?!,?\d)")
_POWER = re.compile(
    r"(?<![\w.])(?:(?P<factor>\d+(?:\.\d+)?)\s?[×·⋅x*]\s?)?(?P<base>\d{1,4})"
    r"(?:\s?(?:\^|\*\*)\s?\{?(?P<exponent>[-+−–]?\d{1,2})\}?"
    rf"|(?P<raised>[⁻⁺]?[{_SUPERSCRIPTS}]{{1,2}}))"
    rf"(?![\w{_SUPERSCRIPTS}])"
)
_SCIENTIFIC = re.compile(r"(?<![\w.])(?P<factor>\d+(?:\.\d+)?)[eE](?P<exponent>[-+−]?\d{1,2})(?!\w)")
_OF_A_LETTER = re.compile(r"(?<=[^\W\d_])\^\{?(?P<exponent>\d{1,2})\}?(?!\w)")
_LARGEST_BASE, _LARGEST_POWER = 999, 16
# Thai, Lao, Burmese, Khmer, kana and Chinese characters: written without spaces between words.
_UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)


def storable(text: str) -> str:
    """Return `text` without invisible format characters and those that XML, JSON or Arrow cannot carry.

    Line ends become line feeds.
    """
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, accents kept, compatibility forms folded."""
    return _WORD.findall(spaced(unicodedata.normalize("NFKC", write_out_numbers(text)).lower()))


def write_out_numbers(text: str) -> str:
    """Return `text` with large numbers and powers written out: "10⁶", "10^6" and "1,000,000" as "1000000".

    So all forms are compared and searched as one number. A raised figure behind a year is a note's mark and
    left out; "km^2" becomes "km2", as "km²" does when characters are folded (NFKC).
    """
    if not _MAY_BE_FIGURES.search(text):
        return text
    text = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = _OF_A_LETTER.sub(r"\g<exponent>", text)
    return _POWER.sub(_written_out, _SCIENTIFIC.sub(_of_exponent, text))


def _of_exponent(match: re.Match[str]) -> str:
    return _power(match[0], match["factor"], "10", match["exponent"])


def _written_out(match: re.Match[str]) -> str:
    exponent = match["exponent"] or (match["raised"] or "").translate(_LEVEL)
    return _power(match[0], match["factor"] or "1", match["base"], exponent)


def _power(written: str, factor: str, base: str, exponent: str) -> str:
    power = int(re.sub("[−–]", "-", exponent))
    if int(base) > _LARGEST_BASE:
        return f"{'' if factor == '1' else factor} {base}".strip()
    if base != "10" and not 0 <= power <= _LARGEST_POWER:
        return written
    return f"{(Decimal(factor) * Decimal(base) ** power).normalize():f}"


def spaced(text: str) -> str:
    """Return `text` with scripts that use no spaces cut into overlapping pairs of characters.

    They can then be compared and searched without a dictionary: 检索 is found in 稠密检索.
    """
    return _UNSPACED.sub(_in_pairs, text)


def _in_pairs(run: re.Match[str]) -> str:
    pairs = (first + second for first, second in pairwise(run[0]))
    return f" {' '.join(pairs) or run[0]} "


def seen(text: str) -> str:
    """Return `text` without invisible characters; white space stays."""
    # Most texts have none, and this check takes a fifth of the time.
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def one_line(text: str) -> str:
    """Return `text` on one line without invisible characters; not yet safe for Markdown."""
    return " ".join(seen(text).split())


def shortened(text: str, length: int) -> str:
    """Return `text` on one line, cut at a word if it is longer than `length` characters."""
    line = one_line(text)
    if len(line) <= length:
        return line
    head = line[:length].rpartition(" ")[0]
    # A text without spaces is cut at the length.
    return f"{head if len(head) > length // 2 else line[:length]} …"
