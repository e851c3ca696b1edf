"""Read one file or web page as a paper, for uploads and for the `read` command."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.records import USUAL_SIZE, Paper, PassageSize, paper_id
from corpus.text import storable
from indexer.errors import ParseError
from indexer.parsers.document import Document, DocumentSection, Paragraph
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions
from indexer.parsers.registry import file_sha256, is_pdf, read_document
from indexer.prepare.preparer import Task, prepare
from indexer.sources.protocol import SourcePaper
from indexer.uploads.document import KINDS, ReadDocument

_PDF_WITHIN = 1024
# Reference formats of PubMed, EndNote, Zotero and spreadsheets.
_OTHER_REFERENCES = (".nbib", ".enw", ".enl", ".rdf", ".csv")
_LONGEST_NAME = 120

MOST_REFERENCES = 1_000


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of one document; a longer one is cut at them."""

    most_bytes: int = 20 * 2**20
    most_pages: int = 200
    most_passages: int = 800
    ocr: OcrOptions = NO_OCR
    size: PassageSize = USUAL_SIZE

    @property
    def most_words(self) -> int:
        """The most words that are read, whatever the size of passages."""
        return self.most_passages * USUAL_SIZE.words


def read_file(path: Path, name: str, collection: str, limits: ReadLimits, *, url: str = "") -> ReadDocument:
    """Read a file as a paper of a collection; `name` is its owner's name for it. Raises ParseError."""
    _check(path, limits)
    sha256 = file_sha256(path)
    document = _shortened(_document(path, limits), limits)
    entry = SourcePaper(_title(name), _paper(name, collection, url), path)
    task = Task(entry, sha256, sha256, sha256 if is_pdf(path) else "", size=limits.size)
    prepared = prepare(task, document)
    # Short captions and notes are passages too: allow twice as many as the words would make.
    passages = max(limits.most_passages, limits.most_words // (limits.size.words - limits.size.overlap))
    return ReadDocument(
        prepared.paper,
        prepared.passages[: 2 * passages],
        prepared.references[:MOST_REFERENCES],
        prepared.notes,
        path.name if is_pdf(path) else "",
    )


def _check(path: Path, limits: ReadLimits) -> None:
    try:
        size = path.stat().st_size if path.is_file() else None
        with path.open("rb") as file:
            head = file.read(_PDF_WITHIN)
    except OSError as error:
        raise ParseError(f"the file cannot be read: {error.strerror}") from error
    if size is None:
        raise ParseError("this is not a regular file")
    if not size:
        raise ParseError("the file is empty")
    if size > limits.most_bytes:
        raise ParseError(f"the file is larger than {limits.most_bytes / 2**20:.0f} MB, the most that is read")
    if is_pdf(path) and b"%PDF-" not in head:
        raise ParseError("the file is called a PDF but is none")


def _document(path: Path, limits: ReadLimits) -> Document:
    suffix = path.suffix.lower()
    if suffix == ".html":
        from indexer.parsers.text.html import read_html  # noqa: PLC0415 - only web pages need it

        return read_html(path)
    if suffix == ".pdf":
        from indexer.parsers.pdf.document import read_pdf  # noqa: PLC0415

        return read_pdf(path, limits.most_pages, limits.ocr)
    if suffix in KINDS:
        return read_document(path)
    if suffix in _OTHER_REFERENCES:
        raise ParseError(f"{suffix} files cannot be read: export the references as BibTeX, RIS or CSL-JSON")
    raise ParseError(f"files of this kind cannot be read; these can: {', '.join(KINDS)}")


def _shortened(document: Document, limits: ReadLimits) -> Document:
    """Cut a document after about `limits.most_words` words, with a note that says so."""
    remaining = limits.most_words
    sections: list[DocumentSection] = []
    for section in document.sections:
        paragraphs: list[Paragraph] = []
        for paragraph in section.paragraphs:
            remaining -= paragraph.text.count(" ") + 1
            if remaining < 0:
                remark = f"only about the first {limits.most_words:,} words were read"
                sections.append(replace(section, paragraphs=tuple(paragraphs)))
                return replace(document, sections=tuple(sections), notes=(*document.notes, remark))
            paragraphs.append(paragraph)
        sections.append(replace(section, paragraphs=tuple(paragraphs)))
    return document


def _paper(name: str, collection: str, url: str) -> Paper:
    return Paper(
        id=paper_id(collection, key_of(name)),
        collection_id=collection,
        title="",
        authors=(),
        year=None,
        venue="",
        abstract="",
        url=url,
        source=storable(name)[:_LONGEST_NAME],
    )


def key_of(name: str) -> str:
    """Return a document's key for ids: the letters, digits and dots of its name, dashes between."""
    stem = re.sub(r"\.(?:pdf|docx|md|markdown|txt|html)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"[^A-Za-z0-9.]+", "-", stem).strip("-.")[:60].strip("-.").lower() or "document"


def _title(name: str) -> str:
    return " ".join(storable(name).split())[:_LONGEST_NAME] or "Document"
