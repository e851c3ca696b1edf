"""Files of references as a collection: what Zotero and others export as CSL-JSON, BibTeX or RIS."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares import BlockMiddleware, LatexDecodingMiddleware
from bibtexparser.model import DuplicateBlockKeyBlock, ParsingFailedBlock
from rispy.parser import ParseError

from corpus.records import Author
from corpus.text import shortened, storable
from indexer.errors import SourceError
from indexer.sources.containment import file_within, is_file
from indexer.sources.library import LibraryItem, best_first

LARGEST_FILE = 256 * 1024 * 1024
_LIST = re.compile(r"[,;]")
# "Full Text:files/12/a.pdf:application/pdf", a colon or semicolon in a name behind a backslash.
_FILE_PARTS = re.compile(r"(?<!\\);")
_FILE_FIELDS = re.compile(r"(?<!\\):")
_ESCAPED = re.compile(r"\\([:;\\{}_$&%#])")
_AND = re.compile(" and ", re.IGNORECASE)

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
# BibLaTeX's, where they are others.
_BIBTEX_KINDS = {
    "conference": "inproceedings",
    "inbook": "incollection",
    "report": "techreport",
    "thesis": "phdthesis",
}

# Faults of entries are reported after the build, in words for its operator.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())
logging.getLogger("bibtexparser").propagate = False


class _NamedFiles(NamedTuple):
    files: tuple[Path, ...]
    missing: tuple[str, ...]
    outside: tuple[str, ...]


def read_references(path: Path) -> tuple[LibraryItem, ...]:
    """Read a file of references, with the files they name below its folder; raises SourceError."""
    readers: Mapping[str, Callable[[str, Path], Iterable[LibraryItem]]] = {
        ".json": _read_csl,
        ".bib": _read_bibtex,
        ".ris": _read_ris,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SourceError(f"{path.name} is none of {', '.join(readers)}: export the library as one of these.")
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SourceError(f"{path.name} is larger than {LARGEST_FILE // 2**20} MB.")
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    items = tuple(reader(text, path.parent))
    if not items:
        raise SourceError(f"{path.name} holds no references that can be read as {path.suffix[1:].upper()}.")
    return items


def unreadable_entries(path: Path) -> tuple[str, ...]:
    """Return a line on each entry of a BibTeX file that cannot be read; raises SourceError."""
    if path.suffix.lower() != ".bib":
        return ()
    failed = _parsed(path.read_text(encoding="utf-8-sig", errors="replace")).failed_blocks
    return tuple(
        f"Line {(block.start_line or 0) + 1} of {path.name} begins an entry that {_why_failed(block)}, and "
        f"is left out: {shortened(' '.join(storable(block.raw or '').split()), 60)}"
        for block in failed
    )


def _why_failed(block: ParsingFailedBlock) -> str:
    is_double = isinstance(block, DuplicateBlockKeyBlock)
    return "has the key of another before it" if is_double else "cannot be read"


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
    named = _found(folder, _strings(entry.get("file")))
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


def _read_bibtex(text: str, folder: Path) -> Iterator[LibraryItem]:
    plain, decoded = _parsed(text), _parsed(text, LatexDecodingMiddleware())
    # Names of files are no LaTeX, and braces say what is one name.
    printed = {entry.key: entry.fields_dict for entry in plain.entries}
    for entry in decoded.entries:
        values = {name.lower(): str(field.value) for name, field in entry.fields_dict.items()}
        before = {name.lower(): str(field.value) for name, field in printed[entry.key].items()}
        item = _bibtex_item(entry.key, values, before, folder)
        yield replace(item, kind=_BIBTEX_KINDS.get(kind := entry.entry_type.lower(), kind))


def _parsed(text: str, *more: BlockMiddleware) -> Library:
    try:
        return parse_string(text, append_middleware=more)
    except (ValueError, RecursionError, IndexError) as error:
        raise SourceError(f"The file is no BibTeX that can be read: {str(error)[:200]}.") from error


def _bibtex_item(
    key: str, values: Mapping[str, str], printed: Mapping[str, str], folder: Path
) -> LibraryItem:
    """Return an entry: `values` are its fields as text, `printed` as they stand in the file."""
    parts = _FILE_PARTS.split(printed.get("file", ""))
    named = _found(folder, [_bibtex_path(part) for part in parts if part.strip()])
    persons = "author" if values.get("author") else "editor"
    venue = ("journal", "journaltitle", "booktitle", "school", "institution", "publisher")
    labels = _LIST.split(values.get("keywords", ""))
    return LibraryItem(
        key=key,
        title=_unbraced(values.get("title", "")),
        authors=tuple(_bibtex_names(values.get(persons, ""), printed.get(persons, ""))),
        date=values.get("date") or values.get("year", ""),
        venue=_unbraced(next((values[name] for name in venue if values.get(name)), "")),
        pages=values.get("pages", ""),
        doi=values.get("doi", ""),
        url=values.get("url", ""),
        extra=f"{values.get('archiveprefix', '')}:{values.get('eprint', '')} {values.get('note', '')}",
        abstract=_unbraced(values.get("abstract", "")),
        language=values.get("langid") or values.get("language", ""),
        labels=tuple(labels),
        notes=(_unbraced(values.get("annote") or values.get("annotation", "")),),
        files=named.files,
        missing=named.missing,
        outside=named.outside,
        source=key,
    )


def _unbraced(text: str) -> str:
    return text.replace("{", "").replace("}", "").strip()


def _bibtex_names(text: str, printed: str) -> Iterator[Author]:
    """Yield the names of a field; one in braces is a group's."""
    names, before = (_AND.split(" ".join(names.split())) for names in (text, printed))
    braced = [name.strip().startswith("{") for name in before] if len(before) == len(names) else []
    for at, name in enumerate(names):
        if name.strip() and name.strip() != "others":
            yield _name(_unbraced(name), is_whole=bool(braced) and braced[at])


