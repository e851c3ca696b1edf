"""CSL-JSON and its variants of Crossref, Zotero and Better BibTeX, in lists, wrapped or single."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from corpus.records import Author
from indexer.errors import SourceError
from indexer.parsers.identifiers import find_arxiv_id, year_in
from indexer.sources.formats.names import named, names_nobody, read_name
from indexer.sources.library import LibraryItem
from indexer.sources.zotero import KINDS, NO_PAPERS, VENUES

_KINDS = {
    "article-journal": "article",
    "article-magazine": "article",
    "article-newspaper": "article",
    "book": "book",
    "chapter": "incollection",
    "entry-encyclopedia": "incollection",
    "paper-conference": "inproceedings",
    "report": "techreport",
    "thesis": "phdthesis",
    # Crossref's.
    "book-chapter": "incollection",
    "dissertation": "phdthesis",
    "edited-book": "book",
    "journal-article": "article",
    "monograph": "book",
    "proceedings-article": "inproceedings",
    "reference-book": "book",
    **KINDS,
}
# Keys under which Zotero, Better BibTeX, Crossref, pandoc and search engines wrap references.
_WRAPPERS = ("items", "references", "results", "entries", "data", "csljson", "message")
_WRAPPED_ITEMS = ("csljson", "data")
_OF_AN_ITEM = frozenset(("DOI", "author", "creators", "issued", "itemType", "title"))
_ROLES = ("author", "authors", "creators", "editor", "collection-editor", "director", "translator")
# Not "created" and "accessed", the dates of the record itself.
_DATES = (
    *("issued", "published", "published-print", "published-online", "posted", "date", "year"),
    *("publication_year", "event-date"),
)
_VENUES = (
    *("container-title", *VENUES[:-1], "event-title", "event", "venue", "journal", "collection-title"),
    *("journalAbbreviation", "container-title-short", "short-container-title", "group-title", "publisher"),
)
_LABELS = re.compile(r"[,;]")
_CITATION_KEY = re.compile(r"^[ \t]*citation[ -]key:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_NAMES = re.compile(r";| and ")
_ELIDED = ("'", "’", "-")

Entry = Mapping[str, Any]


def read_csl(text: str) -> Iterator[tuple[LibraryItem, tuple[str, ...]]]:
    """Yield each reference as an item without files, and the names of its files; raises SourceError."""
    for entry in _entries(text):
        if isinstance(entry, dict) and _text(entry.get("itemType")) not in NO_PAPERS:
            names = (*_listed_texts(entry.get("file")), *_listed_texts(entry.get("attachments")))
            yield _item(entry), names


def broken_csl(text: str) -> tuple[int, ...]:
    """Return the numbers, from 1, of the listed entries that are no objects; raises SourceError."""
    return tuple(n for n, entry in enumerate(_entries(text), start=1) if not isinstance(entry, dict))


def _entries(text: str) -> list[Any]:
    """Return the listed references, unwrapped."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        value = _lines(text)
        if not value:
            raise SourceError(f"The file is not JSON: {str(error)[:200]}.") from error
    return [_unwrapped(entry) for entry in _listed(value)]


def _lines(text: str) -> list[Any]:
    """Return the values of a file of JSON lines, none if any line is not JSON."""
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return []


def _listed(value: object) -> list[Any]:
    for _ in range(len(_WRAPPERS)):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            break
        inner = next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list | dict)), None)
        if inner is None or (_OF_AN_ITEM & value.keys() and not isinstance(inner, list)):
            return _alone(value)
        value = inner
    raise SourceError(
        "The file is JSON, and no list of references in CSL's form. Export the library as CSL-JSON, "
        "BibTeX or RIS."
    )


def _alone(value: dict[str, Any]) -> list[Any]:
    """Return a single reference as a list, or references that are stored by key."""
    if _OF_AN_ITEM & value.keys():
        return [value]
    if value and all(isinstance(entry, dict) and _OF_AN_ITEM & entry.keys() for entry in value.values()):
        return [{"id": key, **entry} for key, entry in value.items()]
    raise SourceError(
        "The file is JSON, and no list of references in CSL's form: it has no title, author or date. "
        "Export the library as CSL-JSON, BibTeX or RIS."
    )


def _unwrapped(entry: Any) -> Any:
    """Return an entry of Zotero's API without the object that wraps it."""
    if not isinstance(entry, dict) or _OF_AN_ITEM & entry.keys():
        return entry
    inner = next((entry[name] for name in _WRAPPED_ITEMS if isinstance(entry.get(name), dict)), None)
    return entry if inner is None else {"key": entry.get("key"), **inner}


