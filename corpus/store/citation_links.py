"""Who cites whom in a published corpus."""

from typing import Any, Literal

from corpus.records import Link
from corpus.store import rows
from corpus.store.query_cache import QueryCache
from corpus.store.tables import quoted, scan


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
