"""The objects of a page in painting order: text that may be invisible, and areas that may hide it.

Reads every object of a page quickly; `hidden.py` renders the few pages with suspicious objects.
"""

import ctypes
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, repeat

import numpy as np
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from corpus.contrast import NEAR_COLOUR
from corpus.pdf import quick

Matrix = tuple[float, float, float, float, float, float]

_FILLED, _OUTLINED = pdfium_c.FPDF_TEXTRENDERMODE_FILL, pdfium_c.FPDF_TEXTRENDERMODE_FILL_STROKE
_UNPAINTED = pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE
_TEXT, _PATH = pdfium_c.FPDF_PAGEOBJ_TEXT, pdfium_c.FPDF_PAGEOBJ_PATH
_IMAGE, _FORM = pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_FORM
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# On a page with more objects, or deeper nesting, every character is compared with the picture.
_MOST_OBJECTS, _DEEPEST = 50_000, 8
_DARKEST_LIGHT = 170.0  # luminance; darker text is seen on paper
_LEAST_COVER = 2.0  # points; rules and strokes are thinner
_MOST_SEGMENTS = 64
_OPTIONAL = "OC\0".encode("utf-16-le")


@dataclass(frozen=True, slots=True)
class Areas:
    """Filled rectangles in arrays: `bounds` are left, bottom, right, top in PDF coordinates.

    `ranks` are their positions in painting order; `colours` are red, green and blue, -1 if not known, as for
    pictures.
    """

    ranks: NDArray[np.int64]
    bounds: NDArray[np.float64]
    colours: NDArray[np.int64]
    is_picture: NDArray[np.bool_]

    def __getitem__(self, at: NDArray[np.bool_]) -> "Areas":
        return Areas(self.ranks[at], self.bounds[:, at], self.colours[:, at], self.is_picture[at])

    def __len__(self) -> int:
        return len(self.ranks)


@dataclass(slots=True)
class Painting:
    """The objects of a page: `texts` are the ranks of its text objects by handle.

    `suspects` are the handles of text that may be invisible, `unpainted` of text that is. A page that is not
    `whole` has more objects than were read. `colours` are those of unsuspicious text, `fills` those of opaque
    text by handle.
    """

    texts: dict[int, int] = field(default_factory=dict)
    suspects: set[int] = field(default_factory=set)
    unpainted: set[int] = field(default_factory=set)
    colours: set[tuple[int, int, int]] = field(default_factory=set)
    fills: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    whole: bool = True
    count: int = 0
    parts: list[Areas] = field(default_factory=list)

    def areas(self) -> Areas:
        """Return all areas of the page."""
        parts = self.parts
        return Areas(
            np.concatenate([part.ranks for part in parts] or [np.zeros(0, np.int64)]),
            np.concatenate([part.bounds for part in parts] or [np.zeros((4, 0))], axis=1),
            np.concatenate([part.colours for part in parts] or [np.zeros((3, 0), np.int64)], axis=1),
            np.concatenate([part.is_picture for part in parts] or [np.zeros(0, bool)]),
        )

    def hides_by_colour(self, areas: Areas) -> NDArray[np.bool_]:
        """Flag the areas that have nearly the colour of some text, or an unknown colour."""
        hides = areas.colours[0] < 0
        for colour in self.colours:
            hides |= (np.abs(areas.colours - np.array(colour)[:, None]) <= NEAR_COLOUR).all(axis=0)
        return np.asarray(hides)


def read_painting(page: object) -> Painting:
    """Read every object of a PDFium page, including those of its forms."""
    painting = Painting()
    handle = quick.address(page)
    count = pdfium_c.FPDFPage_CountObjects(page)
    objects = list(map(quick.object_on_page, repeat(handle), range(min(count, _MOST_OBJECTS))))
    painting.whole = count <= _MOST_OBJECTS
    _look(painting, objects, _Within(_IDENTITY))
    return painting


