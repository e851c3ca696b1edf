"""The drawn characters of a page with their extents, in arrays.

PDFium reports one character at a time; everything else is computed for the whole page at once.
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
"""A glyph among letters that the file does not map to a character, mostly a ligature."""
_LINE_ENDS = (10, 13)
_NO_SIGN = 0xDC00  # half of a letter, which has no text of its own
_UNITS = ctypes.POINTER(ctypes.c_ushort)


@dataclass(frozen=True, slots=True)
class Extents:
    """The extents of characters in parallel arrays: boxes and baselines in points from the top left."""

    left: Numbers
    top: Numbers
    right: Numbers
    bottom: Numbers
    baseline: Numbers

    def __getitem__(self, at: Any) -> "Extents":
        return Extents(*(array[at] for array in self.arrays))

    @property
    def arrays(self) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        return self.left, self.top, self.right, self.bottom, self.baseline


@dataclass(frozen=True, slots=True)
class Characters:
    """A page's characters in the order of the file: the drawn ones, and those that separate words.

    `signs`, `places` (indices in the page's text) and `extents` are those of the drawn characters; `breaks`
    are the places of the separators. Of these `is_hyphen` marks hyphens at the end of a line, `is_line_end`
    line ends; `extents_of_breaks` are those of drawn hyphens (`is_drawn`), zero for others.
    """

    signs: Sequence[str]
    places: _Places
    extents: Extents
    breaks: _Places
    is_hyphen: _Flags
    is_line_end: _Flags
    is_drawn: _Flags
    extents_of_breaks: Extents

    def only(self, flags: _Flags) -> "Characters":
        """Return the flagged drawn characters, with all separators."""
        signs = [self.signs[index] for index in np.flatnonzero(flags).tolist()]
        return replace(self, signs=signs, places=self.places[flags], extents=self.extents[flags])


def read_characters(text: object, transform: Transform) -> Characters:
    """Return the characters of a PDFium text page; `transform` maps PDF coordinates to the page as shown."""
    page = address(text)
    codes = _codes(text, page)
    signs = list(map(_sign, codes.tolist()))
    for index in np.flatnonzero(np.isin(codes, list(_TEX_LIGATURES))).tolist():
        signs[index] = _tex_ligature(text, index, int(codes[index])) or signs[index]
    for index in np.flatnonzero(codes == 0).tolist():
        signs[index] = _unknown_letter(text, page, index, codes)
    is_break = np.array([sign is None for sign in signs], bool)
    is_hyphen = np.isin(codes, _HYPHENS)
    for index in np.flatnonzero(codes == 2).tolist():
        is_hyphen[index] = pdfium_c.FPDFText_IsHyphen(text, index) == 1
    breaks = np.flatnonzero(is_break)
    extents, is_drawn = _extents(page, is_hyphen | np.array(list(map(bool, signs)), bool), transform)
    places = np.flatnonzero(is_drawn & ~is_break)
    return Characters(
        [signs[index] or "" for index in places.tolist()],
        places,
        extents[places],
        breaks,
        is_hyphen[breaks],
        np.isin(codes[breaks], _LINE_ENDS),
        is_drawn[breaks],
        extents[breaks],
    )


def are_apart(before: Extents, after: Extents) -> _Flags:
    """Flag the characters far from the one before them although no space is between."""
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
    # The whole text at once lacks characters without a code, and has two codes for those beyond Unicode's
    # first plane: then each character is read.
    units = np.zeros(2 * count + 1, np.uint16)
    written = pdfium_c.FPDFText_GetText(text, 0, count, units.ctypes.data_as(_UNITS)) - 1
    codes = units[:count].astype(np.int64)
    if written != count or (codes & 0xF800 == 0xD800).any():
        return _whole_codes(np.fromiter(map(unicode_of, repeat(page), range(count)), np.int64, count))
    for index in np.flatnonzero(codes == 0xFFFE).tolist():
        codes[index] = unicode_of(page, index)
    return codes


def _whole_codes(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace the first of each pair of surrogates by the pair's code, and the second by `_NO_SIGN`."""
    first = np.flatnonzero((units[:-1] & 0xFC00 == 0xD800) & (units[1:] & 0xFC00 == 0xDC00))
    codes = units.copy()
    codes[first] = 0x10000 + ((units[first] & 0x3FF) << 10) + (units[first + 1] & 0x3FF)
    codes[first + 1] = _NO_SIGN
    return codes


@cache
def _sign(code: int) -> str | None:
    """Return the text of a code, "" if it has none, None for a separator of words."""
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
    """Return UNKNOWN_LETTER for an unmapped glyph next to small letters of its font, else None."""
    if pdfium_c.FPDFText_IsGenerated(text, index) == 1:
        return None
    font = font_of(object_of(page, index))
    beside = (
        place for place in (index - 1, index + 1) if 0 <= place < len(codes) and chr(codes[place]).islower()
    )
    return UNKNOWN_LETTER if any(font_of(object_of(page, place)) == font for place in beside) else None


def _extents(page: int, is_wanted: _Flags, transform: Transform) -> tuple[Extents, _Flags]:
    """Return the extents of the wanted characters, and which of them are drawn."""
    wanted = np.flatnonzero(is_wanted)
    count = len(wanted)
    bounds = np.zeros((6, count))
    # PDFium writes its results to the addresses, one of each row per character.
    addresses = (range(row.ctypes.data, row.ctypes.data + row.nbytes, row.itemsize) for row in bounds)
    left, right, bottom, top, x, y = addresses
    places = wanted.tolist()
    is_told = np.fromiter(map(box_of, repeat(page), places, left, right, bottom, top), bool, count)
    deque(map(origin_of, repeat(page), places, x, y), maxlen=0)
    extents, is_drawn = np.zeros((6, len(is_wanted))), np.zeros(len(is_wanted), bool)
    extents[:, wanted], is_drawn[wanted] = bounds, is_told
    return _shown(extents, transform), is_drawn


def _shown(told: Numbers, transform: Transform) -> Extents:
    a, b, c, d, e, f = transform
    left, right, bottom, top, x, y = told
    x0, y0 = a * left + c * top + e, b * left + d * top + f
    x1, y1 = a * right + c * bottom + e, b * right + d * bottom + f
    return Extents(
        np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1), b * x + d * y + f
    )
