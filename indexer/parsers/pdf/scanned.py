"""Pages of a PDF that are pictures: read by OCR if available, else reported."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from corpus.pdf.pages import PdfPage, shares_of_pictures
from corpus.records import Box
from corpus.sandbox.limits import grant
from corpus.wording import counted
from indexer.errors import ParseError, UnreadScanError
from indexer.parsers.document import Document, DocumentSection, Paragraph
from indexer.parsers.ocr.engines import INSTALL, SECONDS_PER_PAGE, OcrOptions, open_engine
from indexer.parsers.ocr.scans import Scan, read_scans
from indexer.parsers.pdf.repair import without_ciphers

_FEWEST_LETTERS_A_PAGE = 40
# In a document with text, a page without text is a scan if pictures cover this share of it, else a drawing.
_LEAST_PICTURED = 0.5
NO_CODE = "its fonts do not say which letters they draw"
# Messages in PDFs whose content only Adobe's programs show.
_PLACEHOLDERS = (
    (
        re.compile(
            r"if this message is not eventually replaced (?:by|with) the proper contents"
            r"|to view the full contents of this document, you need a later version of the pdf viewer",
            re.IGNORECASE,
        ),
        "a form (XFA) that only Adobe's programs show: print it there to a PDF, and read that",
    ),
    (
        re.compile(r"for the best experience, open this pdf portfolio in", re.IGNORECASE),
        "a portfolio of other files: take them out of it, and read them one by one",
    ),
)
_MOST_PLACEHOLDER_WORDS = 200


@dataclass(frozen=True, slots=True)
class ScannedPages:
    """The pages of a document, scans with the words read by OCR."""

    pages: Sequence[PdfPage]
    scans: Mapping[int, Scan] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_shown(self, document: Document) -> Document:
        """Convert the boxes of a document to the displayed pages, and add the figures of OCR."""
        if not self.scans and not any(page.turn for page in self.pages):
            return document
        letters = {number: _letters(scan.page) for number, scan in self.scans.items()}
        sure = sum(scan.confidence * letters[number] for number, scan in self.scans.items())
        return replace(
            document,
            abstract=tuple(map(self._paragraph, document.abstract)),
            sections=tuple(map(self._section, document.sections)),
            scanned_pages=len(self.scans),
            scan_confidence=sure / max(1, sum(letters.values())),
        )

    def _section(self, section: DocumentSection) -> DocumentSection:
        return replace(section, paragraphs=tuple(map(self._paragraph, section.paragraphs)))

    def _paragraph(self, paragraph: Paragraph) -> Paragraph:
        sentences = (
            replace(piece, boxes=tuple(map(self._box, piece.boxes))) for piece in paragraph.sentences
        )
        area = self._box(paragraph.area) if paragraph.area else None
        return replace(paragraph, sentences=tuple(sentences), area=area)

    def _box(self, box: Box) -> Box:
        return self.pages[box.page - 1].as_shown(box)


def with_scans_read(path: Path, pages: Sequence[PdfPage], ocr: OcrOptions) -> ScannedPages:
    """Read scanned pages with `ocr`; raises PdfError and ParseError."""
    damage = tuple(f"page {page.number} is damaged and left out" for page in pages if page.damaged)
    pages, ciphers = without_ciphers(pages)
    pictures = _pictures(path, pages, ciphers)
    unread = [number for number in ciphers if not ocr.engine or number not in {p.number for p in pictures}]
    if unread:
        damage += (f"text on {page_list(unread)} cannot be read: {NO_CODE}",)
        pictures = [page for page in pictures if page.number not in unread]
    if not pictures or not ocr.engine:
        unread_pictures = (_unread(pictures, f". {INSTALL}"),) if pictures else ()
        return ScannedPages(pages, notes=(*damage, *unread_pictures))
    scans: dict[int, Scan] = {}
    selected = pictures[: ocr.most_pages]
    for scan in read_scans(path, _in_time(selected), open_engine(ocr.engine)):
        if scan.page.words:
            scans[scan.page.number] = scan
    merged = tuple(scans[page.number].page if page.number in scans else page for page in pages)
    notes = _notes(scans, ocr.engine) + (
        (_unread(pictures[len(selected) :], f": of one file {ocr.most_pages} are"),)
        if len(pictures) > len(selected)
        else ()
    )
    return ScannedPages(merged, scans, (*damage, *notes))


def check_text(path: Path, pages: Sequence[PdfPage], ocr: OcrOptions, notes: Sequence[str] = ()) -> None:
    """Raise ParseError for a placeholder, and for pages that are all damaged or have too little text.

    `notes` are the remarks on what could not be read.
    """
    if placeholder := _placeholder(pages):
        raise ParseError(f"{path.name} is {placeholder}")
    if all(page.damaged for page in pages):
        raise ParseError(f"{path.name} is broken: none of its {len(pages)} pages can be loaded")
    if _has_text(pages):
        return
    problem = f"{path.name} has no text layer: its {counted(len(pages), 'page')} are pictures (a scan?)"
    if any(NO_CODE in note for note in notes):
        problem = f"{path.name} has no text that can be read: {NO_CODE}"
    elif any(page.unseen for page in pages):
        problem = f"{path.name} has no text that can be seen on its {counted(len(pages), 'page')} (a scan?)"
    if not ocr.engine:
        raise UnreadScanError(f"{problem}. {INSTALL}")
    raise ParseError(f"{problem}, and {ocr.engine} finds no text on them")


def _placeholder(pages: Sequence[PdfPage]) -> str:
    """Describe a PDF that has a message in place of its content, "" for others."""
    if sum(len(page.words) for page in pages) > _MOST_PLACEHOLDER_WORDS:
        return ""
    text = " ".join(word.text for page in pages for word in page.words)
    return next((kind for message, kind in _PLACEHOLDERS if message.search(text)), "")


def _pictures(path: Path, pages: Sequence[PdfPage], ciphers: Sequence[int]) -> list[PdfPage]:
    """Return the pages that may be pictures of text, without drawings in a document with text.

    Pages of `ciphers` count whatever they show, as their text was removed.
    """
    bare = [page for page in pages if not page.damaged and _letters(page) < _FEWEST_LETTERS_A_PAGE]
    if not _has_text(pages):
        return bare
    shares = shares_of_pictures(path, [page.number for page in bare])
    return [
        page
        for page, share in zip(bare, shares, strict=True)
        if share >= _LEAST_PICTURED or page.number in ciphers
    ]


def _has_text(pages: Sequence[PdfPage]) -> bool:
    return sum(map(_letters, pages)) >= _FEWEST_LETTERS_A_PAGE * min(len(pages), 3)


def _in_time(pages: Sequence[PdfPage]) -> Iterator[PdfPage]:
    """Yield pages, extending the process's time limit for each."""
    for page in pages:
        grant(SECONDS_PER_PAGE)
        yield page


