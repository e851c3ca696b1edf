"""Which papers a collection screen lists, and in what order. No Streamlit."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from assistant.thresholds import thresholds
from corpus.encoder import Encoder
from corpus.records import Hit, Paper, PaperHits, Scope
from corpus.search import search
from corpus.store import Corpus, PaperOrder
from corpus.text import words

PAGE_SIZE = 20
MOST_FOUND = 200
SHORTEST_TERM = 3
SNIPPET = 260

Order = Literal["relevance", "position", "title", "newest", "oldest"]
ORDERS: tuple[Order, ...] = get_args(Order)
ORDER_NAMES: dict[Order, str] = {
    "relevance": "Best match",
    "position": "Order in the volume",
    "title": "Title",
    "newest": "Newest",
    "oldest": "Oldest",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A paper in a list, with the passage that matched when something was searched for."""

    paper: Paper
    hit: Hit | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list; `total` counts all pages' papers, `topics` those of them that have each topic."""

    papers: tuple[Listed, ...]
    total: int
    page: int
    pages: int
    topics: Mapping[str, int]


def list_papers(
    corpus: Corpus, encoder: Encoder, query: str, scope: Scope, *, order: Order, page: int
) -> Listing:
    """Return one page of the papers in `scope`, those that match `query` when there is one."""
    if words(query):
        found = [Listed(one.paper, one.hits[0]) for one in search_papers(corpus, encoder, query, scope)]
        return _page_of(_ordered(found, order), page, _counted_topics(one.paper for one in found))
    total = corpus.count_papers(scope)
    page, pages = _fitting(page, total)
    by: PaperOrder = "position" if order == "relevance" else order
    papers = corpus.papers(scope, by, (page - 1) * PAGE_SIZE, PAGE_SIZE)
    return Listing(tuple(Listed(paper) for paper in papers), total, page, pages, corpus.topic_counts(scope))


def count_topics(corpus: Corpus, encoder: Encoder, query: str, scope: Scope) -> Mapping[str, int]:
    """Return how many of the papers that a list would have are about each topic, the most frequent first."""
    if words(query):
        return _counted_topics(one.paper for one in search_papers(corpus, encoder, query, scope))
    return corpus.topic_counts(scope)


def search_papers(corpus: Corpus, encoder: Encoder, query: str, scope: Scope) -> list[PaperHits]:
    """Return the papers that share words with `query` or are near to it, best first."""
    near = thresholds().refusal.relevant
    found = search(corpus, encoder, query, scope, papers=MOST_FOUND, passages_per_paper=1)
    return [one for one in found if one.hits[0].lexical is not None or (one.hits[0].dense or 0.0) >= near]


def query_terms(query: str) -> frozenset[str]:
    """Return the beginnings of words that are marked where they occur: long words lose their ending."""
    return frozenset(_stem(word) for word in words(query) if len(word) >= SHORTEST_TERM)


def snippet(text: str, terms: frozenset[str], length: int = SNIPPET) -> str:
    """Return the piece of `text` of about `length` characters round the first word with one of `terms`."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    lowered = line.lower()
    places = [place for term in terms if (place := lowered.find(term)) >= 0]
    start = max(0, min(places, default=0) - length // 3)
    start = 0 if start == 0 else line.rfind(" ", 0, start) + 1
    end = len(line) if start + length >= len(line) else line.rfind(" ", start, start + length)
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def year_range(first: int | None, last: int | None, chosen: object) -> tuple[int, int] | None:
    """Return the chosen years where they restrict anything."""
    if first is None or last is None or not isinstance(chosen, tuple) or len(chosen) != 2:
        return None
    return None if chosen == (first, last) else (int(chosen[0]), int(chosen[1]))


def _stem(word: str) -> str:
    return word[:-2] if len(word) > 6 else word


def _ordered(found: list[Listed], order: Order) -> list[Listed]:
    match order:
        case "title":
            return sorted(found, key=lambda one: one.paper.title.lower())
        case "newest":
            return sorted(found, key=lambda one: -(one.paper.year or 0))
        case "oldest":
            return sorted(found, key=lambda one: one.paper.year or 9999)
        case "position":
            return sorted(found, key=lambda one: (one.paper.collection_id, one.paper.position))
        case "relevance":
            return found


def _page_of(found: Sequence[Listed], page: int, topics: Mapping[str, int]) -> Listing:
    page, pages = _fitting(page, len(found))
    start = (page - 1) * PAGE_SIZE
    return Listing(tuple(found[start : start + PAGE_SIZE]), len(found), page, pages, topics)


def _counted_topics(papers: Iterable[Paper]) -> Mapping[str, int]:
    counts = Counter(topic.key for paper in papers for topic in paper.topics)
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _fitting(page: int, total: int) -> tuple[int, int]:
    pages = max(1, -(-total // PAGE_SIZE))
    return min(max(1, page), pages), pages