@dataclass(frozen=True, slots=True)
class _Within:
    """The context of objects: the joined matrix and depth of their forms, and the rank of the first."""

    matrix: Matrix
    depth: int = 0
    rank: int = 0
    is_suspect: bool = False


def _look(painting: Painting, objects: Sequence[int], within: _Within) -> int:
    """Read the objects of a page or a form; return their number, including those of nested forms."""
    kinds = list(map(quick.type_of, objects))
    painting.count += len(objects)
    ranks: list[int] = []
    following = within.rank
    for handle, kind in zip(objects, kinds, strict=True):
        ranks.append(following)
        following += 1
        if kind == _FORM:
            # The content of a form is painted before anything that comes after the form.
            following += _look_into(painting, handle, replace(within, rank=following))
    texts = {handle: rank for handle, kind, rank in zip(objects, kinds, ranks, strict=True) if kind == _TEXT}
    if texts:
        painting.texts.update(texts)
        _look_at_texts(painting, list(texts), is_suspect=within.is_suspect)
    others = [index for index, kind in enumerate(kinds) if kind not in (_TEXT, _FORM)]
    if others:
        kinds_of_others = np.array(kinds)[others]
        areas = _areas(
            [objects[index] for index in others], kinds_of_others, np.array(ranks)[others], within.matrix
        )
        painting.parts += [areas] if len(areas) else []
    return following - within.rank


def _look_into(painting: Painting, form: int, within: _Within) -> int:
    """Read the objects of a form, and return their number."""
    count = max(0, quick.count_in_form(form))
    if within.depth == _DEEPEST or painting.count + count > _MOST_OBJECTS:
        painting.whole = False
        return 0
    form_matrix = (ctypes.c_float * 6)()
    quick.matrix_of_object(form, ctypes.addressof(form_matrix))
    objects = list(map(quick.object_in_form, repeat(form), range(count)))
    inside = _Within(
        _joined(_matrix(form_matrix), within.matrix),
        within.depth + 1,
        within.rank,
        within.is_suspect or quick.is_transparent(form) == 1 or _is_clipped(form) or _is_optional(form),
    )
    return _look(painting, objects, inside)


def _look_at_texts(painting: Painting, texts: Sequence[int], *, is_suspect: bool) -> None:
    """Record the colours of text objects, and which are drawn in a way that can make text invisible."""
    count = len(texts)
    colours = np.zeros((4, count), np.uint32)
    has_colour = np.fromiter(map(quick.fill_colour, texts, *map(_each, colours)), bool, count)
    modes = np.fromiter(map(quick.render_mode, texts), np.int64, count)
    red, green, blue, alpha = colours
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > _DARKEST_LIGHT
    is_plain = has_colour & ((modes == _FILLED) | (modes == _OUTLINED)) & (alpha == 255)
    is_plain &= ~np.fromiter(map(quick.is_transparent, texts), bool, count)
    opaque = zip(*colours[:3, is_plain].tolist(), strict=True)
    painting.fills.update(zip(compress(texts, is_plain), opaque, strict=True))
    is_plain &= ~is_light
    clips = np.fromiter(map(quick.count_clips, map(quick.clip_of, texts)), np.int64, count)
    marks = np.fromiter(map(quick.count_marks, texts), np.int64, count)
    for index in np.flatnonzero(is_plain & ((clips > 0) | (marks > 0))).tolist():
        is_plain[index] = not (_is_clipped(texts[index]) or _is_optional(texts[index]))
    painting.colours.update(zip(*colours[:3, is_plain].tolist(), strict=True))
    painting.suspects.update(texts if is_suspect else compress(texts, ~is_plain))
    painting.unpainted.update(compress(texts, modes == _UNPAINTED))


