"""Who cites whom: which entries of bibliographies are papers of the corpus, and the links of a published one.

An entry is recognised by its DOI, its arXiv id, or the words of its title.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.records import Link, Reference
from corpus.store import rows
from corpus.store.query_cache import QueryCache
from corpus.store.tables import quoted, scan
from corpus.text import words

Bibliography = tuple[str, Sequence[Reference]]
"""The id of a paper with its entries in printed order."""

# A title of fewer words also occurs as a phrase: it must be the whole title of the entry.
_FEWEST_WORDS_IN_TEXT = 5
_FEWEST_LETTERS = 12
_OPENING = 4
# Of many alternatives a pattern loses its speed.
_AT_ONCE = 32
# A preprint and its publication lie this many years apart at most.
_YEARS_APART = 2


@dataclass(frozen=True, slots=True)
class Citable:
    """The fields by which a paper is recognised."""

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

    @classmethod
    def of(cls, papers: Iterable[Citable]) -> "_Catalogue":
        """Return a catalogue of papers in the order of their ids: so the same papers are always first."""
        catalogue = cls()
        for paper in sorted(papers, key=lambda one: one.id):
            catalogue.add(paper)
        return catalogue

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
        if by_id := self._called(entry):
            return by_id
        found = self._titled(entry)
        return found if found and self._same_time(found, entry.year) else None

    def mentions(self, entry: Reference) -> bool:
        """Return True if what an entry is may depend on a paper here, whatever others there are."""
        return bool(self._called(entry) or self._titled(entry))

    def _called(self, entry: Reference) -> str | None:
        by_id = self.by_doi.get(_doi(entry.doi)) if entry.doi else None
        return by_id or (self.by_arxiv.get(_arxiv(entry.arxiv_id)) if entry.arxiv_id else None)

    def _titled(self, entry: Reference) -> str | None:
        return self.by_title.get(tuple(words(entry.title))) or self._title_in(words(entry.text))

    def _title_in(self, text: Sequence[str]) -> str | None:
        """Return the paper with the longest title whose words stand in `text` one after the other."""
        found: tuple[str, ...] = ()
        for start, opening in enumerate(_openings(text)):
            for title in self.by_opening.get(opening, ()):
                if len(title) > len(found) and tuple(text[start : start + len(title)]) == title:
                    found = title
        return self.by_title.get(found)

    def _same_time(self, paper: str, year: int | None) -> bool:
        own = self.papers[paper].year
        return own is None or year is None or abs(own - year) <= _YEARS_APART


def link_references(papers: Iterable[Citable], bibliographies: Iterable[Bibliography]) -> Iterator[Link]:
    """Yield a link for every entry that is one of `papers`; a paper is never linked to itself.

    Papers are taken in the order of their ids, so that the same corpus always has the same links.
    """
    catalogue = _Catalogue.of(papers)
    for citing, entries in bibliographies:
        seen: set[str] = set()
        for number, entry in enumerate(entries):
            cited = catalogue.find(entry)
            if cited and cited != citing and cited not in seen:
                seen.add(cited)
                yield Link(citing, number, cited)


def may_be_cited(bibliographies: Iterable[Bibliography]) -> Callable[[Citable], bool]:
    """Return a filter of the papers that entries may cite; without the others the links stay the same."""
    entries = [entry for _, own in bibliographies for entry in own]
    dois = {_doi(entry.doi) for entry in entries if entry.doi}
    arxiv = {_arxiv(entry.arxiv_id) for entry in entries if entry.arxiv_id}
    titles = {tuple(words(entry.title)) for entry in entries}
    openings = {opening for entry in entries for opening in _openings(words(entry.text))}

    def may_be(paper: Citable) -> bool:
        if (paper.doi and _doi(paper.doi) in dois) or (paper.arxiv_id and _arxiv(paper.arxiv_id) in arxiv):
            return True
        title = tuple(words(paper.title))
        return title in titles or title[:_OPENING] in openings

    return may_be


def citing(papers: Iterable[Citable], bibliographies: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Yield the ids of those whose links may change when `papers` come or go.

    `bibliographies` have the columns `id` and `references` of the papers table. Arrow leaves out most of the
    entries, so that of those which have nothing to do with the papers none becomes an object here.
    """
    catalogue = _Catalogue.of(papers)
    could_mention = _sieve(catalogue)
    for batch in bibliographies:
        entries = batch["references"].flatten()
        owners = pc.list_parent_indices(batch["references"])
        rest = np.flatnonzero(could_mention(entries))
        for owner, places in groupby(rest.tolist(), key=lambda place: owners[place].as_py()):
            if any(catalogue.mentions(rows.to_reference(entries[place].as_py())) for place in places):
                yield batch["id"][owner].as_py()


