"""The characters of a page as they are drawn, in arrays.

PDFium tells of one character at a time, and a page has thousands: all else is reckoned for a page at once.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from corpus.pdf.characters import character
from corpus.pdf.quick import address, box_of, origin_of, unicode_of

Numbers = NDArray[np.float64]
Transform = tuple[float, ...]

# pdfium marks a line-break hyphen as U+FFFE or U+0002, also for real hyphens.
_HYPHENS = frozenset((0xFFFE, 0x0002, 0x00AD))
# Old TeX fonts without a map to Unicode keep their ligatures at these codes.
_TEX_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl"}
_LINE_ENDS = (10, 13)
_DOUBLE = ctypes.sizeof(ctypes.c_double)


@dataclass(frozen=True, slots=True)
class Extents:
    """Where characters are drawn, parallel arrays: boxes and baselines in points from the top left."""

    left: Numbers
    top: Numbers
    right: Numbers
    bottom: Numbers
    baseline: Numbers

    def __getitem__(self, at: Any) -> "Extents":
        return Extents(self.left[at], self.top[at], self.right[at], self.bottom[at], self.baseline[at])


@dataclass(frozen=True, slots=True)
class Characters:
    """A page's text, character by character in the order of the file.

    `signs` has what each stands for, "" for nothing and None where it separates words. `drawn` are the places
    of those that are drawn, `breaks` of those that separate, of which `hyphens` cut a word at the end of a
    line. Only what is drawn and the hyphens that are have their `extents`; the others' are zero.
    """

    signs: Sequence[str | None]
    drawn: NDArray[np.intp]
    breaks: NDArray[np.intp]
    hyphens: frozenset[int]
    line_ends: frozenset[int]
    extents: Extents
    has_extent: NDArray[np.bool_]


def read_characters(text: object, transform: Transform) -> Characters:
    """Return the characters of a text page of PDFium's; `transform` leads to the page as it is shown."""
    page = address(text)
    codes = [unicode_of(page, index) for index in range(pdfium_c.FPDFText_CountChars(text))]
    signs = list(map(_sign, codes))
    for index, code in enumerate(codes):
        if code in _TEX_LIGATURES:
            signs[index] = _tex_ligature(text, index, code) or signs[index]
    hyphens = [
        index
        for index, code in enumerate(codes)
        if code in _HYPHENS and (code != 2 or pdfium_c.FPDFText_IsHyphen(text, index) == 1)
    ]
    extents, found = _extents(page, [*(at for at, sign in enumerate(signs) if sign), *hyphens], len(codes))
    drawn = np.array([bool(sign) for sign in signs], bool) & found
    return Characters(
        signs,
        np.flatnonzero(drawn),
        np.array([at for at, sign in enumerate(signs) if sign is None], np.intp),
        frozenset(hyphens),
        frozenset(at for at, code in enumerate(codes) if code in _LINE_ENDS),
        _shown(extents, transform),
        found,
    )


def are_apart(before: Extents, after: Extents) -> NDArray[np.bool_]:
    """Return which characters stand in another place than those before them, though no space is between."""
    height = np.maximum(np.maximum(before.bottom - before.top, after.bottom - after.top), 4.0)
    across = np.maximum(after.left - before.right, before.left - after.right)
    down = np.maximum(after.top - before.bottom, before.top - after.bottom)
    is_lower = np.abs(after.baseline - before.baseline) > 1.2 * height
    wraps = is_lower & (after.left < before.left - 1.2 * height)
    apart: NDArray[np.bool_] = wraps | (np.maximum(across, down) > 1.5 * height)
    return apart


@cache
def _sign(code: int) -> str | None:
    if code in _HYPHENS or code <= 0x20 or (code >= 0x80 and chr(code).isspace()):
        return None
    return character(code)


def _tex_ligature(text: object, index: int, code: int) -> str:
    if pdfium_c.FPDFText_IsGenerated(text, index) == 1:
        return ""
    beside = (pdfium_c.FPDFText_GetUnicode(text, index + step) for step in (-1, 1))
    unmapped = pdfium_c.FPDFText_HasUnicodeMapError(text, index) == 1
    return _TEX_LIGATURES[code] if unmapped and any(chr(c).isalpha() for c in beside if c < 0x80) else ""


def _extents(page: int, wanted: Sequence[int], count: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return left, right, bottom, top, x and y of the characters wanted, as the file has them: (6, count)."""
    told = np.zeros((6, count))
    rows = [told.ctypes.data + row * told.strides[0] for row in range(6)]
    left, right, bottom, top, x, y = rows
    found = np.zeros(count, bool)
    for at in wanted:
        to = at * _DOUBLE
        if box_of(page, at, left + to, right + to, bottom + to, top + to):
            origin_of(page, at, x + to, y + to)
            found[at] = True
    return told, found


def _shown(told: Numbers, transform: Transform) -> Extents:
    a, b, c, d, e, f = transform
    left, right, bottom, top, x, y = told
    x0, y0 = a * left + c * top + e, b * left + d * top + f
    x1, y1 = a * right + c * bottom + e, b * right + d * bottom + f
    return Extents(
        np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1), b * x + d * y + f
    )
