"""Which entries of bibliographies are papers of the corpus: by DOI, by arXiv id, or by the title's words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from corpus.records import Link, Reference
from corpus.store import rows
from corpus.store.query_cache import QueryCache
from corpus.store.tables import quoted, scan
from corpus.text import words

# A title of fewer words also occurs as a phrase: it must be the whole title of the entry.
_FEWEST_WORDS_IN_TEXT = 5
_FEWEST_LETTERS = 12
_OPENING = 4
# A preprint and its publication lie this many years apart at most.
_YEARS_APART = 2


@dataclass(frozen=True, slots=True)
class Citable:
    """What a paper can be recognised by."""

    id: str
    title: str
    year: int | None
    doi: str
    arxiv_id: str


@dataclass(slots=True)
class _Catalogue:
    """The papers by each of the ways to recognise them; the first of several alike is taken."""

    papers: dict[str, Citable] = field(default_factory=dict)
    by_doi: dict[str, str] = field(default_factory=dict)
    by_arxiv: dict[str, str] = field(default_factory=dict)
    by_title: dict[tuple[str, ...], str] = field(default_factory=dict)
    by_opening: dict[tuple[str, ...], list[tuple[str, ...]]] = field(default_factory=dict)

    def add(self, paper: Citable) -> None:
        self.papers[paper.id] = paper
        if paper.doi:
            self.by_doi.setdefault(_doi(paper.doi), paper.id)
        if paper.arxiv_id:
            self.by_arxiv.setdefault(_arxiv(paper.arxiv_id), paper.id)
        title = tuple(words(paper.title))
        if sum(map(len, title)) < _FEWEST_LETTERS or title in self.by_title:
            return
        self.by_title[title] = paper.id
        if len(title) >= _FEWEST_WORDS_IN_TEXT:
            self.by_opening.setdefault(title[:_OPENING], []).append(title)

    def find(self, entry: Reference) -> str | None:
        by_id = self.by_doi.get(_doi(entry.doi)) if entry.doi else None
        by_id = by_id or (self.by_arxiv.get(_arxiv(entry.arxiv_id)) if entry.arxiv_id else None)
        if by_id:
            return by_id
        found = self.by_title.get(tuple(words(entry.title))) or self._title_in(words(entry.text))
        return found if found and self._same_time(found, entry.year) else None

    def _title_in(self, text: Sequence[str]) -> str | None:
        """Return the paper with the longest title whose words stand in `text` one after the other."""
        found: tuple[str, ...] = ()
        for start in range(len(text) - _OPENING + 1):
            for title in self.by_opening.get(tuple(text[start : start + _OPENING]), ()):
                if len(title) > len(found) and tuple(text[start : start + len(title)]) == title:
                    found = title
        return self.by_title.get(found)

    def _same_time(self, paper: str, year: int | None) -> bool:
        own = self.papers[paper].year
        return own is None or year is None or abs(own - year) <= _YEARS_APART


def link_references(
    papers: Iterable[Citable], bibliographies: Iterable[tuple[str, Sequence[Reference]]]
) -> Iterator[Link]:
    """Yield a link for every entry that is one of `papers`; a paper is never linked to itself.

    `bibliographies` pairs the id of a paper with its entries in printed order. Papers are taken in the
    order of their ids, so that the same corpus always has the same links.
    """
    catalogue = _Catalogue()
    for paper in sorted(papers, key=lambda one: one.id):
        catalogue.add(paper)
    for citing, entries in bibliographies:
        seen: set[str] = set()
        for number, entry in enumerate(entries):
            cited = catalogue.find(entry)
            if cited and cited != citing and cited not in seen:
                seen.add(cited)
                yield Link(citing, number, cited)


def _doi(text: str) -> str:
    return text.lower().removeprefix("https://doi.org/").rstrip(".")


def _arxiv(identifier: str) -> str:
    """Return an arXiv id without its version."""
    base, mark, version = identifier.rpartition("v")
    return base if mark and version.isdecimal() else identifier


class CitationLinks:
    """The links of a published corpus, between its papers."""

    def __init__(self, table: Any, cache: QueryCache) -> None:
        self._table, self._cache = table, cache

    def from_paper(self, paper_id: str) -> tuple[Link, ...]:
        """Return which entries of a paper's bibliography are papers of this corpus, in printed order."""
        return self._links("citing", paper_id)

    def to_paper(self, paper_id: str) -> tuple[Link, ...]:
        """Return which papers of this corpus cite a paper."""
        return self._links("cited", paper_id)

    def _links(self, side: Literal["citing", "cited"], paper_id: str) -> tuple[Link, ...]:
        def read() -> tuple[Link, ...]:
            table = scan(self._table, rows.LINKS.names, f"{side} = {quoted(paper_id)}")
            ordered = table.sort_by([("citing", "ascending"), ("reference", "ascending")])
            return tuple(Link(**row) for row in ordered.to_pylist())

        return self._cache.answer((side, paper_id), read)
