"""The citations between papers of the corpus, found by the DOI, arXiv id or title of bibliography entries."""

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

# A title with fewer words may be an ordinary phrase of an entry's text, so it has to equal the entry's title.
_FEWEST_WORDS_IN_TEXT = 5
_FEWEST_LETTERS = 12
_OPENING = 4
# Titles in one pattern: with more alternatives it becomes slow.
_AT_ONCE = 32
# The most years between a preprint and its publication.
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
    """The papers by DOI, arXiv id and title; of several with the same one, the first counts."""

    papers: dict[str, Citable] = field(default_factory=dict)
    by_doi: dict[str, str] = field(default_factory=dict)
    by_arxiv: dict[str, str] = field(default_factory=dict)
    by_title: dict[tuple[str, ...], str] = field(default_factory=dict)
    by_opening: dict[tuple[str, ...], list[tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, papers: Iterable[Citable]) -> "_Catalogue":
        """Return a catalogue of papers in the order of their ids, so that the same ones are always first."""
        catalogue = cls()
        for paper in sorted(papers, key=lambda paper: paper.id):
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
        """Return the id of the paper that an entry names, None if it is not here."""
        if by_id := self._find_by_id(entry):
            return by_id
        by_title = self._find_by_title(entry)
        year = self.papers[by_title].year if by_title else None
        is_other = year is not None and entry.year is not None and abs(year - entry.year) > _YEARS_APART
        return None if is_other else by_title

    def mentions(self, entry: Reference) -> bool:
        """Return True if the paper that an entry cites may depend on the papers here."""
        return bool(self._find_by_id(entry) or self._find_by_title(entry))

    def _find_by_id(self, entry: Reference) -> str | None:
        by_id = self.by_doi.get(_doi(entry.doi)) if entry.doi else None
        return by_id or (self.by_arxiv.get(_arxiv(entry.arxiv_id)) if entry.arxiv_id else None)

    def _find_by_title(self, entry: Reference) -> str | None:
        return self.by_title.get(tuple(words(entry.title))) or self._title_in(words(entry.text))

    def _title_in(self, text: Sequence[str]) -> str | None:
        """Return the paper with the longest title whose words stand in `text` one after the other."""
        longest: tuple[str, ...] = ()
        for start, opening in enumerate(_openings(text)):
            for title in self.by_opening.get(opening, ()):
                if len(title) > len(longest) and tuple(text[start : start + len(title)]) == title:
                    longest = title
        return self.by_title.get(longest)


def link_references(papers: Iterable[Citable], bibliographies: Iterable[Bibliography]) -> Iterator[Link]:
    """Yield a link for every entry that is one of `papers`, but none from a paper to itself.

    The same corpus always has the same links: papers are taken in the order of their ids.
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
    """Return a filter for papers that entries may cite; without the others the links stay the same."""
    entries = [entry for _, bibliography in bibliographies for entry in bibliography]
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
    """Yield the ids of papers whose links may change when `papers` are added or removed.

    `bibliographies` have the columns `id` and `references` of the papers table. Arrow filters them first, so
    that few entries become Python objects.
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
    """Return a filter for entries that may mention a paper of the catalogue; it also passes some others."""
    dois, arxiv = pa.array(catalogue.by_doi, pa.string()), pa.array(catalogue.by_arxiv, pa.string())
    patterns = _title_patterns(catalogue.by_title)

    def may_mention(entries: pa.StructArray) -> npt.NDArray[np.bool_]:
        doi, version = entries.field("doi"), entries.field("arxiv_id")
        bare = pc.replace_substring_regex(pc.utf8_lower(doi), r"^https://doi\.org/", "")
        version = pc.replace_substring_regex(version, "v[0-9]+$", "")
        found = pc.or_(pc.is_in(pc.utf8_rtrim(bare, "."), dois), pc.is_in(version, arxiv))
        # Arrow and Python may differ in the lower case of other letters.
        found = pc.or_(found, pc.invert(pc.string_is_ascii(doi)))
        for column in ("title", "text") if patterns else ():
            plain = _compatible(entries.field(column))
            for pattern in patterns:
                found = pc.or_(found, pc.match_substring_regex(plain, pattern, ignore_case=True))
        return np.asarray(found.to_numpy(zero_copy_only=False))

    return may_mention


def _compatible(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with compatibility forms folded; this is slow, and skips texts that need none."""
    unusual = pc.match_substring_regex(texts, r"[^\x00-\x7F\x{2010}-\x{2026}]")
    return pc.replace_with_mask(texts, unusual, pc.utf8_normalize(texts.filter(unusual), "NFKC"))


def _title_patterns(titles: Iterable[Sequence[str]]) -> list[str]:
    """Return patterns of which one matches every text that has the words of a title one after the other."""
    phrases = sorted({r"[^a-z0-9_]+".join(map(re.escape, _plain_words(title))) for title in titles})
    # Only texts beyond ASCII hold a title without an ASCII word; İ is two characters in lower case.
    patterns = [phrase or r"[^\x00-\x7F]" for phrase in [*phrases, "İ"]] if phrases else []
    return ["|".join(patterns[start : start + _AT_ONCE]) for start in range(0, len(patterns), _AT_ONCE)]


def _plain_words(title: Sequence[str]) -> Sequence[str]:
    """Return the adjacent ASCII words of a title with the most letters, at most as many as in an opening."""
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
    """The links between the papers of a published corpus."""

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
