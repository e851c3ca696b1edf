"""The words on the pages of a PDF, with their boxes and how they are set."""

import ctypes
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from corpus.pdf.characters import compose, size_from_letters
from corpus.pdf.file import LOCK, PdfError, opened
from corpus.pdf.glyphs import Extents, are_apart, read_characters
from corpus.pdf.quick import address, font_info, font_size, font_weight, matrix_of
from corpus.records import Box

_BOLD = ("bold", "black", "heavy", "demi", "medi", "cmbx", "cmssbx", "-bd", "sfbx")


@dataclass(frozen=True, slots=True)
class Word:
    """Characters without white space between them, where they stand, and how they are set.

    Points from the top left of the page as it is shown, like `Box`. `baseline` is where the letters stand,
    `size` the height of the font. `hyphenated` marks a word that a line break cut; its hyphen is not in the
    text.
    `ends_line` says that the file itself breaks the line after it; `upright` is False for turned text.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    hyphenated: bool = False
    ends_line: bool = False
    upright: bool = True

    def box(self, page: int) -> Box:
        return Box(page, self.left, self.top, self.right - self.left, self.bottom - self.top)


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page: number from 1, size in points as shown, words in the order of the file.

    A page that PDFium cannot load is `damaged`; it has neither size nor words.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    damaged: bool = False


def read_pages(path: str | Path) -> Iterator[PdfPage]:
    """Yield the pages with their words, in order; raises PdfError.

    A damaged page is marked as such and has no words. The lock is free while the caller works on a page.
    """
    with opened(path) as document:
        for index in range(len(document)):
            with LOCK:
                try:
                    page = _read_page(document, index)
                except pypdfium2.PdfiumError:
                    page = PdfPage(index + 1, 0.0, 0.0, (), damaged=True)
            yield page


def shares_of_pictures(path: str | Path, pages: Iterable[int]) -> Iterator[float]:
    """Yield how much of each of these pages pictures cover, 0..1 and more; raises PdfError."""
    with opened(path) as document:
        for number in pages:
            with LOCK:
                try:
                    share = _share_of_pictures(document[number - 1])
                except pypdfium2.PdfiumError as error:
                    raise PdfError(f"page {number} of {Path(path).name} is damaged") from error
            yield share


def _share_of_pictures(page: pypdfium2.PdfPage) -> float:
    try:
        width, height = page.get_size()
        pictures = page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE])
        extents = [picture.get_bounds() for picture in pictures]
    finally:
        page.close()
    area = sum((right - left) * (top - bottom) for left, bottom, right, top in extents)
    return float(area / max(width * height, 1.0))


def _read_page(document: pypdfium2.PdfDocument, index: int) -> PdfPage:
    page = document[index]
    try:
        width, height = page.get_size()
        text = page.get_textpage()
        try:
            found = _PageReader(page.raw, text.raw, width, height).words()
            words = tuple(word for word in map(partial(_on_page, width, height), found) if word)
        finally:
            text.close()
    finally:
        page.close()
    return PdfPage(index + 1, width, height, words)


def _on_page(width: float, height: float, word: Word) -> Word | None:
    """Return a word cut to the page; None for one that lies beside it, where no reader sees it."""
    if word.left >= 0 and word.top >= 0 and word.right <= width and word.bottom <= height:
        return word
    across, down = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    if not (0 <= across <= width and 0 <= down <= height):
        return None
    left, right = max(word.left, 0.0), min(word.right, width)
    top, bottom = max(word.top, 0.0), min(word.bottom, height)
    return replace(word, left=left, right=right, top=top, bottom=bottom)


@dataclass(frozen=True, slots=True)
class _Hyphen:
    """A hyphen that stands alone: where it is drawn."""

    left: float
    right: float
    baseline: float


class _PageReader:
    """Joins one page's characters to words."""

    def __init__(self, page: object, text: object, width: float, height: float) -> None:
        self._page_text = address(text)
        self._transform = _page_transform(page, width, height)
        self._found = read_characters(text, self._transform)
        self._drawn = self._found.extents[self._found.drawn]
        self._font_name = ctypes.create_string_buffer(128)
        self._font_flags = ctypes.c_int()
        self._font_at = address(self._font_name), len(self._font_name), ctypes.addressof(self._font_flags)
        self._matrix = pdfium_c.FS_MATRIX()
        self._matrix_at = ctypes.addressof(self._matrix)
        self._styles: dict[bytes, tuple[str, bool, bool]] = {}

    def words(self) -> Iterator[Word]:
        """Yield the words; a hyphen that PDFium reads only behind the line break still goes to its word."""
        last: Word | None = None
        for item in self._words_and_hyphens():
            if isinstance(item, Word):
                yield from [last] if last else []
                last = item
            elif last and abs(item.baseline - last.baseline) < 2 and abs(item.left - last.right) < last.size:
                last = replace(last, hyphenated=True, right=max(last.right, item.right))
        yield from [last] if last else []

    def _words_and_hyphens(self) -> Iterator[Word | _Hyphen]:
        """Yield the words, each up to what separates it from the next, and hyphens that end none."""
        breaks = self._found.breaks.tolist()
        passed = 0
        for run, (before, after) in self._runs():
            yield from self._hyphens(breaks[passed:before])
            ended_by = breaks[before] if after > before else None
            passed = before if ended_by is None else before + 1
            yield self._word(run, ended_by)
        yield from self._hyphens(breaks[passed:])

    def _runs(self) -> Iterator[tuple["_Run", tuple[int, int]]]:
        """Yield what makes a word, and how many breaks stand before it and before the next."""
        count = len(self._found.drawn)
        if not count:
            return
        before = np.searchsorted(self._found.breaks, self._found.drawn)
        apart = are_apart(self._drawn[:-1], self._drawn[1:])
        starts = np.flatnonzero(np.concatenate(([True], (np.diff(before) > 0) | apart)))
        passed = [*before[starts].tolist(), len(self._found.breaks)]
        yield from zip(_measured(self._drawn, starts), pairwise(passed), strict=True)

    def _hyphens(self, breaks: Iterable[int]) -> Iterator[_Hyphen]:
        for at in breaks:
            if hyphen := self._hyphen(at):
                yield hyphen

    def _hyphen(self, at: int) -> _Hyphen | None:
        if at not in self._found.hyphens or not self._found.has_extent[at]:
            return None
        drawn = self._found.extents
        return _Hyphen(float(drawn.left[at]), float(drawn.right[at]), float(drawn.baseline[at]))

    def _word(self, run: "_Run", ended_by: int | None) -> Word:
        """Return the word that a run of characters makes; `ended_by` is the break behind it."""
        places = self._found.drawn[run.first : run.end]
        signs = [self._found.signs[at] or "" for at in places]
        index, top, bottom, baseline = int(places[0]), run.top, run.bottom, run.baseline
        size, upright = self._font_size(index)
        font, bold, italic = self._font(index)
        if not 0.75 * (bottom - top) <= size <= 4 * (bottom - top) + 4:
            # Fonts drawn by the file itself (Type 3) have a size in units of their own.
            drawn = self._drawn[run.first : run.end]
            size = size_from_letters(signs, (drawn.bottom - drawn.top).tolist())
        if upright:
            # Boxes as high as the font, not as the letters, lie evenly along a line.
            top, bottom = min(top, baseline - 0.72 * size), max(bottom, baseline + 0.22 * size)
        hyphenated = ended_by in self._found.hyphens
        return Word(
            text=compose("".join(signs)),
            left=run.left,
            top=top,
            right=max(run.right, self._right_of_hyphen(int(places[-1]), ended_by)),
            bottom=bottom,
            baseline=baseline if run.first_top - size < baseline < run.first_bottom + size else bottom,
            size=size,
            font=font,
            bold=bold,
            italic=italic,
            hyphenated=hyphenated,
            ends_line=ended_by is None or hyphenated or ended_by in self._found.line_ends,
            upright=upright,
        )

    def _right_of_hyphen(self, last: int, ended_by: int | None) -> float:
        """Return where the hyphen at the end of a word ends, where that is drawn at its last letter."""
        if ended_by is None or not (hyphen := self._hyphen(ended_by)):
            return -math.inf
        extents = self._found.extents
        return -math.inf if are_apart(extents[last], extents[ended_by]) else hyphen.right

    def _font_size(self, index: int) -> tuple[float, bool]:
        """Return the font's height in points on the page and whether the text runs from left to right."""
        size = font_size(self._page_text, index)
        if not matrix_of(self._page_text, index, self._matrix_at):
            return size, True
        a, b, c, d, _, _ = self._transform
        along, down, matrix_c, matrix_d = self._matrix.a, self._matrix.b, self._matrix.c, self._matrix.d
        across = (a * along + c * down, b * along + d * down)
        return size * math.hypot(matrix_c, matrix_d), abs(across[0]) >= abs(across[1])

    def _font(self, index: int) -> tuple[str, bool, bool]:
        """Return the font's name and whether it is bold and italic."""
        font_info(self._page_text, index, *self._font_at)
        name = self._font_name.value
        if name not in self._styles:
            lower = name.decode("utf-8", "replace").lower()
            weight = font_weight(self._page_text, index)
            bold = weight >= 600 or any(mark in lower for mark in _BOLD)
            italic = (
                "ital" in lower or "obli" in lower or lower.endswith(("-it", "cmti10", "cmti12", "cmti9"))
            )
            self._styles[name] = (lower, bold, italic)
        return self._styles[name]


