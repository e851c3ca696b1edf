"""Files of references as a collection: what Zotero and others export as CSL-JSON, BibTeX or RIS."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import rispy
from rispy.parser import ParseError

from corpus.records import Author
from indexer.errors import SourceError
from indexer.sources.bibtex import broken_bibtex, read_bibtex
from indexer.sources.file_links import find_files
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
_RIS_KINDS = {
    "BOOK": "book",
    "CHAP": "incollection",
    "CONF": "inproceedings",
    "CPAPER": "inproceedings",
    "JOUR": "article",
    "MGZN": "article",
    "RPRT": "techreport",
    "THES": "phdthesis",
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


def _name(name: str, *, is_whole: bool) -> Author:
    """Return an author from "Family, Given", or from "Given Family" where that is no name as a whole."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        return Author(given.rpartition(",")[2].strip(), family)
    given, _, family = name.strip().rpartition(" ")
    return Author("", name.strip()) if is_whole else Author(given, family)


def _read_ris(text: str, folder: Path) -> Iterator[LibraryItem]:
    try:
        listed = rispy.loads(text, skip_unknown_tags=False)
    except (ParseError, ValueError, LookupError) as error:
        raise SourceError(f"The file is no RIS that can be read: {str(error)[:200]}.") from error
    for number, entry in enumerate(listed, start=1):
        yield _ris_item(number, entry, folder)


def _ris_item(number: int, entry: Mapping[str, Any], folder: Path) -> LibraryItem:
    attached = [*_strings(entry.get("file_attachments1")), *_strings(entry.get("file_attachments2"))]
    named = find_files(folder, attached)
    title = _text(entry.get("title")) or _text(entry.get("primary_title"))
    doi = _text(entry.get("doi"))
    venue = ("journal_name", "secondary_title", "alternate_title1", "publisher")
    pages = [_text(entry.get("start_page")), _text(entry.get("end_page"))]
    return LibraryItem(
        kind=_RIS_KINDS.get(_text(entry.get("type_of_reference")).upper(), ""),
        key=_text(entry.get("id")) or doi or title[:60] or str(number),
        title=title,
        authors=tuple(_name(name, is_whole=True) for name in _strings(entry.get("authors"))),
        date=_text(entry.get("year")) or _text(entry.get("date")) or _text(entry.get("publication_year")),
        venue=next((_text(entry[name]) for name in venue if _text(entry.get(name))), ""),
        pages="-".join(filter(None, pages)),
        doi=doi,
        url=next(iter(_strings(entry.get("urls") or entry.get("url"))), ""),
        abstract=_text(entry.get("abstract")) or _text(entry.get("notes_abstract")),
        language=_text(entry.get("language")),
        labels=tuple(_strings(entry.get("keywords"))),
        notes=tuple(_strings(entry.get("notes"))),
        files=named.files,
        missing=named.missing,
        outside=named.outside,
        source=_text(entry.get("id")) or doi,
    )
