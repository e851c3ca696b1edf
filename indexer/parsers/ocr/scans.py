"""Pages of a scan to pages of words: rotated upright, with type sizes measured from the picture.

The x-height of a line gives its type size, and the share of ink whether it is bold; with both, the parser of
ordinary PDFs finds titles and headings.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corpus.pdf.images import page_picture
from corpus.pdf.pages import PdfPage
from corpus.pdf.words import Word
from indexer.parsers.ocr.engines import OcrEngine, OcrWord

_SCALE = 2.5  # pixels per point: 180 dpi
_LEAST_INK = 0.002
# Below this confidence a page is also tried in other rotations.
_SURE = 0.85
_TURNS = (0, 1, 3, 2)
_X_HEIGHT, _CAPITAL_HEIGHT = 0.45, 0.67
_OF_BODY_SIZE = 0.14
_BOLD_INK = 1.25
_DENSE = 0.55
_LETTERS_TO_TELL = 6

_Ink = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scan:
    """A page read by OCR, rotated upright.

    `confidence` is the mean over its letters; 0 for a page without words.
    """

    page: PdfPage
    confidence: float


def read_scans(path: Path, pages: Iterable[PdfPage], engine: OcrEngine) -> list[Scan]:
    """Read pages by OCR; blank pages have no words. Raises PdfError."""
    results: list[_Page] = []
    for page in pages:
        # The pages of a scan mostly have the same rotation.
        results.append(_read(path, page, engine, results[-1].turn if results else 0))
    lines = [line for page in results for line in page.lines]
    body = _weighted_median([(line.size, line.letters) for line in lines])
    usual = _weighted_median([(line.density, line.letters) for line in lines])
    return [page.scan(body, usual) for page in results]


def _read(path: Path, page: PdfPage, engine: OcrEngine, first: int) -> "_Page":
    """Read one page, trying the rotation `first` before others."""
    picture, scale = page_picture(path, page.number, _SCALE)
    picture = picture.convert("L")
    ink = _ink(picture)
    if ink.mean() < _LEAST_INK:
        return _Page(page.number, picture.width / scale, picture.height / scale, 0, 0.0, [])
    turn, words = _upright(picture, engine, first)
    ink = np.rot90(ink, turn)
    lines = [_measured(line, ink, scale) for line in _lines(words)]
    return _Page(page.number, ink.shape[1] / scale, ink.shape[0] / scale, turn, _sureness(words), lines)


def _upright(picture: Image.Image, engine: OcrEngine, first: int) -> tuple[int, list[OcrWord]]:
    """Return the rotation (in quarters) that makes a picture's text upright, and the words read then."""
    tried: dict[int, list[OcrWord]] = {}
    for turn in sorted(_TURNS, key=lambda turn: turn != first):
        words = tried[turn] = engine.read(picture.rotate(90 * turn, expand=True) if turn else picture)
        if _sureness(words) >= _SURE and _lies_flat(words):
            break
    best = max(tried, key=lambda turn: (_lies_flat(tried[turn]), _sureness(tried[turn])))
    return best, tried[best]


def _sureness(words: Sequence[OcrWord]) -> float:
    letters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0


def _lies_flat(words: Sequence[OcrWord]) -> bool:
    """Return True if most lines are wider than high: the text is not on its side."""
    flat = total = 0
    for line in _lines(words):
        letters = sum(len(word.text) for word in line)
        if letters < 4:
            continue
        height = max(word.bottom for word in line) - min(word.top for word in line)
        total += letters
        flat += letters * (line[-1].right - line[0].left > height)
    return flat * 2 > total


def _lines(words: Sequence[OcrWord]) -> Iterator[list[OcrWord]]:
    for _, line in groupby(words, key=lambda word: word.line):
        yield sorted(line, key=lambda word: word.left)


def _ink(picture: Image.Image) -> _Ink:
    """Return the mask of ink in a grey picture: darker than midway between ink and paper."""
    grey = np.asarray(picture)
    dark, paper = np.percentile(grey, (1, 50))
    return np.asarray(grey < (min(dark, paper - 40.0) + paper) / 2)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its typography, in points; `size` is 0 with too few letters to measure.

    `density` is the share of ink in the band of its small letters.
    """

    words: Sequence[OcrWord]
    scale: float
    size: float
    baseline: float
    density: float

    @property
    def letters(self) -> int:
        return sum(len(word.text) for word in self.words) if self.size else 0

    def set_in(self, body: float, usual: float) -> Iterator[Word]:
        """Yield the words with their type size; sizes near that of the body are set to it."""
        like_body = not self.size or abs(self.size - body) <= _OF_BODY_SIZE * body
        for word in self.words:
            yield Word(
                word.text,
                word.left / self.scale,
                word.top / self.scale,
                word.right / self.scale,
                word.bottom / self.scale,
                self.baseline,
                body if like_body else self.size,
                bold=self.density > _BOLD_INK * usual,
                ends_line=word is self.words[-1],
            )


@dataclass(frozen=True, slots=True)
class _Page:
    number: int
    width: float
    height: float
    turn: int
    confidence: float
    lines: Sequence[_Line]

    def scan(self, body: float, usual: float) -> Scan:
        words = tuple(word for line in self.lines for word in line.set_in(body or 10.0, usual))
        return Scan(PdfPage(self.number, self.width, self.height, words, turn=self.turn), self.confidence)


def _measured(words: Sequence[OcrWord], ink: _Ink, scale: float) -> _Line:
    """Measure the band of a line's small letters, which has most of its ink."""
    top, bottom = min(word.top for word in words), max(word.bottom for word in words)
    small = [word for word in words if sum(map(str.islower, word.text)) > 0.7 * len(word.text)]
    large = [word for word in words if word.text.isupper()]
    measured, share = (small, _X_HEIGHT) if small or not large else (large, _CAPITAL_HEIGHT)
    profile = np.zeros(max(1, int(bottom) + 1 - int(top)))
    for word in measured or words:
        strip = ink[int(top) : int(bottom) + 1, max(0, int(word.left)) : int(word.right) + 1].sum(axis=1)
        profile[: len(strip)] += strip
    dense = np.flatnonzero(profile >= _DENSE * np.percentile(profile, 90)) if profile.any() else np.array([0])
    first, last = int(dense[0]), int(dense[-1])
    width = sum(word.right - word.left for word in measured or words)
    density = float(profile[first : last + 1].sum()) / max((last - first + 1) * width, 1.0)
    enough = sum(len(word.text) for word in measured) >= _LETTERS_TO_TELL
    size = (last - first + 1) / share / scale if enough else 0.0
    return _Line(words, scale, size, (int(top) + last + 1) / scale, density)


def _weighted_median(values: Sequence[tuple[float, int]]) -> float:
    """Return the weighted median of (value, weight) pairs, 0 for none."""
    each = np.repeat([value for value, _ in values], [weight for _, weight in values])
    return float(np.median(each)) if each.size else 0.0
