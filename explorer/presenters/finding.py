"""The papers that the Collection screen lists, and their order. No Streamlit."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from assistant.checking.thresholds import thresholds
from corpus.encoders.base import Encoder
from corpus.language.stemming import stem, stop_words
from corpus.records import Hit, Paper, PaperHits, Scope
from corpus.search.hybrid import search
from corpus.search.query import Query, read_query
from corpus.search.spelling import Respelling
from corpus.store.corpus import Corpus
from corpus.store.statistics import PaperOrder
from corpus.text import words

PAGE_SIZE = 20
MOST_FOUND = 200
SHORTEST_TERM = 3
SNIPPET = 260
_WORD = re.compile(r"\w+")

Order = Literal["relevance", "position", "title", "newest", "oldest", "cited"]
ORDERS: tuple[Order, ...] = get_args(Order)
ORDER_NAMES: dict[Order, str] = {
    "relevance": "Best match",
    "position": "Order in the volume",
    "title": "Title",
    "newest": "Newest",
    "oldest": "Oldest",
    "cited": "Most cited here",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A paper in a list, with the matching passage of a search.

    `cited_here` is the number of papers of the corpus that cite it, set only in that order.
    """

    paper: Paper
    hit: Hit | None = None
    cited_here: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of listed papers by topic, venue, year, label and language."""

    topics: Mapping[str, int]
    venues: Mapping[str, int]
    years: Mapping[int, int]
    labels: Mapping[str, int] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list; `total` and `counts` are those of all pages.

    `found` are the ids of all results of a search, best first, empty without a search. `respelt` are the
    corrected words, `searched_for` is the query with these corrections.
    """

    papers: tuple[Listed, ...]
    total: int
    page: int
    pages: int
    counts: Counts
    found: tuple[str, ...] = ()
    searched_for: str = ""
    respelt: tuple[Respelling, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A search for papers in a scope; an empty `query` lists all. `verbatim` corrects no spelling."""

    corpus: Corpus
    encoder: Encoder
    query: str
    scope: Scope
    verbatim: bool = False

    def within(self, scope: Scope) -> "Finding":
        """Return the same search in another scope."""
        return replace(self, scope=scope)

    @property
    def is_search(self) -> bool:
        return bool(words(self.query))

    def papers(self, order: Order, page: int) -> Listing:
        """Return one page of the list."""
        if self.is_search:
            found, meant = self._found(), self._meant()
            page, pages = _fitting(page, len(found))
            start = (page - 1) * PAGE_SIZE
            return Listing(
                tuple(self._ordered(found, order)[start : start + PAGE_SIZE]),
                len(found),
                page,
                pages,
                _counted([listed.paper for listed in found]),
                tuple(listed.paper.id for listed in found),
                meant.text,
                meant.respelt,
            )
        total = self.corpus.count_papers(self.scope)
        page, pages = _fitting(page, total)
        papers = self.corpus.papers(self.scope, _without_search(order), (page - 1) * PAGE_SIZE, PAGE_SIZE)
        listed = tuple(Listed(paper) for paper in papers)
        return Listing(self._with_citations(listed, order), total, page, pages, self.counts())

    def ids(self, order: Order, limit: int) -> tuple[str, ...]:
        """Return the ids of the first `limit` papers of the list."""
        if self.is_search:
            return tuple(listed.paper.id for listed in self._ordered(self._found(), order)[:limit])
        return tuple(paper.id for paper in self.corpus.papers(self.scope, _without_search(order), 0, limit))

    def counts(self) -> Counts:
        """Count the topics, venues, years, labels and languages of the listed papers."""
        if self.is_search:
            return _counted([listed.paper for listed in self._found()])
        statistics, scope = self.corpus.statistics, self.scope
        return Counts(
            statistics.topic_counts(scope),
            statistics.venue_counts(scope),
            statistics.year_counts(scope),
            statistics.label_counts(scope),
            statistics.language_counts(scope),
        )

    def _found(self) -> list[Listed]:
        hits = search_papers(self.corpus, self.encoder, self._meant(), self.scope)
        return [Listed(paper_hits.paper, paper_hits.hits[0]) for paper_hits in hits]

    def _meant(self) -> Query:
        return read_query(self.corpus, self.query, verbatim=self.verbatim)

    def _ordered(self, found: Sequence[Listed], order: Order) -> Sequence[Listed]:
        """Sort the results of a search; ties stay best first."""
        match order:
            case "title":
                return sorted(found, key=lambda listed: listed.paper.title.lower())
            case "newest":
                return sorted(found, key=lambda listed: -(listed.paper.year or 0))
            case "oldest":
                return sorted(found, key=lambda listed: listed.paper.year or 9999)
            case "position":
                return sorted(found, key=lambda listed: (listed.paper.collection_id, listed.paper.position))
            case "cited":
                return sorted(self._with_citations(found, order), key=lambda listed: -listed.cited_here)
            case "relevance":
                return found

    def _with_citations(self, listed: Sequence[Listed], order: Order) -> tuple[Listed, ...]:
        """Set the citation counts of a list that is sorted by them."""
        if order != "cited" or not listed:
            return tuple(listed)
        ids = tuple(entry.paper.id for entry in listed)
        cited = dict(self.corpus.statistics.most_cited(Scope(papers=ids), len(ids)))
        return tuple(replace(entry, cited_here=cited.get(entry.paper.id, 0)) for entry in listed)


def search_papers(corpus: Corpus, encoder: Encoder, query: str | Query, scope: Scope) -> list[PaperHits]:
    """Return the papers that `query` names, that share words with it or are similar to it, best first."""
    near = thresholds().refusal.relevant
    found = search(corpus, encoder, query, scope, papers=MOST_FOUND, passages_per_paper=1)
    return [
        paper_hits
        for paper_hits in found
        if paper_hits.is_named
        or paper_hits.hits[0].lexical is not None
        or (paper_hits.hits[0].dense or 0.0) >= near
    ]


def query_terms(query: str) -> frozenset[str]:
    """Return the stems of the query's content words, which are highlighted in results."""
    parts = (part for word in words(query) if word not in stop_words() for part in (word, *word.split("-")))
    return frozenset(stem(word) for word in parts if len(word) >= SHORTEST_TERM and word not in stop_words())


def snippet(text: str, terms: frozenset[str], length: int = SNIPPET) -> str:
    """Return about `length` characters of `text` around the first word whose stem is in `terms`."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    places = (word.start() for word in _WORD.finditer(line) if stem(word[0].lower()) in terms)
    start = max(0, next(places, 0) - length // 3)
    start = 0 if start == 0 else line.rfind(" ", 0, start) + 1
    end = len(line) if start + length >= len(line) else line.rfind(" ", start, start + length)
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def year_range(first: int | None, last: int | None, chosen: object) -> tuple[int, int] | None:
    """Return the chosen years, None if they are all years or not a range."""
    if first is None or last is None or not isinstance(chosen, tuple) or len(chosen) != 2:
        return None
    return None if chosen == (first, last) else (int(chosen[0]), int(chosen[1]))


def _without_search(order: Order) -> PaperOrder:
    return "position" if order == "relevance" else order


def _counted(papers: Sequence[Paper]) -> Counts:
    topics = Counter(topic.key for paper in papers for topic in paper.topics)
    venues = Counter(paper.venue for paper in papers if paper.venue)
    years = Counter(paper.year for paper in papers if paper.year)
    labels = Counter(label for paper in papers for label in paper.labels)
    languages = Counter(paper.language for paper in papers if paper.language)
    return Counts(
        _frequent_first(topics),
        _frequent_first(venues),
        dict(sorted(years.items())),
        _frequent_first(labels),
        _frequent_first(languages),
    )


def _frequent_first(counts: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _fitting(page: int, total: int) -> tuple[int, int]:
    pages = max(1, -(-total // PAGE_SIZE))
    return min(max(1, page), pages), pages
