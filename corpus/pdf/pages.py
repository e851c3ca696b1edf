"""The words on the pages of a PDF, with their boxes and how they are set."""

import ctypes
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

from corpus.pdf.characters import Glyph, character, compose, is_apart, size_from_letters
from corpus.pdf.file import LOCK, PdfError, opened
from corpus.records import Box

# pdfium marks a line-break hyphen as U+FFFE or U+0002, also for real hyphens.
_HYPHENS = frozenset((0xFFFE, 0x0002, 0x00AD))
# Old TeX fonts without a map to Unicode keep their ligatures at these codes.
_TEX_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl"}
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
    across, down = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    if not (0 <= across <= width and 0 <= down <= height):
        return None
    left, right = max(word.left, 0.0), min(word.right, width)
    top, bottom = max(word.top, 0.0), min(word.bottom, height)
    if (left, right, top, bottom) == (word.left, word.right, word.top, word.bottom):
        return word
    return replace(word, left=left, right=right, top=top, bottom=bottom)


class _PageReader:
    """Reads one page's characters through the C interface and joins them to words."""

    def __init__(self, page: object, text: object, width: float, height: float) -> None:
        self._text = text
        self._transform = _page_transform(page, width, height)
        self._corners = tuple(ctypes.c_double() for _ in range(4))
        self._origin = tuple(ctypes.c_double() for _ in range(2))
        self._font_name = ctypes.create_string_buffer(128)
        self._font_flags = ctypes.c_int()
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

    def _words_and_hyphens(self) -> Iterator[Word | Glyph]:
        run: list[tuple[int, Glyph]] = []
        for index in range(pdfium_c.FPDFText_CountChars(self._text)):
            code = pdfium_c.FPDFText_GetUnicode(self._text, index)
            text = self._tex_ligature(index, code) if code in _TEX_LIGATURES else ""
            hyphen = code in _HYPHENS and (code != 2 or pdfium_c.FPDFText_IsHyphen(self._text, index) == 1)
            if not text and (hyphen or code <= 0x20 or (code >= 0x80 and chr(code).isspace())):
                mark = self._glyph(index, "-") if hyphen else None
                if mark and not run:
                    yield mark
                if run:
                    yield self._word(run, hyphen=mark, hyphenated=hyphen, ends_line=code in (10, 13))
                run = []
                continue
            glyph = self._glyph(index, text or character(code))
            if glyph is None:
                continue
            if run and is_apart(run[-1][1], glyph):
                yield self._word(run, ends_line=True)
                run = []
            run.append((index, glyph))
        if run:
            yield self._word(run, ends_line=True)

    def _tex_ligature(self, index: int, code: int) -> str:
        if pdfium_c.FPDFText_IsGenerated(self._text, index) == 1:
            return ""
        beside = (pdfium_c.FPDFText_GetUnicode(self._text, index + step) for step in (-1, 1))
        unmapped = pdfium_c.FPDFText_HasUnicodeMapError(self._text, index) == 1
        return _TEX_LIGATURES[code] if unmapped and any(chr(c).isalpha() for c in beside if c < 0x80) else ""

    def _glyph(self, index: int, text: str) -> Glyph | None:
        left, right, bottom, top = self._corners
        if not text or not pdfium_c.FPDFText_GetCharBox(self._text, index, left, right, bottom, top):
            return None
        x, y = self._origin
        pdfium_c.FPDFText_GetCharOrigin(self._text, index, x, y)
        x0, y0 = self._shown(left.value, top.value)
        x1, y1 = self._shown(right.value, bottom.value)
        origin_x, origin_y = self._shown(x.value, y.value)
        return Glyph(text, min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1), origin_x, origin_y)

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        a, b, c, d, e, f = self._transform
        return a * x + c * y + e, b * x + d * y + f

    def _word(
        self,
        run: list[tuple[int, Glyph]],
        *,
        hyphen: Glyph | None = None,
        hyphenated: bool = False,
        ends_line: bool,
    ) -> Word:
        index, first = run[0]
        glyphs = [glyph for _, glyph in run]
        size, upright = self._font_size(index)
        font, bold, italic = self._font(index)
        top, bottom = min(g.top for g in glyphs), max(g.bottom for g in glyphs)
        baseline = sorted(g.baseline for g in glyphs)[len(glyphs) // 2]
        if not 0.75 * (bottom - top) <= size <= 4 * (bottom - top) + 4:
            # Fonts drawn by the file itself (Type 3) have a size in units of their own.
            size = size_from_letters(glyphs)
        if upright:
            # Boxes as high as the font, not as the letters, lie evenly along a line.
            top, bottom = min(top, baseline - 0.72 * size), max(bottom, baseline + 0.22 * size)
        return Word(
            text=compose("".join(glyph.text for glyph in glyphs)),
            left=min(g.left for g in glyphs),
            top=top,
            right=max(
                g.right for g in glyphs + ([hyphen] if hyphen and not is_apart(glyphs[-1], hyphen) else [])
            ),
            bottom=bottom,
            baseline=baseline if first.top - size < baseline < first.bottom + size else bottom,
            size=size,
            font=font,
            bold=bold,
            italic=italic,
            hyphenated=hyphenated,
            ends_line=ends_line or hyphenated,
            upright=upright,
        )

    def _font_size(self, index: int) -> tuple[float, bool]:
        """Return the font's height in points on the page and whether the text runs from left to right."""
        size = pdfium_c.FPDFText_GetFontSize(self._text, index)
        matrix = pdfium_c.FS_MATRIX()
        if not pdfium_c.FPDFText_GetMatrix(self._text, index, matrix):
            return size, True
        a, b, c, d, _, _ = self._transform
        across = (a * matrix.a + c * matrix.b, b * matrix.a + d * matrix.b)
        return size * math.hypot(matrix.c, matrix.d), abs(across[0]) >= abs(across[1])

    def _font(self, index: int) -> tuple[str, bool, bool]:
        """Return the font's name and whether it is bold and italic."""
        pdfium_c.FPDFText_GetFontInfo(
            self._text, index, self._font_name, len(self._font_name), self._font_flags
        )
        name = self._font_name.value
        if name not in self._styles:
            lower = name.decode("utf-8", "replace").lower()
            weight = pdfium_c.FPDFText_GetFontWeight(self._text, index)
            bold = weight >= 600 or any(mark in lower for mark in _BOLD)
            italic = (
                "ital" in lower or "obli" in lower or lower.endswith(("-it", "cmti10", "cmti12", "cmti9"))
            )
            self._styles[name] = (lower, bold, italic)
        return self._styles[name]


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
