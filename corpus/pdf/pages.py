"""The words on the pages of a PDF, with their boxes and styles."""

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

from corpus.pdf.actual_text import remove_false_texts
from corpus.pdf.file import LOCK, PdfError, opened
from corpus.pdf.glyphs import Transform, read_characters
from corpus.pdf.hidden import hidden_characters
from corpus.pdf.painting import Painting, read_painting
from corpus.pdf.words import Word, words_of
from corpus.records import Box

_OVERPRINT = 0.2  # font heights: nearer copies of a word are printed over each other
_LAST_COPIES = 200  # copies of a word that the next one is compared with


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page: number from 1, size in points as shown, words in the order of the file.

    `unseen` are the words that are not visible, including those outside the page. A page that PDFium cannot
    load is `damaged`, without size and words. The page as shown is turned by `turn` quarters clockwise
    against this one, on which the text is upright.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    damaged: bool = False
    unseen: tuple[Word, ...] = ()
    turn: int = 0

    def as_shown(self, box: Box) -> Box:
        """Return a box of this page in the coordinates of the page as shown."""
        x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
        if self.turn == 1:
            return Box(box.page, self.height - bottom, x, box.height, box.width)
        if self.turn == 2:
            return Box(box.page, self.width - right, self.height - bottom, box.width, box.height)
        if self.turn == 3:
            return Box(box.page, y, self.width - right, box.height, box.width)
        return box


def read_pages(path: str | Path, *, upright: bool = False) -> Iterator[PdfPage]:
    """Yield the pages with their words, in order; raises PdfError.

    A damaged page is marked as such and has no words. With `upright`, pages whose text is turned are turned
    back. The lock is free while the caller works on a page.
    """
    with opened(path) as document:
        for index in range(len(document)):
            with LOCK:
                try:
                    page = _read_page(document, index, upright=upright)
                except pypdfium2.PdfiumError:
                    page = PdfPage(index + 1, 0.0, 0.0, (), damaged=True)
            yield page


def shares_of_pictures(path: str | Path, pages: Iterable[int]) -> Iterator[float]:
    """Yield the share of each page that pictures cover, 0..1 and more; raises PdfError."""
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


def _read_page(document: pypdfium2.PdfDocument, index: int, *, upright: bool) -> PdfPage:
    page = document[index]
    try:
        width, height = page.get_size()
        painting = read_painting(page.raw)
        false = remove_false_texts(document, index, page, painting)
        text = page.get_textpage()
        try:
            reader = _Text(page, text.raw, painting)
            words, unseen = reader.words(0)
            turn = _turn_of(words) if upright else 0
            if turn:
                words, unseen = reader.words(turn)
        finally:
            text.close()
    finally:
        page.close()
    if turn % 2:
        width, height = height, width
    return PdfPage(index + 1, width, height, words, unseen=(*unseen, *false), turn=turn)


def _turn_of(words: Sequence[Word]) -> int:
    """Return the turn of more than half of a page's letters, 0 if there is none."""
    if not any(word.turn for word in words):
        return 0
    letters: Counter[int] = Counter()
    for word in words:
        letters[word.turn] += len(word.text)
    turn, count = letters.most_common(1)[0] if letters else (0, 0)
    return turn if 2 * count > letters.total() else 0


class _Text:
    """The text of a page, read upright or turned."""

    def __init__(self, page: pypdfium2.PdfPage, text: object, painting: Painting) -> None:
        self._text = text
        self._size = page.get_size()
        self._shown = _page_transform(page.raw, *self._size)
        self._found = read_characters(text, self._shown)
        self._hidden = hidden_characters(page, text, self._found, self._shown, painting)

    def words(self, turn: int) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Return the visible words and the others, turned back by `turn` quarters."""
        transform = _turned_back(self._shown, turn, *self._size)
        characters = read_characters(self._text, transform) if turn else self._found
        width, height = reversed(self._size) if turn % 2 else self._size
        drawn = words_of(
            self._text, characters if self._hidden is None else characters.only(~self._hidden), transform
        )
        seen: list[Word] = []
        unseen = (
            [] if self._hidden is None else words_of(self._text, characters.only(self._hidden), transform)
        )
        for word in drawn:
            if (shown := _on_page(width, height, word)) and word.legible:
                seen.append(shown)
            else:
                unseen.append(word)
        return _once(seen), tuple(unseen)


def _once(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words without copies printed over them, as for bold type or a shadow."""
    kept: list[Word] = []
    known: dict[str, list[Word]] = {}
    for word in words:
        others = known.setdefault(word.text, [])
        near = _OVERPRINT * word.size
        if not any(
            abs(word.left - other.left) < near
            and abs(word.baseline - other.baseline) < near
            and abs(word.top - other.top) < near
            for other in others[-_LAST_COPIES:]
        ):
            kept.append(word)
        others.append(word)
    return tuple(kept)


def _turned_back(transform: Transform, turn: int, width: float, height: float) -> Transform:
    """Return the map `transform` to a page, followed by a turn of `turn` quarters counterclockwise."""
    a, b, c, d, e, f = transform
    if turn == 1:
        return b, -a, d, -c, f, width - e
    if turn == 2:
        return -a, -b, -c, -d, width - e, height - f
    if turn == 3:
        return -b, a, -d, c, height - f, e
    return transform


def _on_page(width: float, height: float, word: Word) -> Word | None:
    """Return a word cut to the page, None if its middle is outside the page."""
    if word.left >= 0 and word.top >= 0 and word.right <= width and word.bottom <= height:
        return word
    across, down = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    if not (0 <= across <= width and 0 <= down <= height):
        return None
    left, right = max(word.left, 0.0), min(word.right, width)
    top, bottom = max(word.top, 0.0), min(word.bottom, height)
    return word._replace(left=left, right=right, top=top, bottom=bottom)


def _page_transform(page: object, width: float, height: float) -> Transform:
    """Return the affine map from PDF coordinates to points from the top left of the page as shown."""
    precision = 1000
    x, y = ctypes.c_int(), ctypes.c_int()
    points = []
    for user in ((0, 0), (1000, 0), (0, 1000)):
        extent = (round(width * precision), round(height * precision))
        pdfium_c.FPDF_PageToDevice(page, 0, 0, *extent, 0, *user, x, y)
        points.append((x.value / precision, y.value / precision))
    (e, f), (ax, ay), (cx, cy) = points
    return (ax - e) / 1000, (ay - f) / 1000, (cx - e) / 1000, (cy - f) / 1000, e, f