def _item(entry: Entry) -> LibraryItem:
    note = _first(entry, "note", "extra")
    citation_key = _CITATION_KEY.search(note)
    external = entry.get("externalIds")
    ids: Entry = external if isinstance(external, dict) else {}
    return LibraryItem(
        kind=_KINDS.get(_first(entry, "type", "itemType"), ""),
        key=(
            _first(entry, "citation-key", "citationKey", "citekey")
            or (citation_key[1] if citation_key else "")
            or _first(entry, "id", "itemKey", "key", "DOI").rpartition("/")[2]
        ),
        title=_title(entry),
        authors=tuple(_authors(entry)),
        date=next((date for name in _DATES if year_in(date := _date(entry.get(name)))), ""),
        venue=_first(entry, *_VENUES) or next(iter(_listed_texts(entry.get("institution"))), ""),
        pages=_first(entry, "page", "pages", "article-number"),
        doi=_first(entry, "DOI", "doi") or _text(ids.get("DOI")),
        url=_first(entry, "URL", "url"),
        extra=" ".join(filter(None, (note, _arxiv(entry, ids)))),
        abstract=" ".join(_listed_texts(entry.get("abstract"))) or _first(entry, "abstractNote"),
        language=_first(entry, "language"),
        labels=tuple(_labels(entry, "keyword", "keywords", "tags", "categories")),
        keywords=tuple(_labels(entry, "subject")),
        notes=(_first(entry, "annote"), *_listed_texts(entry.get("notes"))),
        source=_first(entry, "id", "itemKey", "key"),
    )


def _text(value: object) -> str:
    """Return a text or number as text, for a list its first that is not empty."""
    if isinstance(value, list):
        return next(filter(None, map(_text, (entry for entry in value if not isinstance(entry, list)))), "")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _first(entry: Entry, *names: str) -> str:
    return next(filter(None, (_text(entry.get(name)) for name in names)), "")


def _listed_texts(value: object) -> list[str]:
    """Return the texts of a list, whose entries may be objects: {"tag": "owls"}."""
    texts = []
    for entry in value if isinstance(value, list) else [value]:
        inner = (
            _first(entry, "tag", "note", "name", "path", "localPath") if isinstance(entry, dict) else entry
        )
        if text := _text(inner):
            texts.append(text)
    return texts


def _title(entry: Entry) -> str:
    """Return the title with the subtitle that Crossref stores separately."""
    of_others = ("caseName", "subject") if "itemType" in entry else ()
    title, subtitle = _first(entry, "title", *of_others), _first(entry, "subtitle")
    if not subtitle or subtitle.casefold() in title.casefold():
        return title
    return f"{title.rstrip(':')}: {subtitle}" if title else subtitle


def _labels(entry: Entry, *fields: str) -> Iterator[str]:
    for field in fields:
        value = entry.get(field)
        yield from _LABELS.split(value) if isinstance(value, str) else _listed_texts(value)


def _arxiv(entry: Entry, ids: Entry) -> str:
    """Return the arXiv id as "arXiv:...", from the fields where tools store it, else ""."""
    places = ("number", "archive_location", "archiveLocation", "archiveID", "reportNumber", "eprint", "arxiv")
    texts = [text for name in places if (text := _first(entry, name))]
    names_arxiv = any(
        "arxiv" in _first(entry, name).lower()
        for name in ("archive", "publisher", "source", "repository", "eprinttype", "libraryCatalog")
    )
    text = next((text for text in texts if find_arxiv_id(text)), "")
    if not text and names_arxiv:
        text = next(filter(None, (find_arxiv_id(each, named=False) for each in texts)), "")
    return f"arXiv:{text}" if (text := text or _first(ids, "ArXiv")) else ""


def _authors(entry: Entry) -> Iterator[Author]:
    """Yield the authors; without any, as for proceedings, the editors or other creators."""
    for role in _ROLES:
        value = entry.get(role)
        listed = value if isinstance(value, list) else _NAMES.split(" ".join(_text(value).split()))
        if role == "creators":
            authored = [n for n in listed if isinstance(n, dict) and n.get("creatorType") == "author"]
            listed = authored or listed
        if authors := [author for name in listed if (author := _author(name, role))]:
            yield from authors
            return


def _author(name: object, role: str) -> Author | None:
    if isinstance(name, str):
        return read_name(name)
    if not isinstance(name, dict):
        return None
    family, given = _first(name, "family", "lastName"), _first(name, "given", "firstName")
    whole = _first(name, "literal", "name", "display_name")
    if whole and not (family and given):
        # Groups in CSL and Zotero, but any author in search engines' "authors".
        return read_name(whole) if role == "authors" or names_nobody(whole) else Author("", whole)
    if not family:
        return Author("", given) if given else None
    particles = (_first(name, "dropping-particle"), _first(name, "non-dropping-particle"))
    particle = " ".join(filter(None, particles))
    if particle.endswith(_ELIDED):
        family, particle = f"{particle}{family}", ""
    author = named(given, family, particle, _first(name, "suffix"))
    return None if names_nobody(author.name) else author


def _date(value: object) -> str:
    """Return the year or text of a date of CSL, pandoc or Crossref, or of a string; "" for none."""
    if isinstance(value, list):
        return next(filter(None, map(_date, value[:1])), "")
    if not isinstance(value, dict):
        return _text(value)
    parts = _date(value.get("date-parts"))
    alternatives = (_first(value, name) for name in ("year", "raw", "literal", "edtf", "date-time"))
    return next(filter(year_in, (parts, *alternatives)), "")
