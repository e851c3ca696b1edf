"""BibTeX and biblatex files as items of a library."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html.entities import html5
from pathlib import Path

from corpus.bibtex.entry import own_entry
from corpus.bibtex.latex import latex_to_text, typed_text
from corpus.bibtex.syntax import BrokenEntry, ParsedEntry, parse_bibtex
from corpus.text import shortened, storable
from indexer.parsers.identifiers import find_arxiv_id, find_doi
from indexer.sources.bibtex.inheritance import CONTAINERS, Inheritance
from indexer.sources.bibtex.names import read_names
from indexer.sources.file_links import find_files
from indexer.sources.library import LibraryItem

# biblatex's types in BibTeX's terms, where they differ.
_KINDS = {
    "conference": "inproceedings",
    "inbook": "incollection",
    "report": "techreport",
    "thesis": "phdthesis",
}
_VENUES = (
    *("journal", "journaltitle", "booktitle", "maintitle", "eventtitle"),
    *("school", "institution", "organization", "publisher"),
)
_SUBTITLES = {"journaltitle": "journalsubtitle", "booktitle": "booksubtitle", "maintitle": "mainsubtitle"}
_FILES = ("file", "pdf", "local-url", "localfile")
_LONGEST_ENTITY = 12
_ENDS_SENTENCE = (".", "?", "!", ":", "—", "–")
# Fields that may name an arXiv id: "arXiv preprint arXiv:1706.03762", "10.48550/arXiv.1706.03762".
_NAMING_ARXIV = (
    *("arxiv", "arxivid", "journal", "journaltitle", "volume", "number", "howpublished", "note", "annote"),
    *("pubstate", "addendum", "publisher", "booktitle", "eid", "pages", "url", "doi", "ee", "biburl"),
)
_NUMBER_ALONE = re.compile(r"\d{7}(?:v\d+)?")


def read_bibtex(text: str, folder: Path) -> Iterator[LibraryItem]:
    """Yield the entries of a BibTeX file, with the files below a folder that they name."""
    parsed = parse_bibtex(text)
    inheritance = Inheritance(parsed.entries)
    for entry in _listed(parsed.entries):
        inherited = inheritance.fields_of(entry)
        yield _item(entry, inherited.fields, inherited.remarks, folder)


def broken_bibtex(text: str) -> list[BrokenEntry]:
    """Return the entries of a BibTeX file that cannot be read, or repeat an earlier key."""
    parsed = parse_bibtex(text)
    broken = list(parsed.broken)
    listed = set(map(id, _listed(parsed.entries)))
    for entry in parsed.entries:
        if entry.kind not in CONTAINERS and id(entry) not in listed:
            shown = shortened(storable(f"@{entry.kind}{{{entry.key}, {entry.fields.get('title', '')}"), 60)
            broken.append(BrokenEntry(entry.line, entry.key, "has the key of another before it", shown))
    return sorted(broken, key=lambda entry: entry.line)


def _listed(entries: Iterable[ParsedEntry]) -> Iterator[ParsedEntry]:
    """Yield the entries that are publications, the first of each key."""
    keys = set()
    for entry in entries:
        if entry.kind in CONTAINERS or entry.key in keys:
            continue
        if entry.key:
            keys.add(entry.key)
        yield entry


def _item(
    entry: ParsedEntry, printed: Mapping[str, str], remarks: tuple[str, ...], folder: Path
) -> LibraryItem:
    """Return an entry as an item; `printed` are its raw fields, with inherited ones."""

    def text(*names: str) -> str:
        return next((latex_to_text(printed[name]) for name in names if printed.get(name)), "")

    def typed(*names: str) -> str:
        return next((typed_text(printed[name]) for name in names if printed.get(name)), "")

    persons = "author" if printed.get("author") else "editor"
    address = re.search(r"https?://[^\s{}]+", typed("howpublished"))
    file_fields = [printed[name] for name in _FILES if printed.get(name)]
    if printed.get("url", "").lower().startswith("file:"):
        file_fields.append(printed["url"])
    links = find_files(folder, file_fields)
    return LibraryItem(
        key=entry.key,
        kind=_KINDS.get(entry.kind, entry.kind),
        title=_with_subtitle(text("title"), text("subtitle")),
        authors=tuple(read_names(printed.get(persons, ""))),
        date=f"{text('date')} {text('year')}",
        venue=next(
            (
                _with_subtitle(text(name), text(_SUBTITLES.get(name, "")))
                for name in _VENUES
                if text(name).strip()
            ),
            "",
        ),
        pages=text("pages"),
        doi=_doi(printed),
        url=typed("url", "ee") or (address[0] if address else ""),
        arxiv_id=_arxiv_id(printed),
        abstract=text("abstract"),
        language=text("langid", "language"),
        labels=tuple(latex_to_text(label) for label in _split_labels(printed.get("keywords", ""))),
        notes=tuple(filter(None, (text("annote", "annotation"),))),
        files=links.files,
        missing=links.missing,
        outside=links.outside,
        remarks=remarks,
        own_entry=own_entry(entry.kind, entry.key, printed),
        source=entry.key,
    )


def _with_subtitle(title: str, subtitle: str) -> str:
    title, subtitle = title.strip(), subtitle.strip()
    if not title or not subtitle:
        return title or subtitle
    return f"{title} {subtitle}" if title.endswith(_ENDS_SENTENCE) else f"{title}: {subtitle}"


def _split_labels(keywords: str) -> Iterator[str]:
    """Yield keywords, split at commas and semicolons outside braces, escapes and HTML entities."""
    depth = start = 0
    for mark in re.finditer(r"[{}]|[,;]", keywords):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif (
            depth <= 0
            and keywords[mark.start() - 1 : mark.start()] != "\\"
            and not _ends_entity(keywords, mark)
        ):
            yield keywords[start : mark.start()]
            start = mark.end()
    yield keywords[start:]


def _ends_entity(text: str, mark: re.Match[str]) -> bool:
    """Return True if a semicolon ends an HTML entity, such as "&uuml;"."""
    name = text[max(0, mark.start() - _LONGEST_ENTITY) : mark.end()].rpartition("&")[2]
    return mark[0] == ";" and (name in html5 or bool(re.fullmatch(r"#x?[0-9a-fA-F]+;", name)))


def _doi(printed: Mapping[str, str]) -> str:
    for name in ("doi", "url", "ee", "howpublished", "note"):
        value = typed_text(printed.get(name, ""))
        # Other fields must contain "doi": any URL may contain similar numbers.
        if (name == "doi" or "doi" in value.lower()) and (doi := find_doi(value)):
            return doi
    return ""


def _arxiv_id(printed: Mapping[str, str]) -> str:
    """Return the arXiv id of an entry, from its eprint or another field."""
    archive = typed_text(
        printed.get("archiveprefix") or printed.get("eprinttype") or printed.get("archive") or ""
    ).lower()
    eprint = typed_text(printed.get("eprint", ""))
    subject = typed_text(printed.get("primaryclass") or printed.get("eprintclass") or "")
    if eprint and "arxiv" in f"{archive} {eprint.lower()}":
        if _NUMBER_ALONE.fullmatch(eprint) and subject:
            eprint = f"{subject}/{eprint}"
        if identifier := find_arxiv_id(eprint) or find_arxiv_id(eprint, named=False):
            return identifier
    elif eprint and not archive and (identifier := find_arxiv_id(f"arXiv:{eprint}")):
        return identifier
    for name in ("arxiv", "arxivid"):
        if identifier := find_arxiv_id(typed_text(printed.get(name, "")), named=False):
            return identifier
    for name in _NAMING_ARXIV:
        if identifier := find_arxiv_id(typed_text(printed.get(name, ""))):
            return identifier
    if any(
        printed.get(name, "").strip("{} ").lower() == "arxiv" for name in ("publisher", "journal", "school")
    ):
        return find_arxiv_id(typed_text(printed.get("number", "")), named=False)
    return ""
