"""The document that a parser makes of one file: the same type for PDF, TEI and metadata."""

from dataclasses import dataclass

from corpus.records import Author, Box, PassageKind, Reference, Section, Table


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence's text, without white space at its ends, and its boxes on the page.

    `references` are the entries of the bibliography that it cites, counted from 0.
    """

    text: str
    boxes: tuple[Box, ...] = ()
    references: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, caption, note or table as its sentences in order.

    A table's last sentences are its rows below the header, one each (see `tables.py`); `area` is where it, or
    the figure that a caption is of, stands.
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
    """One paper as a parser read it; fields it did not find are empty, `notes` is for the build report.

    `scanned_pages` of its pages were read from their pictures, as surely as `scan_confidence` says, 0..1.
    `hidden_text` is how many characters no reader of it sees, on its `hidden_pages`; they are left out.
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
