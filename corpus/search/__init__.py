"""Hybrid search for queries and the names in them, and similarity by vectors."""

from corpus.search.hybrid import (
    DEFAULT_PAPERS,
    MAX_PAPERS,
    MIN_PAPERS,
    WEIGHTS,
    SearchMode,
    search,
    similar_papers,
)
from corpus.search.query import Query, read_query
from corpus.search.spelling import Respelling

__all__ = [
    "DEFAULT_PAPERS", "MAX_PAPERS", "MIN_PAPERS", "WEIGHTS", "Query", "Respelling", "SearchMode",
    "read_query", "search", "similar_papers"
]  # fmt: skip