def _areas(
    handles: Sequence[int], kinds: NDArray[np.int64], ranks: NDArray[np.int64], matrix: Matrix
) -> Areas:
    """Return the areas of objects that are large enough to cover a letter."""
    count = len(handles)
    object_bounds = np.zeros((4, count), np.float32)
    has_bounds = np.fromiter(map(quick.bounds_of, handles, *map(_each, object_bounds)), bool, count)
    a, b, c, d, e, f = matrix
    left, bottom, right, top = object_bounds.astype(float)
    across = np.array([a * x + c * y + e for x in (left, right) for y in (bottom, top)])
    up = np.array([b * x + d * y + f for x in (left, right) for y in (bottom, top)])
    bounds = np.array([across.min(0), up.min(0), across.max(0), up.max(0)])
    is_wanted = has_bounds & (np.minimum(bounds[2] - bounds[0], bounds[3] - bounds[1]) >= _LEAST_COVER)
    is_path = kinds == _PATH
    colours = np.full((3, count), -1, np.int64)
    if (at := np.flatnonzero(is_wanted & is_path)).size:
        paths = list(map(handles.__getitem__, at.tolist()))
        modes = np.zeros((2, len(paths)), np.int32)
        deque(map(quick.draw_mode, paths, *map(_each, modes)), maxlen=0)
        is_wanted[at] = modes[0] != 0
        filled = np.zeros((4, len(paths)), np.uint32)
        has_colour = np.fromiter(map(quick.fill_colour, paths, *map(_each, filled)), bool, len(paths))
        colours[:, at] = np.where(has_colour, filled[:3].astype(np.int64), -1)
    return Areas(ranks, bounds, colours, ~is_path)[is_wanted]


def _is_clipped(handle: int) -> bool:
    """Return True if an object extends beyond its clip, or has a very complex clip."""
    clip = quick.clip_of(handle)
    if not clip or (paths := quick.count_clips(clip)) <= 0:
        return False
    bounds = np.zeros(4, np.float32)
    if not quick.bounds_of(handle, *_each(bounds)):
        return True
    left, bottom, right, top = bounds.tolist()
    across, up = (right - left) / 4, (top - bottom) / 4
    for path in range(paths):
        points = list(_points(clip, path))
        if not points or len(points) > _MOST_SEGMENTS:
            return True
        xs, ys = zip(*points, strict=True)
        if min(xs) > left + across or max(xs) < right - across or min(ys) > bottom + up or max(ys) < top - up:
            return True
    return False


def _points(clip: int, path: int) -> Iterator[tuple[float, float]]:
    point = (ctypes.c_float * 2)()
    x = ctypes.addressof(point)
    for number in range(min(quick.count_segments(clip, path), _MOST_SEGMENTS + 1)):
        if quick.point_of(quick.segment_of(clip, path, number), x, x + 4):
            yield point[0], point[1]


def _is_optional(handle: int) -> bool:
    """Return True if an object belongs to an optional layer, which may be hidden."""
    name, size = ctypes.create_string_buffer(len(_OPTIONAL)), ctypes.c_ulong()
    at, length = ctypes.addressof(name), ctypes.addressof(size)
    return any(
        quick.name_of_mark(quick.mark_of(handle, number), at, len(_OPTIONAL), length)
        and size.value == len(_OPTIONAL)
        and name.raw == _OPTIONAL
        for number in range(max(0, quick.count_marks(handle)))
    )


def _each(row: NDArray[np.float32] | NDArray[np.uint32] | NDArray[np.int32]) -> range:
    """Return the address of each number of a row."""
    first: int = row.ctypes.data
    return range(first, first + row.nbytes, row.itemsize)


def _matrix(told: ctypes.Array[ctypes.c_float]) -> Matrix:
    a, b, c, d, e, f = told
    return a, b, c, d, e, f


def _joined(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the composition of two maps, `inner` applied first."""
    a, b, c, d, e, f = inner
    m, n, o, p, q, r = outer
    return a * m + b * o, a * n + b * p, c * m + d * o, c * n + d * p, e * m + f * o + q, e * n + f * p + r
