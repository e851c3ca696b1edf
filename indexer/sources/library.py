"""A reader's own library as a collection: the metadata of a reference manager, and its files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.bibtex.entry import BibtexEntry, bibtex, citation_key
from corpus.language.names import language_code
from corpus.markup.prose import plain_markup
from corpus.records import Author, Collection, Paper, paper_id
from corpus.text import one_line, storable
from indexer.errors import SourceError
from indexer.parsers.identifiers import find_arxiv_id, find_doi, year_in
from indexer.parsers.registry import SUFFIXES, is_pdf
from indexer.sources.folder import unused_key
from indexer.sources.protocol import SourcePaper

LONGEST_NOTE, LONGEST_LABEL, MOST_LABELS = 20_000, 200, 100
_DASHES = re.compile(r"[-–—]+")
_KEY = re.compile(r"[^\w.]+")
_HEADING = re.compile(r"(?:abstract|summary)\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LibraryItem:
    """An item with its library's raw texts; `key` is permanent.

    `kind` is the publication type in BibTeX's terms, "" for an unknown one. `files` are those that exist, the
    likeliest to be the paper first; `missing` names those that do not, and `outside` those out of the
    library's folder. `remarks` go into the report. `own_entry` is the item's BibTeX, if that is its source.
    """

    key: str
    kind: str = ""
    title: str = ""
    authors: tuple[Author, ...] = ()
    date: str = ""
    venue: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""
    extra: str = ""
    abstract: str = ""
    language: str = ""
    labels: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    source: str = ""
    arxiv_id: str = ""
    remarks: tuple[str, ...] = ()
    own_entry: BibtexEntry | None = None


class LibraryPapers:
    """The items of a library as the papers of a collection, in their order.

    `nameless` are the keys of items without a title or a file, which are left out.
    """

    def __init__(self, collection: Collection, items: Sequence[LibraryItem]) -> None:
        """Take the items with a title or a file; raises SourceError if there are none."""
        self.collection = collection
        self._items = [item for item in items if item.title.strip() or item.files]
        self.nameless = tuple(item.key for item in items if not (item.title.strip() or item.files))
        if not self._items:
            raise SourceError(f"Nothing in {collection.source} has a title or a file.")

    def __len__(self) -> int:
        return len(self._items)

    def nameless_entries(self) -> tuple[str, ...]:
        """Return a line for the report on each item that is left out."""
        return tuple(
            f"The entry {key or 'without a key'} has neither a title nor a file, and is left out"
            for key in map(storable, self.nameless)
        )

    def papers(self) -> Iterator[SourcePaper]:
        keys: set[str] = set()
        for position, item in enumerate(self._items):
            key = unused_key(_KEY.sub("-", item.key).strip("-.") or "item", keys)
            keys.add(key)
            yield self._listed(item, key, position)

    def _listed(self, item: LibraryItem, key: str, position: int) -> SourcePaper:
        file = next(iter(item.files), None)
        paper = Paper(
            id=paper_id(self.collection.id, key),
            collection_id=self.collection.id,
            title=one_line(plain_markup(item.title)),
            authors=tuple(map(_without_markup, item.authors)),
            year=year_in(item.date),
            venue=one_line(plain_markup(item.venue)),
            abstract=_abstract(item.abstract),
            pages=_DASHES.sub("-", one_line(plain_markup(item.pages))),
            url=item.url.strip() if re.match(r"https?://\S+$", item.url.strip()) else "",
            doi=find_doi(item.doi) or find_doi(item.extra),
            arxiv_id=item.arxiv_id or find_arxiv_id(f"{item.extra} {item.url} {item.doi}"),
            keywords=_labels(item.keywords),
            source=storable(item.source),
            language=language_code(item.language),
            labels=_labels(item.labels),
            notes=tuple(filter(None, (plain_markup(note)[:LONGEST_NOTE] for note in item.notes))),
            position=position,
        )
        if entry := item.own_entry:
            paper = replace(paper, bibtex=str(replace(entry, key=entry.key or citation_key(paper))))
        elif item.kind and paper.title and paper.authors:
            paper = replace(paper, bibtex=bibtex(paper, item.kind))
        notes = (
            *(f"{storable(name)} is missing" for name in item.missing),
            *(
                f"{storable(name)} lies outside the library's folder, and is not read"
                for name in item.outside
            ),
            *map(storable, item.remarks),
        )
        return SourcePaper(paper.title or (file.name if file else key), paper, file, notes=notes)


def _abstract(text: str) -> str:
    """Return an abstract without the heading that JATS adds."""
    plain = plain_markup(text)
    heading = _HEADING.match(plain)
    return one_line(plain[heading.end() :] if heading else plain)


def _without_markup(author: Author) -> Author:
    given, family = (one_line(plain_markup(name)) for name in (author.given, author.family))
    return replace(author, given=given, family=family)


def _labels(labels: Iterable[str]) -> tuple[str, ...]:
    unique = dict.fromkeys(one_line(plain_markup(label))[:LONGEST_LABEL] for label in labels)
    return tuple(filter(None, unique))[:MOST_LABELS]


def best_first(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files that can be read as papers, PDFs before others."""
    readable = [file for file in files if file.name.lower().endswith(SUFFIXES)]
    return tuple(sorted(readable, key=lambda file: not (file.suffix.lower() == ".pdf" and is_pdf(file))))
