"""A file to a document, by the parser for its kind."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from indexer.document import Document, ParseError

# Each parser is loaded when a file asks for it: builds from metadata alone need none.
# ruff: noqa: PLC0415


def _read_pdf(path: Path) -> Document:
    from indexer.pdf_text import read_pdf

    return read_pdf(path)


def _read_tei(path: Path) -> Document:
    from indexer.tei import read_tei

    return read_tei(path)


def _read_markdown(path: Path) -> Document:
    from indexer.markdown_text import read_markdown

    return read_markdown(path)


def _read_plain_text(path: Path) -> Document:
    from indexer.plain_text import read_plain_text

    return read_plain_text(path)


def _read_docx(path: Path) -> Document:
    from indexer.docx_text import read_docx

    return read_docx(path)


_PARSERS: dict[str, Callable[[Path], Document]] = {
    ".pdf": _read_pdf,
    ".tei.xml": _read_tei,
    ".tei": _read_tei,
    ".xml": _read_tei,
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_plain_text,
    ".docx": _read_docx,
}

SUFFIXES = tuple(_PARSERS)
"""How the names of files end that can be read."""


def read_document(path: Path) -> Document:
    """Parse a file by the end of its name; raises ParseError."""
    name = path.name.lower()
    parser = next((parser for suffix, parser in _PARSERS.items() if name.endswith(suffix)), None)
    if parser is None:
        raise ParseError(f"{path.name} is none of the kinds of files that can be read: {', '.join(SUFFIXES)}")
    return parser(path)


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
