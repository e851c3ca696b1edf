"""A file to a document, by the parser for its kind."""

import hashlib
from pathlib import Path

from indexer.document import Document, ParseError


def read_document(path: Path) -> Document:
    """Parse a PDF or TEI file; raises ParseError."""
    if is_pdf(path):
        from indexer.pdf_text import read_pdf  # noqa: PLC0415 - metadata-only builds need no parser

        return read_pdf(path)
    from indexer.tei import read_tei  # noqa: PLC0415

    return read_tei(path)


def is_pdf(path: Path) -> bool:
    return path.suffix.lower() == ".pdf"


def file_sha256(path: Path) -> str:
    """Return the hash of a file's bytes; raises ParseError when it cannot be read."""
    if path.exists() and not path.is_file():
        # Opening a named pipe would wait for ever.
        raise ParseError("this is not a regular file")
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ParseError(f"the file cannot be read: {error.strerror}") from error