def _name(name: str, *, is_whole: bool) -> Author:
    """Return an author from "Family, Given", or from "Given Family" where that is no name as a whole."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        return Author(given.rpartition(",")[2].strip(), family)
    given, _, family = name.strip().rpartition(" ")
    return Author("", name.strip()) if is_whole else Author(given, family)


def _bibtex_path(part: str) -> str:
    """Return the path in one part of a `file` field: "Description:path:type", or a path alone."""
    fields = [_ESCAPED.sub(r"\1", one).strip() for one in _FILE_FIELDS.split(part)]
    return fields[-2] if len(fields) >= 3 else fields[-1]


def _read_ris(text: str, folder: Path) -> Iterator[LibraryItem]:
    try:
        listed = rispy.loads(text, skip_unknown_tags=False)
    except (ParseError, ValueError, LookupError) as error:
        raise SourceError(f"The file is no RIS that can be read: {str(error)[:200]}.") from error
    for number, entry in enumerate(listed, start=1):
        yield _ris_item(number, entry, folder)


def _ris_item(number: int, entry: Mapping[str, Any], folder: Path) -> LibraryItem:
    attached = [*_strings(entry.get("file_attachments1")), *_strings(entry.get("file_attachments2"))]
    named = _found(folder, [name for one in attached for name in one.split(";") if name.strip()])
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


def _found(folder: Path, names: Iterable[str]) -> _NamedFiles:
    """Return the files of these names below a folder, and the names of those missing or elsewhere.

    An export may name any file of its machine, and may come from anybody: only its own folder is read.
    """
    files, missing, outside = [], [], []
    for name in names:
        bare = name.strip().removeprefix("file://")
        path = file_within(folder, bare)
        if path is None:
            outside.append(Path(bare).name or "a file")
        elif is_file(path):
            files.append(path)
        else:
            missing.append(Path(bare).name or "a file")
    return _NamedFiles(best_first(files), tuple(missing), tuple(outside))
