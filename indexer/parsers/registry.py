"""The parser for each kind of file, and the source of TEI for PDFs."""

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol

from corpus.errors import CorpusError
from corpus.records import Remark
from corpus.settings import Settings
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.grobid.answers import GrobidError
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions

_TEI, _MARKDOWN = (
    ("indexer.parsers.tei.document", "read_tei"),
    ("indexer.parsers.text.markdown", "read_markdown"),
)
# Parsers are loaded on demand: builds from metadata alone need none.
_PARSERS = {
    ".pdf": ("indexer.parsers.pdf.document", "read_pdf"),
    ".tei.xml": _TEI,
    ".tei": _TEI,
    ".xml": _TEI,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".txt": ("indexer.parsers.text.plain", "read_plain_text"),
    ".docx": ("indexer.parsers.text.docx", "read_docx"),
}

SUFFIXES = tuple(_PARSERS)
"""The suffixes of files that can be read."""

ParserChoice = Literal["auto", "grobid", "pypdfium2"]
"""The parser of PDFs: a GROBID server or its cache, if there is either, or PDFium alone."""


class TeiParser(Protocol):
    """A source of TEI for PDFs (a GROBID server or its cache); it takes `at_once` PDFs at a time."""

    @property
    def at_once(self) -> int: ...

    def tei(self, pdf: Path, sha256: str) -> bytes | None:
        """Return the TEI of a PDF, None if there is none; raises GrobidError."""
        ...

    def stop(self) -> None:
        """Cancel waiting requests."""
        ...


def read_document(path: Path, ocr: OcrOptions = NO_OCR) -> Document:
    """Parse a file by its suffix, scans with `ocr`; raises ParseError."""
    name = path.name.lower()
    parser = next((parser for suffix, parser in _PARSERS.items() if name.endswith(suffix)), None)
    if parser is None:
        raise ParseError(f"{path.name} is none of the kinds of files that can be read: {', '.join(SUFFIXES)}")
    module, function = parser
    options = {"ocr": ocr} if is_pdf(path) else {}
    document: Document = getattr(import_module(module), function)(path, **options)
    return document


def is_pdf(path: Path) -> bool:
    return path.suffix.lower() == ".pdf"


def file_sha256(path: Path) -> str:
    """Return the hash of a file's bytes; raises ParseError when it cannot be read."""
    if path.exists() and not path.is_file():
        # Opening a named pipe would block.
        raise ParseError("this is not a regular file")
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ParseError(f"the file cannot be read: {error.strerror}") from error


def open_tei_parser(settings: Settings, choice: ParserChoice) -> tuple[TeiParser | None, Remark | None]:
    """Return the source of TEI for PDFs, if any, and a remark for the report.

    Raises CorpusError when a GROBID server is required and not reachable.
    """
    if choice == "pypdfium2":
        return None, None
    from indexer.parsers.grobid.cache import KeptParser, KeptTei  # noqa: PLC0415 - most builds need no TEI

    cached = KeptParser(KeptTei(settings.tei_path))
    if not settings.grobid_url:
        if choice == "grobid":
            raise CorpusError(
                "No GROBID server is set. Start one (compose.yaml does) and set PAPER_TRAIL_GROBID_URL, "
                "such as http://127.0.0.1:8070, or choose --parser pypdfium2."
            )
        return cached, None
    from indexer.parsers.grobid.client import open_grobid  # noqa: PLC0415 - takes half a second; only for a server

    try:
        grobid = open_grobid(settings)
    except GrobidError as error:
        raise CorpusError(f"{error}.") from error
    status = grobid.server.known_status()
    if status.reachable:
        return grobid, None
    if choice == "grobid":
        raise CorpusError(f"{status.problem}.")
    advice = "read by it later with: paper-trail index reparse --parser grobid"
    return cached, Remark("GROBID", f"{status.problem}; PDFs are read with pypdfium2. They can be {advice}")
