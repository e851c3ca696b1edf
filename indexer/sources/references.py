"""Files of references as a collection: CSL-JSON, BibTeX or RIS, as Zotero and others export them."""

import codecs
import contextlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from indexer.errors import SourceError
from indexer.parsers.decoding import Decoded, EncodingError, decode
from indexer.sources.bibtex.reader import broken_bibtex, read_bibtex
from indexer.sources.file_links import find_files
from indexer.sources.formats.csl import broken_csl, read_csl
from indexer.sources.formats.ris import read_ris
from indexer.sources.library import LibraryItem

LARGEST_FILE = 256 * 1024 * 1024
_REASONS = 3
# "% Encoding: Cp1250" of JabRef, "Content: text/plain; charset=..." of databases.
_DECLARED = re.compile(rb"(?:encoding:|charset=)[ \t]*[\"']?([A-Za-z0-9_-]{3,20})", re.IGNORECASE)
_LONGEST_HEAD = 1_000


def read_references(path: Path) -> tuple[LibraryItem, ...]:
    """Read a file of references, with the files they name below its folder; raises SourceError."""
    readers: Mapping[str, Callable[[str, Path], Iterable[LibraryItem]]] = {
        ".json": lambda text, folder: _with_files(read_csl(text), folder),
        ".bib": read_bibtex,
        ".ris": lambda text, folder: _with_files(read_ris(text), folder),
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SourceError(f"{path.name} is none of {', '.join(readers)}: export the library as one of these.")
    text = _read_file(path).text
    items = tuple(reader(text, path.parent))
    if not items:
        why = " ".join(unreadable_entries(path)[:_REASONS])
        raise SourceError(
            f"{path.name} holds no references that can be read as {path.suffix[1:].upper()}. {why}".strip()
        )
    return items


def unreadable_entries(path: Path) -> tuple[str, ...]:
    """Return a line on each unreadable entry, and on the encoding if it is not UTF-8; raises SourceError."""
    file, suffix = _read_file(path), path.suffix.lower()
    problems = [f"{path.name}: {remark}" for remark in file.remarks]
    if suffix == ".json":
        numbers = broken_csl(file.text)
        problems += (f"Entry {number} of {path.name} is no reference, and is left out" for number in numbers)
    if suffix == ".bib":
        problems += (
            f"Line {entry.line} of {path.name} begins an entry that {entry.reason}, "
            f"and is left out: {entry.text}"
            for entry in broken_bibtex(file.text)
        )
    return tuple(problems)


def _read_file(path: Path) -> Decoded:
    """Return the decoded text of a file in Unicode's NFC, with remarks; raises SourceError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SourceError(f"{path.name} is larger than {LARGEST_FILE // 2**20} MB.")
        content = path.read_bytes()
        decoded = _as_declared(content) or decode(content)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except EncodingError as error:
        raise SourceError(f"{path.name} {error}.") from error
    # Byte order marks remain where files were concatenated.
    text = unicodedata.normalize("NFC", decoded.text.replace("\ufeff", ""))
    return replace(decoded, text=text)


def _as_declared(content: bytes) -> Decoded | None:
    """Return the text in the encoding that its first lines declare; None for UTF-8, or without one."""
    declared = _DECLARED.search(content[:_LONGEST_HEAD])
    if declared is None:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        content.decode("utf-8")
        return None
    try:
        encoding = codecs.lookup(declared[1].decode("ascii")).name
        text = content.decode(encoding)
    except (LookupError, UnicodeError):
        return None
    return Decoded(text, encoding, (f"the text is not UTF-8; it was read as {encoding}, as it says",))


def _with_files(entries: Iterable[tuple[LibraryItem, Iterable[str]]], folder: Path) -> Iterator[LibraryItem]:
    for item, names in entries:
        links = find_files(folder, names)
        yield replace(item, files=links.files, missing=links.missing, outside=links.outside)
