"""What is near a query: hybrid search, and similarity by vectors."""

from corpus.search.hybrid import (
    DEFAULT_PAPERS,
    MAX_PAPERS,
    MIN_PAPERS,
    WEIGHTS,
    SearchMode,
    search,
    similar_papers,
)

__all__ = ["DEFAULT_PAPERS", "MAX_PAPERS", "MIN_PAPERS", "WEIGHTS", "SearchMode", "search", "similar_papers"]
