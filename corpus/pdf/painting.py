"""The objects of a page in painting order: possibly invisible text, and what may hide it.

A quick look at every object of a page; `hidden.py` draws the few pages on which something is suspicious.
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
# Of a page that paints more, or deeper, every character is compared with its picture.
_MOST_OBJECTS, _DEEPEST = 50_000, 8
_DARKEST_LIGHT = 170.0  # luminance; darker text is seen on paper
_LEAST_COVER = 2.0  # points; rules and strokes are thinner
_MOST_SEGMENTS = 64
_OPTIONAL = "OC\0".encode("utf-16-le")


@dataclass(frozen=True, slots=True)
class Areas:
    """Rectangles that something fills, in arrays: `bounds` are left, bottom, right, top in PDF coordinates.

    `ranks` are their places in the painting; `colours` are red, green and blue, -1 where that is not known,
    as of a picture.
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
    """The objects of a page: `texts` are the ranks of its text objects by their handles.

    `suspects` are the handles of text that may be invisible, `unpainted` of text that is. A page that is not
    `whole` has more objects than were looked at. `colours` are those of the other text, `fills` those of
    opaque text.
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
        """Return everything that lies under or over letters."""
        parts = self.parts
        return Areas(
            np.concatenate([part.ranks for part in parts] or [np.zeros(0, np.int64)]),
            np.concatenate([part.bounds for part in parts] or [np.zeros((4, 0))], axis=1),
            np.concatenate([part.colours for part in parts] or [np.zeros((3, 0), np.int64)], axis=1),
            np.concatenate([part.is_picture for part in parts] or [np.zeros(0, bool)]),
        )

    def hides_by_colour(self, areas: Areas) -> NDArray[np.bool_]:
        """Return the areas with nearly the colour of some text, or an unknown one."""
        hides = areas.colours[0] < 0
        for colour in self.colours:
            hides |= (np.abs(areas.colours - np.array(colour)[:, None]) <= NEAR_COLOUR).all(axis=0)
        return np.asarray(hides)


def read_painting(page: object) -> Painting:
    """Look at every object of a page of PDFium's, those of forms on it too."""
    painting = Painting()
    handle = quick.address(page)
    count = pdfium_c.FPDFPage_CountObjects(page)
    objects = list(map(quick.object_on_page, repeat(handle), range(min(count, _MOST_OBJECTS))))
    painting.whole = count <= _MOST_OBJECTS
    _look(painting, objects, _Within(_IDENTITY))
    return painting


@dataclass(frozen=True, slots=True)
class _Within:
    """Where objects lie: in how many forms, moved by these forms' matrices, the first painted at `rank`."""

    matrix: Matrix
    depth: int = 0
    rank: int = 0
    is_suspect: bool = False


def _look(painting: Painting, objects: Sequence[int], within: _Within) -> int:
    """Look at the objects of a page or a form; return how many they are with those of forms in them."""
    kinds = list(map(quick.type_of, objects))
    painting.count += len(objects)
    ranks: list[int] = []
    following = within.rank
    for one, kind in zip(objects, kinds, strict=True):
        ranks.append(following)
        following += 1
        if kind == _FORM:
            # The content of a form is painted before anything that comes after the form.
            following += _look_into(painting, one, replace(within, rank=following))
    texts = {one: rank for one, kind, rank in zip(objects, kinds, ranks, strict=True) if kind == _TEXT}
    if texts:
        painting.texts.update(texts)
        _look_at_texts(painting, list(texts), is_suspect=within.is_suspect)
    others = [at for at, kind in enumerate(kinds) if kind not in (_TEXT, _FORM)]
    if others:
        kinds_of_others = np.array(kinds)[others]
        areas = _areas(
            [objects[at] for at in others], kinds_of_others, np.array(ranks)[others], within.matrix
        )
        painting.parts += [areas] if len(areas) else []
    return following - within.rank


def _look_into(painting: Painting, form: int, within: _Within) -> int:
    """Look at the objects of a form as `_look` does."""
    count = max(0, quick.count_in_form(form))
    if within.depth == _DEEPEST or painting.count + count > _MOST_OBJECTS:
        painting.whole = False
        return 0
    own = (ctypes.c_float * 6)()
    quick.matrix_of_object(form, ctypes.addressof(own))
    objects = list(map(quick.object_in_form, repeat(form), range(count)))
    inside = _Within(
        _joined(_matrix(own), within.matrix),
        within.depth + 1,
        within.rank,
        within.is_suspect or quick.is_transparent(form) == 1 or _is_clipped(form) or _is_optional(form),
    )
    return _look(painting, objects, inside)


def _look_at_texts(painting: Painting, texts: Sequence[int], *, is_suspect: bool) -> None:
    """Note which text objects are set in a way by which text can be made invisible."""
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
    for at in np.flatnonzero(is_plain & ((clips > 0) | (marks > 0))).tolist():
        is_plain[at] = not (_is_clipped(texts[at]) or _is_optional(texts[at]))
    painting.colours.update(zip(*colours[:3, is_plain].tolist(), strict=True))
    painting.suspects.update(texts if is_suspect else compress(texts, ~is_plain))
    painting.unpainted.update(compress(texts, modes == _UNPAINTED))


def _areas(
    handles: Sequence[int], kinds: NDArray[np.int64], ranks: NDArray[np.int64], matrix: Matrix
) -> Areas:
    """Return the areas that objects fill, if large enough to lie under or over a letter."""
    count = len(handles)
    told = np.zeros((4, count), np.float32)
    has_bounds = np.fromiter(map(quick.bounds_of, handles, *map(_each, told)), bool, count)
    a, b, c, d, e, f = matrix
    left, bottom, right, top = told.astype(float)
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
    """Return True if an object reaches out of its clip, or has a clip that is long to look at."""
    clip = quick.clip_of(handle)
    if not clip or (paths := quick.count_clips(clip)) <= 0:
        return False
    told = np.zeros(4, np.float32)
    if not quick.bounds_of(handle, *_each(told)):
        return True
    left, bottom, right, top = told.tolist()
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
    """Return True if an object belongs to a layer, which may be turned off."""
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
    """Return the map that first does what `inner` does, then what `outer` does."""
    a, b, c, d, e, f = inner
    m, n, o, p, q, r = outer
    return a * m + b * o, a * n + b * p, c * m + d * o, c * n + d * p, e * m + f * o + q, e * n + f * p + r