def _letters(page: PdfPage) -> int:
    return sum(map(str.isalpha, "".join([word.text for word in page.words])))


def _notes(scans: Mapping[int, Scan], engine: str) -> tuple[str, ...]:
    """Return remarks on pages read by OCR."""
    if not scans:
        return ()
    least = min(scans.values(), key=lambda scan: scan.confidence)
    numbers = _numbers(sorted(scans))
    turned = _numbers([number for number, scan in sorted(scans.items()) if scan.page.turn])
    sure = f"the least sure is page {least.page.number}, {least.confidence:.2f}"
    remark = (
        f"{numbers} read from {'its picture' if len(scans) == 1 else 'their pictures'} by {engine}; {sure}"
    )
    return (remark, *((f"{turned} turned upright to be read",) if turned else ()))


def _unread(pages: Sequence[PdfPage], why: str) -> str:
    return f"{_numbers([page.number for page in pages])} pictures without text, and not read{why}"


def _numbers(pages: Sequence[int]) -> str:
    """Return "pages 1-8, 10 are", "page 3 is", and "" for none."""
    return f"{page_list(pages)} {'is' if len(pages) == 1 else 'are'}" if pages else ""


def page_list(pages: Sequence[int]) -> str:
    """Return "pages 1-8, 10" or "page 3"."""
    ends = [
        (page, next(last for last in count(page) if last + 1 not in pages))
        for page in pages
        if page - 1 not in pages
    ]
    ranges = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)
    return f"page {ranges}" if len(pages) == 1 else f"pages {ranges}"
