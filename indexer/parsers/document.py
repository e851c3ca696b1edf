"""The document that a parser makes of a file: one type for all parsers."""

from dataclasses import dataclass

from corpus.records import Author, Box, PassageKind, Reference, Section, Table


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence's text, stripped, and its boxes on the page.

    `references` are the entries of the bibliography that it cites, counted from 0.
    """

    text: str
    boxes: tuple[Box, ...] = ()
    references: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, caption, note or table as its sentences in order.

    The last sentences of a table are its rows below the header (see `tables.py`); `area` is the box of the
    table, or of a caption's figure.
    """

    sentences: tuple[Piece, ...]
    kind: PassageKind = "body"
    table: Table | None = None
    area: Box | None = None

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """The paragraphs directly under one heading; `path` holds the headings from the outermost to its own.

    Text before the first heading has an empty path.
    """

    path: tuple[Section, ...]
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A paper as a parser read it; fields not found are empty, `notes` are for the build report.

    `scanned_pages` pages were read by OCR, with a mean `scan_confidence` of 0..1. `hidden_text` is the number
    of invisible characters, on `hidden_pages`, which are left out.
    """

    title: str = ""
    authors: tuple[Author, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv_id: str = ""
    abstract: tuple[Paragraph, ...] = ()
    keywords: tuple[str, ...] = ()
    sections: tuple[DocumentSection, ...] = ()
    references: tuple[Reference, ...] = ()
    page_count: int = 0
    parser: str = ""
    parser_version: str = ""
    scanned_pages: int = 0
    scan_confidence: float = 0.0
    hidden_text: int = 0
    hidden_pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