class _Run(NamedTuple):
    """Characters without anything between them, by their places among those drawn, and their extents."""

    first: int
    end: int
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    first_top: float
    first_bottom: float


def _measured(drawn: Extents, starts: NDArray[np.intp]) -> Iterator[_Run]:
    """Yield the run that begins at each of `starts`; a baseline is the middle one of its characters'."""
    ends = np.append(starts[1:], len(drawn.left))
    lowest, highest = (reduce.reduceat(drawn.baseline, starts) for reduce in (np.minimum, np.maximum))
    columns = (
        starts,
        ends,
        np.minimum.reduceat(drawn.left, starts),
        np.minimum.reduceat(drawn.top, starts),
        np.maximum.reduceat(drawn.right, starts),
        np.maximum.reduceat(drawn.bottom, starts),
        lowest,
        drawn.top[starts],
        drawn.bottom[starts],
    )
    for row, is_even in zip(
        zip(*(one.tolist() for one in columns), strict=True), lowest == highest, strict=True
    ):
        run = _Run._make(row)
        if not is_even:
            baselines = np.sort(drawn.baseline[run.first : run.end])
            run = run._replace(baseline=float(baselines[len(baselines) // 2]))
        yield run


def _page_transform(page: object, width: float, height: float) -> tuple[float, ...]:
    """Return the affine map from PDF coordinates to points from the top left of the page as it is shown."""
    precision = 1000
    x, y = ctypes.c_int(), ctypes.c_int()
    points = []
    for user in ((0, 0), (1000, 0), (0, 1000)):
        extent = (round(width * precision), round(height * precision))
        pdfium_c.FPDF_PageToDevice(page, 0, 0, *extent, 0, *user, x, y)
        points.append((x.value / precision, y.value / precision))
    (e, f), (ax, ay), (cx, cy) = points
    return (ax - e) / 1000, (ay - f) / 1000, (cx - e) / 1000, (cy - f) / 1000, e, f
