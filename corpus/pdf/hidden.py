"""Text that no reader of a page sees: in the colour of what lies behind it, invisible, covered or cut away.

Suspicious text is taken off the page: where the picture of the page stays as it was, the text was not seen.
Invisible text over the picture of a scan is what OCR read there, and counts as seen.
"""

from itertools import repeat

import numpy as np
import pypdfium2
from numpy.typing import NDArray

from corpus.contrast import is_seen
from corpus.pdf import quick
from corpus.pdf.actual_text import unchecked_texts
from corpus.pdf.glyphs import Characters, Extents, Numbers, Transform
from corpus.pdf.painting import Areas, Painting

Flags = NDArray[np.bool_]
_Ranks = NDArray[np.int32]
_Words = NDArray[np.intp]
_Handles = NDArray[np.uint64]
_Picture = NDArray[np.uint8]

_SCALE, _SCALE_OF_SCANS, _MOST_PIXELS = 2.0, 1.0, 16_000_000
# Of 255; what changes a picture less is no more to be seen than the texture of paper.
_LEAST_DIFFERENCE, _LEAST_EDGE = 16, 40
# Shares: of a word's characters that are to be seen, or lie over ink; of a letter that other text covers.
_SEEN, _DRAWN, _COVERED = 0.5, 0.25, 0.3
_MISPLACED = 1.0  # heights of its letters by which OCR may put a word too high or too low
_COARSE = 4  # pixels of a scan
_CELL, _MOST_CELLS = 2.0, 1_000  # points; and cells in each direction


def hidden_characters(
    page: pypdfium2.PdfPage, text: object, found: Characters, transform: Transform, painting: Painting
) -> Flags | None:
    """Return the invisible characters of a page, None where all can be seen."""
    areas = painting.areas()
    hides_by_colour = painting.hides_by_colour(areas)
    hiding = hides_by_colour | (areas.ranks > min(painting.texts.values(), default=0))
    if painting.whole and not painting.suspects and not hiding.any():
        return None
    width, height = page.get_size()
    chart = _Chart(width, height, transform)
    words = np.unique(np.searchsorted(found.breaks, found.places), return_inverse=True)[1]
    if painting.whole and len(painting.unpainted) == len(painting.texts):
        hidden = np.ones(len(found.signs), bool)
    else:
        last = chart.ranks(areas[hiding], found.extents)
        behind = chart.ranks(areas[hides_by_colour], found.extents)
        handles = _suspects(painting, text, found, last, behind)
        hidden = _unseen(page, found.extents, words, handles, painting)
    if not painting.whole:
        hidden |= unchecked_texts(painting, text, found)
    # Marks without a letter say nothing; OCR makes them of specks.
    has_letters = np.fromiter((any(map(str.isalnum, sign)) for sign in found.signs), bool, len(hidden))
    hidden &= _by_word(has_letters, words, 1e-9)
    if hidden.any():
        pictures = areas[areas.is_picture]
        hidden &= ~_read_from_picture(page, found.extents, words, hidden, pictures=pictures, chart=chart)
    return hidden if hidden.any() else None


