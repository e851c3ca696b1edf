"""The papers that a collection screen lists, and their order. No Streamlit."""

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
    """A paper in a list, with the passage that matched when something was searched for.

    `cited_here` is how many papers of the corpus cite it, where the list is in that order.
    """

    paper: Paper
    hit: Hit | None = None
    cited_here: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """The papers of a list counted by topic, venue, year, owner's label, and language."""

    topics: Mapping[str, int]
    venues: Mapping[str, int]
    years: Mapping[int, int]
    labels: Mapping[str, int] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list; `total` and `counts` are of all pages' papers.

    `found` are the ids of all that a search found, best first; empty where nothing is searched for.
    `respelt` are words that were read as others, `searched_for` the query with these in it.
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
    """Where papers are looked for, and by which words: "" lists all in `scope`.

    `verbatim` takes the words as they are written.
    """

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
        """Return one page of the papers that are listed."""
        if self.is_search:
            return self._page_of_found(order, page)
        total = self.corpus.count_papers(self.scope)
        page, pages = _fitting(page, total)
        papers = self.corpus.papers(self.scope, _without_search(order), (page - 1) * PAGE_SIZE, PAGE_SIZE)
        listed = tuple(Listed(paper) for paper in papers)
        return Listing(self._with_citations(listed, order), total, page, pages, self.counts())

    def ids(self, order: Order, limit: int) -> tuple[str, ...]:
        """Return the ids of the first `limit` papers of the whole list."""
        if self.is_search:
            return tuple(one.paper.id for one in self._ordered(self._found(), order)[:limit])
        return tuple(one.id for one in self.corpus.papers(self.scope, _without_search(order), 0, limit))

    def counts(self) -> Counts:
        """Count the topics, venues, years, labels and languages of the listed papers."""
        if self.is_search:
            return _counted([one.paper for one in self._found()])
        corpus, scope = self.corpus, self.scope
        found = corpus.statistics
        return Counts(
            found.topic_counts(scope),
            found.venue_counts(scope),
            found.year_counts(scope),
            found.label_counts(scope),
            found.language_counts(scope),
        )

    def _found(self) -> list[Listed]:
        hits = search_papers(self.corpus, self.encoder, self._meant(), self.scope)
        return [Listed(one.paper, one.hits[0]) for one in hits]

    def _meant(self) -> Query:
        return read_query(self.corpus, self.query, verbatim=self.verbatim)

    def _page_of_found(self, order: Order, page: int) -> Listing:
        found, meant = self._found(), self._meant()
        page, pages = _fitting(page, len(found))
        start = (page - 1) * PAGE_SIZE
        return Listing(
            tuple(self._ordered(found, order)[start : start + PAGE_SIZE]),
            len(found),
            page,
            pages,
            _counted([one.paper for one in found]),
            tuple(one.paper.id for one in found),
            meant.text,
            meant.respelt,
        )

    def _ordered(self, found: Sequence[Listed], order: Order) -> Sequence[Listed]:
        """Sort the papers that a search found; ties stay best first."""
        match order:
            case "title":
                return sorted(found, key=lambda one: one.paper.title.lower())
            case "newest":
                return sorted(found, key=lambda one: -(one.paper.year or 0))
            case "oldest":
                return sorted(found, key=lambda one: one.paper.year or 9999)
            case "position":
                return sorted(found, key=lambda one: (one.paper.collection_id, one.paper.position))
            case "cited":
                return sorted(self._with_citations(found, order), key=lambda one: -one.cited_here)
            case "relevance":
                return found

    def _with_citations(self, listed: Sequence[Listed], order: Order) -> tuple[Listed, ...]:
        """Return a list with the citations of each paper where it is in their order."""
        if order != "cited" or not listed:
            return tuple(listed)
        ids = tuple(one.paper.id for one in listed)
        cited = dict(self.corpus.statistics.most_cited(Scope(papers=ids), len(ids)))
        return tuple(replace(one, cited_here=cited.get(one.paper.id, 0)) for one in listed)


def search_papers(corpus: Corpus, encoder: Encoder, query: str | Query, scope: Scope) -> list[PaperHits]:
    """Return the papers that `query` names, that share words with it or are near to it, best first."""
    near = thresholds().refusal.relevant
    found = search(corpus, encoder, query, scope, papers=MOST_FOUND, passages_per_paper=1)
    return [one for one in found if one.is_named or _is_near(one.hits[0], near)]


def _is_near(hit: Hit, near: float) -> bool:
    return hit.lexical is not None or (hit.dense or 0.0) >= near


def query_terms(query: str) -> frozenset[str]:
    """Return the stems of the words that are marked where they occur: those that carry a subject."""
    asked = (part for word in words(query) if word not in stop_words() for part in (word, *word.split("-")))
    return frozenset(stem(word) for word in asked if len(word) >= SHORTEST_TERM and word not in stop_words())


def snippet(text: str, terms: frozenset[str], length: int = SNIPPET) -> str:
    """Return about `length` characters of `text`, round the first word whose stem is in `terms`."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    places = (word.start() for word in _WORD.finditer(line) if stem(word[0].lower()) in terms)
    start = max(0, next(places, 0) - length // 3)
    start = 0 if start == 0 else line.rfind(" ", 0, start) + 1
    end = len(line) if start + length >= len(line) else line.rfind(" ", start, start + length)
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def year_range(first: int | None, last: int | None, chosen: object) -> tuple[int, int] | None:
    """Return the chosen years where they restrict anything."""
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
