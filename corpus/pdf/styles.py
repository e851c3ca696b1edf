"""The style of the characters of a page: size, font and direction."""

import ctypes
import math
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.pdf.glyphs import Transform
from corpus.pdf.quick import address, font_info, font_of, font_size, font_weight, matrix_of, object_of

_BOLD = ("bold", "black", "heavy", "demi", "medi", "cmbx", "cmssbx", "-bd", "sfbx")
_ITALIC_ENDS = ("-it", "cmti10", "cmti12", "cmti9")


class Font(NamedTuple):
    name: str
    bold: bool
    italic: bool


class Styles(NamedTuple):
    """The styles of characters, parallel: height in points on the page, font, direction.

    Text runs to the right (`turns` 0), downwards (1), to the left upside down (2) or upwards (3).
    """

    sizes: Sequence[float]
    fonts: Sequence[Font]
    turns: NDArray[np.int_]


def styles_of(text: object, places: Sequence[int], transform: Transform) -> Styles:
    """Return the size, font and direction of the characters at `places` of a PDFium text page."""
    page = address(text)
    matrices = np.zeros((len(places), 6), np.float32)
    addresses = range(matrices.ctypes.data, matrices.ctypes.data + matrices.nbytes, matrices.strides[0])
    has_matrix = np.fromiter(map(matrix_of, repeat(page), places, addresses), bool, len(places))
    matrices[~has_matrix] = (1, 0, 0, 1, 0, 0)
    along, down, *slant = matrices.astype(float).T[:4]
    scales = map(math.hypot, *(column.tolist() for column in slant))
    a, b, c, d, _, _ = transform
    across, downwards = a * along + c * down, b * along + d * down
    is_flat = ~has_matrix | (abs(across) >= abs(downwards))
    handles = list(map(font_of, map(object_of, repeat(page), places)))
    place_of = dict(zip(handles, places, strict=True))
    fonts = {handle: _font(page, place) for handle, place in place_of.items()}
    return Styles(
        [size * scale for size, scale in zip(map(font_size, repeat(page), places), scales, strict=True)],
        [fonts[handle] for handle in handles],
        np.where(is_flat, np.where(across < 0, 2, 0), np.where(downwards > 0, 1, 3)),
    )


def _font(page: int, place: int) -> Font:
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    font_info(page, place, address(name), len(name), ctypes.addressof(flags))
    lower = name.value.decode("utf-8", "replace").lower()
    is_bold = font_weight(page, place) >= 600 or any(mark in lower for mark in _BOLD)
    return Font(lower, is_bold, "ital" in lower or "obli" in lower or lower.endswith(_ITALIC_ENDS))
