"""The characters of a page as they are drawn, in arrays.

PDFium tells of one character at a time, and a page has thousands: all else is reckoned for a page at once.
"""

import ctypes
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from corpus.pdf.characters import character
from corpus.pdf.quick import address, box_of, font_of, object_of, origin_of, unicode_of

Numbers = NDArray[np.float64]
Transform = tuple[float, ...]

_Flags = NDArray[np.bool_]
_Places = NDArray[np.intp]

# pdfium marks a line-break hyphen as U+FFFE or U+0002, also for real hyphens.
_HYPHENS = (0xFFFE, 0x0002, 0x00AD)
# Old TeX fonts without a map to Unicode keep their ligatures at these codes.
_TEX_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl"}
UNKNOWN_LETTER = "\ufffd"
"""A glyph that the file draws among letters without saying which it stands for, mostly a ligature."""
_LINE_ENDS = (10, 13)
_NO_SIGN = 0xDC00  # half of a letter, which has no text of its own
_UNITS = ctypes.POINTER(ctypes.c_ushort)


@dataclass(frozen=True, slots=True)
class Extents:
    """Where characters are drawn, parallel arrays: boxes and baselines in points from the top left."""

    left: Numbers
    top: Numbers
    right: Numbers
    bottom: Numbers
    baseline: Numbers

    def __getitem__(self, at: Any) -> "Extents":
        return Extents(*(one[at] for one in self.arrays))

    @property
    def arrays(self) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        return self.left, self.top, self.right, self.bottom, self.baseline


@dataclass(frozen=True, slots=True)
class Characters:
    """A page's characters in the order of the file: those that are drawn, and those that separate words.

    `signs`, `places` (in the page's text) and `extents` are of those drawn; `breaks` are the places of those
    that separate. Of these `is_hyphen` says which cut a word at the end of a line, and `is_line_end` which
    end a line; hyphens have `extents_of_breaks` if they are drawn (`is_drawn`), the others' are zero.
    """

    signs: Sequence[str]
    places: _Places
    extents: Extents
    breaks: _Places
    is_hyphen: _Flags
    is_line_end: _Flags
    is_drawn: _Flags
    extents_of_breaks: Extents

    def only(self, wanted: _Flags) -> "Characters":
        """Return the characters that are wanted among those that separate words."""
        signs = [self.signs[at] for at in np.flatnonzero(wanted).tolist()]
        return replace(self, signs=signs, places=self.places[wanted], extents=self.extents[wanted])


def read_characters(text: object, transform: Transform) -> Characters:
    """Return the characters of a text page of PDFium's; `transform` leads to the page as it is shown."""
    page = address(text)
    codes = _codes(text, page)
    signs = list(map(_sign, codes.tolist()))
    for at in np.flatnonzero(np.isin(codes, list(_TEX_LIGATURES))).tolist():
        signs[at] = _tex_ligature(text, at, int(codes[at])) or signs[at]
    for at in np.flatnonzero(codes == 0).tolist():
        signs[at] = _unknown_letter(text, page, at, codes)
    is_break = np.array([sign is None for sign in signs], bool)
    is_hyphen = np.isin(codes, _HYPHENS)
    for at in np.flatnonzero(codes == 2).tolist():
        is_hyphen[at] = pdfium_c.FPDFText_IsHyphen(text, at) == 1
    breaks = np.flatnonzero(is_break)
    extents, is_drawn = _extents(page, is_hyphen | np.array(list(map(bool, signs)), bool), transform)
    places = np.flatnonzero(is_drawn & ~is_break)
    return Characters(
        [signs[at] or "" for at in places.tolist()],
        places,
        extents[places],
        breaks,
        is_hyphen[breaks],
        np.isin(codes[breaks], _LINE_ENDS),
        is_drawn[breaks],
        extents[breaks],
    )


def are_apart(before: Extents, after: Extents) -> _Flags:
    """Return the characters that stand apart from those before them, though no space is between."""
    height = np.maximum(np.maximum(before.bottom - before.top, after.bottom - after.top), 4.0)
    across = np.maximum(after.left - before.right, before.left - after.right)
    down = np.maximum(after.top - before.bottom, before.top - after.bottom)
    is_lower = np.abs(after.baseline - before.baseline) > 1.2 * height
    wraps = is_lower & (after.left < before.left - 1.2 * height)
    apart: _Flags = wraps | (np.maximum(across, down) > 1.5 * height)
    return apart