class _Chart:
    """A page in cells, to tell what lies where."""

    def __init__(self, width: float, height: float, transform: Transform) -> None:
        self._cell = max(_CELL, width / _MOST_CELLS, height / _MOST_CELLS)
        self._shape = int(height / self._cell) + 1, int(width / self._cell) + 1
        self._transform = transform

    def ranks(self, areas: Areas, extents: Extents) -> _Ranks:
        """Return the rank of the last of some areas at the middle of each character, -1 for none."""
        if not len(areas):
            return np.full(len(extents.left), -1, np.int32)
        chart = np.full(self._shape, -1, np.int32)
        order = np.argsort(areas.ranks, kind="stable")
        left, bottom, right, top = areas.bounds[:, order]
        a, b, c, d, e, f = self._transform
        down = [b * x + d * y + f for x in (left, right) for y in (bottom, top)]
        across = [a * x + c * y + e for x in (left, right) for y in (bottom, top)]
        rows, columns = self._cells(np.array(down), np.array(across))
        sides = (rows.min(0), rows.max(0) + 1, columns.min(0), columns.max(0) + 1, areas.ranks[order])
        for up, below, first, last, rank in zip(*(side.tolist() for side in sides), strict=True):
            chart[up:below, first:last] = rank
        rows, columns = self._cells((extents.top + extents.bottom) / 2, (extents.left + extents.right) / 2)
        return np.asarray(chart[rows, columns])

    def _cells(self, down: Numbers, across: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        rows, columns = (
            np.clip(np.nan_to_num(one / self._cell), 0, most - 1).astype(np.intp)
            for one, most in zip((down, across), self._shape, strict=True)
        )
        return rows, columns


def _suspects(painting: Painting, text: object, found: Characters, last: _Ranks, behind: _Ranks) -> _Handles:
    """Return the text object of each character that may be hidden, 0 for the others.

    `last` are the ranks of what lies over or under each character, `behind` of what may have its colour.
    """
    handles = np.zeros(len(found.signs), np.uint64)
    is_wanted = (last >= 0) | bool(painting.suspects) | (not painting.whole)
    wanted = found.places[is_wanted].tolist()
    page = quick.address(text)
    handles[is_wanted] = np.fromiter(map(quick.object_of, repeat(page), wanted), np.uint64, len(wanted))
    kinds, which = np.unique(handles, return_inverse=True)
    known = [
        (one in painting.suspects or one not in painting.texts, painting.texts.get(one, -1))
        for one in kinds.tolist()
    ]
    is_suspect, ranks = (np.array(column)[which] for column in zip(*known, strict=True))
    return np.where(is_suspect | (behind >= 0) | (last > ranks), handles, 0)


def _unseen(
    page: pypdfium2.PdfPage,
    extents: Extents,
    words: _Words,
    handles: _Handles,
    painting: Painting,
) -> Flags:
    """Return the characters of suspicious text that do not change the picture of the page.

    Thin letters are drawn paler than their colour: where that is known, it is what must contrast.
    """
    unseen = np.asarray(handles > 0)
    painted = [one for one in np.unique(handles[unseen]).tolist() if one not in painting.unpainted]
    if painted:
        before, scale = _picture(page, _SCALE)
        for handle in painted:
            quick.set_active(handle, 0)
        try:
            after, _ = _picture(page, _SCALE)
        finally:
            for handle in painted:
                quick.set_active(handle, 1)
        changed = np.zeros(before.shape[:2], bool)
        for colour in range(before.shape[2]):
            changed |= _differ(before[:, :, colour], after[:, :, colour], _LEAST_DIFFERENCE)
        at = np.flatnonzero(np.isin(handles, painted))
        contrasting = changed.copy()
        contrasting[changed] = is_seen(before[changed], after[changed])
        contrasts = _counts(contrasting, extents[at], scale) > 0
        if not contrasts.all():
            doubtful = ~contrasts & (_counts(changed, extents[at], scale) > 0)
            fills = painting.fills
            doubtful &= np.array([handle in fills for handle in handles[at].tolist()], bool)
            pale = at[doubtful]
            colours = np.array([fills[handle] for handle in handles[pale].tolist()]).reshape(-1, 3)
            contrasts[doubtful] = is_seen(colours, _mean_colours(after, extents[pale], scale))
        unseen[at] = ~_by_word(contrasts, words[at], _SEEN)
    return unseen


def _picture(page: pypdfium2.PdfPage, scale: float, *, is_scan: bool = False) -> tuple[_Picture, float]:
    """Return a page as rows of pixels, (height, width, colours), and its pixels to the point.

    A scan is drawn in grey and from few of its pixels, which takes half the time.
    """
    width, height = page.get_size()
    scale = min(scale, (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    drawn = page.render(scale=scale, grayscale=is_scan, no_smoothimage=is_scan).to_numpy()
    return np.array(drawn.reshape(*drawn.shape[:2], -1)[:, :, :3]), scale


def _read_from_picture(
    page: pypdfium2.PdfPage, extents: Extents, words: _Words, hidden: Flags, *, pictures: Areas, chart: _Chart
) -> Flags:
    """Return the hidden characters that are drawn in a picture, with no other text there."""
    is_read = np.asarray(hidden & (chart.ranks(pictures, extents) >= 0))
    if not is_read.any():
        return is_read
    picture, scale = _picture(page, _SCALE_OF_SCANS, is_scan=True)
    grey = picture[:, :, 0]
    edges = np.zeros(grey.shape, bool)
    edges[:, 1:] |= _differ(grey[:, 1:], grey[:, :-1], _LEAST_EDGE)
    edges[1:] |= _differ(grey[1:], grey[:-1], _LEAST_EDGE)
    at = np.flatnonzero(is_read)
    boxes = extents[at]
    is_drawn = _counts(_coarse(edges), boxes, scale / _COARSE, _MISPLACED) > 0
    if not hidden.all():
        seen = np.zeros(grey.shape, bool)
        for top, bottom, left, right in zip(*_pixels(extents[~hidden], grey.shape, scale), strict=True):
            seen[top:bottom, left:right] = True
        area = (boxes.right - boxes.left) * (boxes.bottom - boxes.top) * scale**2
        is_drawn &= _counts(seen, boxes, scale) <= _COVERED * np.maximum(area, 1.0)
    is_read[at] = _by_word(is_drawn, words[at], _DRAWN)
    return is_read


def _differ(one: _Picture, other: _Picture, least: int) -> Flags:
    """Return where two pictures differ by so much."""
    return np.asarray(np.maximum(one, other) - np.minimum(one, other) >= least)


def _coarse(mask: Flags) -> Flags:
    """Return in which blocks of pixels any is set."""
    for _ in range(2):
        whole = mask[: len(mask) // _COARSE * _COARSE]
        mask = np.logical_or.reduce([whole[start::_COARSE] for start in range(_COARSE)]).T
    return mask


def _by_word(flags: Flags, words: _Words, share: float) -> Flags:
    """Return for each character whether a flag is set for such a share of the characters of its word."""
    return np.asarray((np.bincount(words, flags) >= share * np.bincount(words))[words])


def _counts(mask: Flags, extents: Extents, scale: float, margin: float = 0.0) -> Numbers:
    """Count the set pixels of a mask in each box, grown by a share of its height at both ends."""
    summed = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), np.int32)
    mask.cumsum(0, np.int32).cumsum(1, out=summed[1:, 1:])
    top, bottom, left, right = (np.array(side) for side in _pixels(extents, mask.shape, scale, margin))
    return np.asarray(
        summed[bottom, right] - summed[top, right] - summed[bottom, left] + summed[top, left], float
    )


def _mean_colours(picture: _Picture, extents: Extents, scale: float) -> Numbers:
    """Return the mean colour of a picture in each box, (boxes, 3)."""
    boxes = zip(*_pixels(extents, picture.shape, scale), strict=True)
    means = [picture[top:bottom, left:right].mean((0, 1)) for top, bottom, left, right in boxes]
    return np.array(means, float).reshape(-1, 3)


def _pixels(
    extents: Extents, shape: tuple[int, ...], scale: float, margin: float = 0.0
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the first and last rows and columns of pixels of boxes."""
    more = margin * (extents.bottom - extents.top)
    sides = (extents.top - more, extents.bottom + more, extents.left, extents.right)
    top, bottom, left, right = (
        np.clip(np.nan_to_num(rounded(side * scale)), 0, size).astype(int).tolist()
        for side, rounded, size in zip(
            sides, (np.floor, np.ceil) * 2, (shape[0], shape[0], shape[1], shape[1]), strict=True
        )
    )
    return top, bottom, left, right