def _sieve(catalogue: _Catalogue) -> Callable[[pa.StructArray], npt.NDArray[np.bool_]]:
    """Return a filter for entries that may mention a paper of the catalogue; it lets some others through."""
    dois, arxiv = pa.array(catalogue.by_doi, pa.string()), pa.array(catalogue.by_arxiv, pa.string())
    patterns = _title_patterns(catalogue.by_title)

    def marked(entries: pa.StructArray) -> npt.NDArray[np.bool_]:
        doi, version = entries.field("doi"), entries.field("arxiv_id")
        bare = pc.replace_substring_regex(pc.utf8_lower(doi), r"^https://doi\.org/", "")
        version = pc.replace_substring_regex(version, "v[0-9]+$", "")
        found = pc.or_(pc.is_in(pc.utf8_rtrim(bare, "."), dois), pc.is_in(version, arxiv))
        # Whose small letters Arrow and Python may not agree about.
        found = pc.or_(found, pc.invert(pc.string_is_ascii(doi)))
        for column in ("title", "text") if patterns else ():
            plain = _compatible(entries.field(column))
            for pattern in patterns:
                found = pc.or_(found, pc.match_substring_regex(plain, pattern, ignore_case=True))
        return np.asarray(found.to_numpy(zero_copy_only=False))

    return marked


def _compatible(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with compatibility forms folded, which takes long and few have: dashes and quotes stay."""
    foreign = pc.match_substring_regex(texts, r"[^\x00-\x7F\x{2010}-\x{2026}]")
    return pc.replace_with_mask(texts, foreign, pc.utf8_normalize(texts.filter(foreign), "NFKC"))


def _title_patterns(titles: Iterable[Sequence[str]]) -> list[str]:
    """Return patterns of which one is in every text where the words of a title stand one after the other."""
    told = sorted({r"[^a-z0-9_]+".join(map(re.escape, _plain_words(title))) for title in titles})
    # A title without a plain word is in none but texts that are not plain; İ is two characters when small.
    plain = [one or r"[^\x00-\x7F]" for one in [*told, "İ"]] if told else []
    return ["|".join(plain[start : start + _AT_ONCE]) for start in range(0, len(plain), _AT_ONCE)]


def _plain_words(title: Sequence[str]) -> Sequence[str]:
    """Return the most letters that as many words of a title as an opening have in ASCII, side by side."""
    runs = [list(run) for plain, run in groupby(title, key=str.isascii) if plain]
    windows = [run[start : start + _OPENING] for run in runs for start in range(len(run))]
    return max(windows, key=lambda window: sum(map(len, window)), default=[])


def _openings(text: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the word sequences in a text that may begin a title."""
    for start in range(len(text) - _OPENING + 1):
        yield tuple(text[start : start + _OPENING])


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
        """Return the links from a paper's bibliography to papers of this corpus, in printed order."""
        return self._links("citing", paper_id)

    def to_paper(self, paper_id: str) -> tuple[Link, ...]:
        """Return the links from papers of this corpus that cite a paper."""
        return self._links("cited", paper_id)

    def _links(self, side: Literal["citing", "cited"], paper_id: str) -> tuple[Link, ...]:
        def read() -> tuple[Link, ...]:
            table = scan(self._table, rows.LINKS.names, f"{side} = {quoted(paper_id)}")
            ordered = table.sort_by([("citing", "ascending"), ("reference", "ascending")])
            return tuple(Link(**row) for row in ordered.to_pylist())

        return self._cache.answer((side, paper_id), read)
