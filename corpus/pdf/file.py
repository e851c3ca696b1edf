"""Opening of PDF files, and their numbers and sizes of pages.

PDFium is not thread-safe: every call into it, closing included, must hold the lock of this module.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

from corpus.pdf.characters import character

PDFIUM_VERSION = str(pypdfium2.version.PYPDFIUM_INFO)
LOCK = threading.Lock()
_HEADER_BYTES = 1024


class PdfError(Exception):
    """A PDF or one of its pages cannot be read; the message says why."""


def page_count(path: str | Path) -> int:
    """Return the number of pages of a file; raises PdfError."""
    with opened(path) as document, LOCK:
        return len(document)


def title_in_properties(path: str | Path) -> str:
    """Return the title in the file's properties, "" for none; often not the paper's. Raises PdfError."""
    with opened(path) as document, LOCK:
        title = str(document.get_metadata_value("Title") or "")
    return " ".join("".join(character(ord(c)) if ord(c) > 0x20 else " " for c in title).split())


def page_size(path: str | Path, page: int) -> tuple[float, float]:
    """Return the width and height of a page as shown, in points; raises PdfError."""
    with opened(path) as document, LOCK:
        return size_of(document, path, page)


@contextmanager
def opened(path: str | Path) -> Iterator[pypdfium2.PdfDocument]:
    """Open a file; callers must hold the lock to use its document. Raises PdfError."""
    _check_header(Path(path))
    with LOCK:
        document = _open(Path(path))
    try:
        yield document
    finally:
        with LOCK:
            document.close()


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except (OSError, ValueError) as error:  # a ValueError for an invalid file name
        why = getattr(error, "strerror", "") or error
        raise PdfError(f"{path.name} cannot be opened: {why}") from error
    if not head:
        raise PdfError(f"{path.name} is empty (zero bytes)")
    if b"%PDF-" not in head:
        web_page = any(mark in head.lower() for mark in (b"<html", b"<!doctype", b"<head"))
        raise PdfError(f"{path.name} is {'a web page, ' if web_page else ''}not a PDF")


def _open(path: Path) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(str(path))
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium_c.FPDF_ERR_PASSWORD or "assword" in str(error):
            raise PdfError(f"{path.name} is encrypted: it needs a password") from error
        raise PdfError(f"{path.name} is broken: its structure cannot be read (cut off or damaged)") from error
    if pages < 1:
        document.close()
        raise PdfError(f"{path.name} is broken: it has no pages (cut off or damaged)")
    return document


def size_of(document: pypdfium2.PdfDocument, path: str | Path, page: int) -> tuple[float, float]:
    """Return the width and height of a page, counted from 1; the caller holds the lock. Raises PdfError."""
    if not 1 <= page <= len(document):
        raise PdfError(f"{Path(path).name} has no page {page}: it has {len(document)}")
    try:
        width, height = document.get_page_size(page - 1)
    except pypdfium2.PdfiumError as error:
        raise PdfError(f"page {page} of {Path(path).name} is damaged: it cannot be loaded") from error
    return float(width), float(height)
