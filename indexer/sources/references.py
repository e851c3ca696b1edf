"""Files of references as a collection: what Zotero and others export as CSL-JSON, BibTeX or RIS."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus.records import Author
from indexer.errors import SourceError
from indexer.sources.bibtex import broken_bibtex, read_bibtex
from indexer.sources.file_links import find_files
from indexer.sources.formats.ris import read_ris
from indexer.sources.library import LibraryItem

LARGEST_FILE = 256 * 1024 * 1024
_REASONS = 3
_LIST = re.compile(r"[,;]")
# Types of publications in BibTeX's words.
_CSL_KINDS = {
    "article-journal": "article",
    "article-magazine": "article",
    "article-newspaper": "article",
    "book": "book",
    "chapter": "incollection",
    "paper-conference": "inproceedings",
    "report": "techreport",
    "thesis": "phdthesis",
}


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
    text = _read_text(path)
    items = tuple(reader(text, path.parent))
    if not items:
        why = " ".join(unreadable_entries(path)[:_REASONS])
        raise SourceError(
            f"{path.name} holds no references that can be read as {path.suffix[1:].upper()}. {why}".strip()
        )
    return items


def unreadable_entries(path: Path) -> tuple[str, ...]:
    """Return a line on each entry of a BibTeX file that cannot be read; raises SourceError."""
    if path.suffix.lower() != ".bib":
        return ()
    return tuple(
        f"Line {entry.line} of {path.name} begins an entry that {entry.reason}, and is left out: {entry.text}"
        for entry in broken_bibtex(_read_text(path))
    )


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SourceError(f"{path.name} is larger than {LARGEST_FILE // 2**20} MB.")
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error


def _read_csl(text: str, folder: Path) -> Iterator[LibraryItem]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"The file is not JSON: {str(error)[:200]}.") from error
    listed = read.get("items", []) if isinstance(read, dict) else read
    if not isinstance(listed, list):
        raise SourceError("The file is JSON, and no list of references in CSL's form.")
    for entry in listed:
        if isinstance(entry, dict):
            yield _csl_item(entry, folder)


def _csl_item(entry: Mapping[str, Any], folder: Path) -> LibraryItem:
    named = find_files(folder, _strings(entry.get("file")))
    return LibraryItem(
        kind=_CSL_KINDS.get(_text(entry.get("type")), ""),
        key=_text(entry.get("citation-key")) or _text(entry.get("id")).rpartition("/")[2],
        title=_text(entry.get("title")),
        authors=tuple(_csl_names(entry.get("author") or entry.get("editor"))),
        date=_csl_date(entry.get("issued")),
        venue=_text(entry.get("container-title")) or _text(entry.get("publisher")),
        pages=_text(entry.get("page")),
        doi=_text(entry.get("DOI")),
        url=_text(entry.get("URL")),
        extra=_text(entry.get("note")),
        abstract=_text(entry.get("abstract")),
        language=_text(entry.get("language")),
        labels=tuple(_LIST.split(_text(entry.get("keyword")))),
        notes=(_text(entry.get("annote")),),
        files=named.files,
        missing=named.missing,
        outside=named.outside,
        source=_text(entry.get("id")),
    )


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _strings(value: object) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]


def _csl_names(value: object) -> Iterator[Author]:
    for name in value if isinstance(value, list) else ():
        if isinstance(name, dict):
            particle = _text(name.get("non-dropping-particle")) or _text(name.get("dropping-particle"))
            family = _text(name.get("family")) or _text(name.get("literal"))
            if family:
                yield Author(_text(name.get("given")), f"{particle} {family}".strip())


def _csl_date(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    parts = value.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    return _text(first[0]) if first else _text(value.get("raw")) or _text(value.get("literal"))


def _read_ris(text: str, folder: Path) -> Iterator[LibraryItem]:
    return (_with_files(item, names, folder) for item, names in read_ris(text))


def _with_files(item: LibraryItem, names: Iterable[str], folder: Path) -> LibraryItem:
    found = find_files(folder, names)
    return replace(item, files=found.files, missing=found.missing, outside=found.outside)
