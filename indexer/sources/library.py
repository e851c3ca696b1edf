"""A reader's own library as a collection: what a reference manager knows of each item, and its files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import chain, count
from pathlib import Path

from corpus.bibtex import BibtexEntry, bibtex, citation_key
from corpus.language import language_code
from corpus.records import Author, Collection, Paper, paper_id
from corpus.text import one_line, storable
from indexer.errors import SourceError
from indexer.parsers import SUFFIXES, find_arxiv_id, find_doi, is_pdf, year_in
from indexer.sources.protocol import SourcePaper

LONGEST_NOTE, LONGEST_LABEL, MOST_LABELS = 20_000, 200, 100
_DASHES = re.compile(r"[-–—]+")
_KEY = re.compile(r"[^\w.]+")
_BREAKS = frozenset("p br div li ul ol tr h1 h2 h3 h4 h5 h6 blockquote".split())
_UNSEEN = frozenset(("script", "style", "head"))


@dataclass(frozen=True, slots=True)
class LibraryItem:
    """An item as its library has it, each text as it stands there; `key` names it for good.

    `kind` is the type of publication in BibTeX's words, "" for one that it does not know. `files` are those
    that are there, the likeliest to be the paper first; `missing` names those that are not,
    and `outside` those that do not lie in the library's folder. `remarks` are what else there is to report.
    `own_entry` is the BibTeX that it came as, if it did.
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

    `nameless` are the keys of those that are left out: they have neither a title nor a file.
    """

    def __init__(self, collection: Collection, items: Sequence[LibraryItem]) -> None:
        """Take the items that say anything; raises SourceError where there are none."""
        self.collection = collection
        self._items = [item for item in items if item.title.strip() or item.files]
        self.nameless = tuple(item.key for item in items if not (item.title.strip() or item.files))
        if not self._items:
            raise SourceError(f"Nothing in {collection.source} has a title or a file.")

    def __len__(self) -> int:
        return len(self._items)

    def nameless_entries(self) -> tuple[str, ...]:
        """Return a line for the report on each entry that is left out."""
        return tuple(
            f"The entry {key or 'without a key'} has neither a title nor a file, and is left out"
            for key in map(storable, self.nameless)
        )

    def papers(self) -> Iterator[SourcePaper]:
        taken: set[str] = set()
        for position, item in enumerate(self._items):
            key = _unused(_KEY.sub("-", item.key).strip("-.") or "item", taken)
            taken.add(key)
            yield self._listed(item, key, position)

    def _listed(self, item: LibraryItem, key: str, position: int) -> SourcePaper:
        file = next(iter(item.files), None)
        paper = Paper(
            id=paper_id(self.collection.id, key),
            collection_id=self.collection.id,
            title=one_line(storable(item.title)),
            authors=item.authors,
            year=year_in(item.date),
            venue=one_line(storable(item.venue)),
            abstract=one_line(plain_text(item.abstract)),
            pages=_DASHES.sub("-", one_line(item.pages)),
            url=_web_address(item.url),
            doi=find_doi(item.doi) or find_doi(item.extra),
            arxiv_id=item.arxiv_id or find_arxiv_id(f"{item.extra} {item.url} {item.doi}"),
            keywords=_labels(item.keywords),
            source=storable(item.source),
            language=language_code(item.language),
            labels=_labels(item.labels),
            notes=tuple(filter(None, (plain_text(note)[:LONGEST_NOTE] for note in item.notes))),
            position=position,
        )
        if own := item.own_entry:
            paper = replace(paper, bibtex=str(replace(own, key=own.key or citation_key(paper))))
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


def _unused(key: str, taken: set[str]) -> str:
    return next(name for name in chain([key], (f"{key}-{n}" for n in count(2))) if name not in taken)


def _web_address(url: str) -> str:
    return url.strip() if re.match(r"https?://\S+$", url.strip()) else ""


def _labels(labels: Iterable[str]) -> tuple[str, ...]:
    known = dict.fromkeys(one_line(storable(label))[:LONGEST_LABEL] for label in labels)
    return tuple(filter(None, known))[:MOST_LABELS]


def best_first(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files that can be read as papers, PDFs before others."""
    known = [file for file in files if file.name.lower().endswith(SUFFIXES)]
    return tuple(sorted(known, key=lambda file: not (file.suffix.lower() == ".pdf" and is_pdf(file))))


class _Text(HTMLParser):
    """Takes the text out of HTML; nothing of it is run or fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._unseen += tag in _UNSEEN
        self.pieces.append("\n" if tag in _BREAKS else "")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self.pieces.append("\n" if tag in _BREAKS else "")

    def handle_data(self, data: str) -> None:
        self.pieces.append("" if self._unseen else data)


def plain_text(text: str) -> str:
    """Return the text of a note or abstract that may be HTML, line by line."""
    if "<" in text or "&" in text:
        parser = _Text()
        # No tag closes behind the last ">": the parser would look for the end of each from there on.
        tags, bracket, rest = text.rpartition(">")
        parser.feed(tags + bracket + rest.replace("<", "&lt;"))
        parser.close()
        text = "".join(parser.pieces)
    lines = (" ".join(line.split()) for line in storable(text).split("\n"))
    return "\n".join(filter(None, lines))