def _codes(text: object, page: int) -> NDArray[np.int64]:
    """Return the code of each character of a text page."""
    count = pdfium_c.FPDFText_CountChars(text)
    # The whole text at once lacks what has no code, and has two codes for what lies beyond Unicode's first
    # plane: then each character is asked for.
    units = np.zeros(2 * count + 1, np.uint16)
    told = pdfium_c.FPDFText_GetText(text, 0, count, units.ctypes.data_as(_UNITS)) - 1
    codes = units[:count].astype(np.int64)
    if told != count or (codes & 0xF800 == 0xD800).any():
        return _whole_codes(np.fromiter(map(unicode_of, repeat(page), range(count)), np.int64, count))
    for at in np.flatnonzero(codes == 0xFFFE).tolist():
        codes[at] = unicode_of(page, at)
    return codes


def _whole_codes(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the code of each pair of surrogates in the place of the first; the second becomes `_NO_SIGN`."""
    first = np.flatnonzero((units[:-1] & 0xFC00 == 0xD800) & (units[1:] & 0xFC00 == 0xDC00))
    codes = units.copy()
    codes[first] = 0x10000 + ((units[first] & 0x3FF) << 10) + (units[first + 1] & 0x3FF)
    codes[first + 1] = _NO_SIGN
    return codes


@cache
def _sign(code: int) -> str | None:
    """Return the text of a code, "" for none and None for a separator of words."""
    if code in _HYPHENS or code <= 0x20 or (code >= 0x80 and chr(code).isspace()):
        return None
    return character(code)


def _tex_ligature(text: object, index: int, code: int) -> str:
    if pdfium_c.FPDFText_IsGenerated(text, index) == 1:
        return ""
    beside = (pdfium_c.FPDFText_GetUnicode(text, index + step) for step in (-1, 1))
    unmapped = pdfium_c.FPDFText_HasUnicodeMapError(text, index) == 1
    return _TEX_LIGATURES[code] if unmapped and any(chr(c).isalpha() for c in beside if c < 0x80) else ""


def _unknown_letter(text: object, page: int, index: int, codes: NDArray[np.int64]) -> str | None:
    """Return UNKNOWN_LETTER for a glyph among small letters of its font that the file does not name."""
    if pdfium_c.FPDFText_IsGenerated(text, index) == 1:
        return None
    font = font_of(object_of(page, index))
    beside = (at for at in (index - 1, index + 1) if 0 <= at < len(codes) and chr(codes[at]).islower())
    return UNKNOWN_LETTER if any(font_of(object_of(page, at)) == font for at in beside) else None


def _extents(page: int, is_wanted: _Flags, transform: Transform) -> tuple[Extents, _Flags]:
    """Return the extents of the characters wanted, and which of them are drawn."""
    wanted = np.flatnonzero(is_wanted)
    count = len(wanted)
    told = np.zeros((6, count))
    # PDFium writes what it is asked at the addresses that it is given: one of each row.
    left, right, bottom, top, x, y = (_addresses(row) for row in told)
    places = wanted.tolist()
    is_told = np.fromiter(map(box_of, repeat(page), places, left, right, bottom, top), bool, count)
    deque(map(origin_of, repeat(page), places, x, y), maxlen=0)
    extents, is_drawn = np.zeros((6, len(is_wanted))), np.zeros(len(is_wanted), bool)
    extents[:, wanted], is_drawn[wanted] = told, is_told
    return _shown(extents, transform), is_drawn


def _addresses(row: Numbers) -> range:
    first: int = row.ctypes.data
    return range(first, first + row.nbytes, row.itemsize)


def _shown(told: Numbers, transform: Transform) -> Extents:
    a, b, c, d, e, f = transform
    left, right, bottom, top, x, y = told
    x0, y0 = a * left + c * top + e, b * left + d * top + f
    x1, y1 = a * right + c * bottom + e, b * right + d * bottom + f
    return Extents(
        np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1), b * x + d * y + f
    )
