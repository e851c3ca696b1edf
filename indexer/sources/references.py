"""Files of references as a collection: what Zotero and others export as CSL-JSON, BibTeX or RIS."""

import codecs
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
        ".json": _read_csl,
        ".bib": read_bibtex,
        ".ris": _read_ris,
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
    """Return a line on each entry of a file that cannot be read, and on its encoding; raises SourceError."""
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
    """Return the text of a file, whatever its encoding, composed, and remarks; raises SourceError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SourceError(f"{path.name} is larger than {LARGEST_FILE // 2**20} MB.")
        content = path.read_bytes()
        decoded = _as_declared(content) or decode(content)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except EncodingError as error:
        raise SourceError(f"{path.name} {error}.") from error
    # Another mark stands where two files were joined.
    text = unicodedata.normalize("NFC", decoded.text.replace("\ufeff", ""))
    return replace(decoded, text=text)


def _as_declared(content: bytes) -> Decoded | None:
    """Return the text in the encoding that its first lines name; None for UTF-8, or where none is named."""
    declared = _DECLARED.search(content[:_LONGEST_HEAD])
    if declared is None or _is_utf8(content):
        return None
    try:
        encoding = codecs.lookup(declared[1].decode("ascii")).name
        text = content.decode(encoding)
    except (LookupError, UnicodeError):
        return None
    return Decoded(text, encoding, (f"the text is not UTF-8; it was read as {encoding}, as it says",))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_csl(text: str, folder: Path) -> Iterator[LibraryItem]:
    return (_with_files(item, names, folder) for item, names in read_csl(text))


def _read_ris(text: str, folder: Path) -> Iterator[LibraryItem]:
    return (_with_files(item, names, folder) for item, names in read_ris(text))


def _with_files(item: LibraryItem, names: Iterable[str], folder: Path) -> LibraryItem:
    found = find_files(folder, names)
    return replace(item, files=found.files, missing=found.missing, outside=found.outside)
