"""Detection of hidden text: in the colour of its background, invisible, covered or clipped.

Suspicious text is removed from the page: if the picture of the page does not change, the text was not
visible. Invisible text over the picture of a scan is the result of OCR, and counts as visible.
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
# Of 255; smaller differences are no more visible than the texture of paper.
_LEAST_DIFFERENCE, _LEAST_EDGE = 16, 40
# Shares of a word's characters that must be visible, or lie over ink; the share of a letter under other text.
_SEEN, _DRAWN, _COVERED = 0.5, 0.25, 0.3
_MISPLACED = 1.0  # letter heights by which OCR may place a word too high or too low
_COARSE = 4  # pixels of a scan
_CELL, _MOST_CELLS = 2.0, 1_000  # points; and cells in each direction


def hidden_characters(
    page: pypdfium2.PdfPage, text: object, characters: Characters, transform: Transform, painting: Painting
) -> Flags | None:
    """Flag the hidden characters of a page, None if all are visible."""
    areas = painting.areas()
    hides_by_colour = painting.hides_by_colour(areas)
    hiding = hides_by_colour | (areas.ranks > min(painting.texts.values(), default=0))
    if painting.whole and not painting.suspects and not hiding.any():
        return None
    width, height = page.get_size()
    chart = _Chart(width, height, transform)
    words = np.unique(np.searchsorted(characters.breaks, characters.places), return_inverse=True)[1]
    if painting.whole and len(painting.unpainted) == len(painting.texts):
        hidden = np.ones(len(characters.signs), bool)
    else:
        last = chart.ranks(areas[hiding], characters.extents)
        behind = chart.ranks(areas[hides_by_colour], characters.extents)
        handles = _suspects(painting, text, characters, last, behind)
        hidden = _unseen(page, characters.extents, words, handles, painting)
    if not painting.whole:
        hidden |= unchecked_texts(painting, text, characters)
    # Words without a letter do not count; OCR makes them of specks.
    has_letters = np.fromiter((any(map(str.isalnum, sign)) for sign in characters.signs), bool, len(hidden))
    hidden &= _by_word(has_letters, words, 1e-9)
    if hidden.any():
        pictures = areas[areas.is_picture]
        hidden &= ~_read_from_picture(page, characters.extents, words, hidden, pictures=pictures, chart=chart)
    return hidden if hidden.any() else None


class _Chart:
    """A page divided into cells, to look up the areas at a point."""

    def __init__(self, width: float, height: float, transform: Transform) -> None:
        self._cell = max(_CELL, width / _MOST_CELLS, height / _MOST_CELLS)
        self._shape = int(height / self._cell) + 1, int(width / self._cell) + 1
        self._transform = transform

    def ranks(self, areas: Areas, extents: Extents) -> _Ranks:
        """Return the rank of the last area at the middle of each character, -1 for none."""
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
            np.clip(np.nan_to_num(coordinates / self._cell), 0, most - 1).astype(np.intp)
            for coordinates, most in zip((down, across), self._shape, strict=True)
        )
        return rows, columns


def _suspects(
    painting: Painting, text: object, characters: Characters, last: _Ranks, behind: _Ranks
) -> _Handles:
    """Return the text object of each character that may be hidden, 0 for the others.

    `last` are the ranks of the areas over or under each character, `behind` of those of possibly its colour.
    """
    handles = np.zeros(len(characters.signs), np.uint64)
    is_wanted = (last >= 0) | bool(painting.suspects) | (not painting.whole)
    wanted = characters.places[is_wanted].tolist()
    page = quick.address(text)
    handles[is_wanted] = np.fromiter(map(quick.object_of, repeat(page), wanted), np.uint64, len(wanted))
    kinds, which = np.unique(handles, return_inverse=True)
    known = [
        (handle in painting.suspects or handle not in painting.texts, painting.texts.get(handle, -1))
        for handle in kinds.tolist()
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
    """Flag the characters of suspicious text that do not change the picture of the page.

    Thin letters are drawn paler than their colour: if that is known, it is compared instead.
    """
    unseen = np.asarray(handles > 0)
    painted = [handle for handle in np.unique(handles[unseen]).tolist() if handle not in painting.unpainted]
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
        painted_places = np.flatnonzero(np.isin(handles, painted))
        contrasting = changed.copy()
        contrasting[changed] = is_seen(before[changed], after[changed])
        contrasts = _counts(contrasting, extents[painted_places], scale) > 0
        if not contrasts.all():
            doubtful = ~contrasts & (_counts(changed, extents[painted_places], scale) > 0)
            fills = painting.fills
            doubtful &= np.array([handle in fills for handle in handles[painted_places].tolist()], bool)
            pale = painted_places[doubtful]
            colours = np.array([fills[handle] for handle in handles[pale].tolist()]).reshape(-1, 3)
            contrasts[doubtful] = is_seen(colours, _mean_colours(after, extents[pale], scale))
        unseen[painted_places] = ~_by_word(contrasts, words[painted_places], _SEEN)
    return unseen


def _picture(page: pypdfium2.PdfPage, scale: float, *, is_scan: bool = False) -> tuple[_Picture, float]:
    """Render a page as (height, width, colours), and return it with its pixels per point.

    A scan is rendered in grey and without smoothing, which takes half the time.
    """
    width, height = page.get_size()
    scale = min(scale, (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    drawn = page.render(scale=scale, grayscale=is_scan, no_smoothimage=is_scan).to_numpy()
    return np.array(drawn.reshape(*drawn.shape[:2], -1)[:, :, :3]), scale


def _read_from_picture(
    page: pypdfium2.PdfPage, extents: Extents, words: _Words, hidden: Flags, *, pictures: Areas, chart: _Chart
) -> Flags:
    """Flag the hidden characters that are also drawn in a picture, without other text there."""
    is_read = np.asarray(hidden & (chart.ranks(pictures, extents) >= 0))
    if not is_read.any():
        return is_read
    picture, scale = _picture(page, _SCALE_OF_SCANS, is_scan=True)
    grey = picture[:, :, 0]
    edges = np.zeros(grey.shape, bool)
    edges[:, 1:] |= _differ(grey[:, 1:], grey[:, :-1], _LEAST_EDGE)
    edges[1:] |= _differ(grey[1:], grey[:-1], _LEAST_EDGE)
    read_places = np.flatnonzero(is_read)
    boxes = extents[read_places]
    is_drawn = _counts(_coarse(edges), boxes, scale / _COARSE, _MISPLACED) > 0
    if not hidden.all():
        visible_text = np.zeros(grey.shape, bool)
        for top, bottom, left, right in zip(*_pixels(extents[~hidden], grey.shape, scale), strict=True):
            visible_text[top:bottom, left:right] = True
        area = (boxes.right - boxes.left) * (boxes.bottom - boxes.top) * scale**2
        is_drawn &= _counts(visible_text, boxes, scale) <= _COVERED * np.maximum(area, 1.0)
    is_read[read_places] = _by_word(is_drawn, words[read_places], _DRAWN)
    return is_read


def _differ(first: _Picture, second: _Picture, least: int) -> Flags:
    """Return the pixels at which two pictures differ by at least `least`."""
    return np.asarray(np.maximum(first, second) - np.minimum(first, second) >= least)


def _coarse(mask: Flags) -> Flags:
    """Return the blocks of pixels of which any is set."""
    for _ in range(2):
        whole = mask[: len(mask) // _COARSE * _COARSE]
        mask = np.logical_or.reduce([whole[start::_COARSE] for start in range(_COARSE)]).T
    return mask


def _by_word(flags: Flags, words: _Words, share: float) -> Flags:
    """Flag the characters that belong to a word with a `share` of flagged characters."""
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
    """Return the mean colour of a picture within each box, (boxes, 3)."""
    boxes = zip(*_pixels(extents, picture.shape, scale), strict=True)
    means = [picture[top:bottom, left:right].mean((0, 1)) for top, bottom, left, right in boxes]
    return np.array(means, float).reshape(-1, 3)


def _pixels(
    extents: Extents, shape: tuple[int, ...], scale: float, margin: float = 0.0
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the first and last rows and columns of pixels of each box."""
    more = margin * (extents.bottom - extents.top)
    sides = (extents.top - more, extents.bottom + more, extents.left, extents.right)
    top, bottom, left, right = (
        np.clip(np.nan_to_num(rounded(side * scale)), 0, size).astype(int).tolist()
        for side, rounded, size in zip(
            sides, (np.floor, np.ceil) * 2, (shape[0], shape[0], shape[1], shape[1]), strict=True
        )
    )
    return top, bottom, left, right
