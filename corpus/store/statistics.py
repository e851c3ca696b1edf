"""Statistics of papers, in Arrow: only the papers shown become Python objects."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from corpus.records import Build, Cluster, Collection, CollectionSummary, Scope, TopicKind, topic_key
from corpus.store import rows
from corpus.store.query_cache import QueryCache
from corpus.store.tables import condition, scan

PaperOrder = Literal["position", "title", "newest", "oldest", "cited"]
Value = TypeVar("Value")

_ORDERS: dict[PaperOrder, list[tuple[str, str]]] = {
    "position": [("collection_id", "ascending"), ("position", "ascending")],
    "title": [("title", "ascending")],
    "newest": [("year", "descending"), ("title", "ascending")],
    "oldest": [("year", "ascending"), ("title", "ascending")],
    "cited": [("citations", "descending"), ("collection_id", "ascending"), ("position", "ascending")],
}


class Statistics:
    """Cached statistics of a published corpus, for the papers in any scope."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self._tables = tables
        self._cache = QueryCache()

    def count_papers(self, scope: Scope | None = None) -> int:
        return self._of_scope("count", scope, lambda where: int(self._tables["papers"].count_rows(where)))

    def topic_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Count the papers in `scope` by topic key, the most frequent first."""
        columns = ["topic_keys"]
        return dict(
            self._of_papers(
                "topics", scope, columns, lambda papers: _frequencies(pc.list_flatten(papers["topic_keys"]))
            )
        )

    def year_counts(self, scope: Scope | None = None) -> dict[int, int]:
        """Count the papers in `scope` by year, the earliest first."""
        return dict(self._of_papers("years", scope, ["year"], _years))

    def venue_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Count the papers in `scope` by venue, the most frequent first."""
        columns = ["venue"]
        return dict(self._of_papers("venues", scope, columns, lambda papers: _frequencies(papers["venue"])))

    def language_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Count the papers in `scope` by language code, the most frequent first."""
        columns = ["language"]
        return dict(
            self._of_papers("languages", scope, columns, lambda papers: _frequencies(papers["language"]))
        )

    def label_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Count the papers in `scope` by their owner's labels, the most frequent first."""
        columns = ["labels"]
        return dict(
            self._of_papers(
                "labels", scope, columns, lambda papers: _frequencies(pc.list_flatten(papers["labels"]))
            )
        )

    def topic_year_counts(
        self, scope: Scope | None, kind: TopicKind, limit: int
    ) -> dict[str, dict[int, int]]:
        """Count the papers of each year by topic, for the `limit` most frequent topics of a kind."""
        question, columns = f"{limit} {kind} by year", ["topic_keys", "year"]
        counts = self._of_papers(question, scope, columns, lambda papers: _topic_years(papers, kind, limit))
        return {key: dict(years) for key, years in counts.items()}

    def most_cited(self, scope: Scope | None, limit: int) -> tuple[tuple[str, int], ...]:
        """Return the ids of the papers in `scope` that most papers of this corpus cite, with the counts."""

        def most(where: str | None) -> tuple[tuple[str, int], ...]:
            citations = self._citations()
            if where is not None and citations.num_rows:
                within = scan(self._tables["papers"], ["id"], where)
                citations = citations.filter(pc.is_in(citations["id"], within["id"].combine_chunks()))
            ordered = citations.sort_by([("citations", "descending"), ("id", "ascending")])
            ordered = ordered.slice(0, max(0, limit))
            return tuple(zip(ordered["id"].to_pylist(), ordered["citations"].to_pylist(), strict=True))

        return self._of_scope(f"{limit} most cited", scope, most)

    def places(self, scope: Scope | None = None) -> pa.Table:
        """Return id, title, year, x, y and cluster of the papers in `scope` that have a place on the map."""

        def placed(papers: pa.Table) -> pa.Table:
            return _placed(papers, scan(self._tables["places"], rows.PLACES.names))

        return self._of_papers("places", scope, ["id", "title", "year"], placed)

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters of the map, in the order of their numbers."""

        def read() -> tuple[Cluster, ...]:
            table = scan(self._tables["clusters"], rows.CLUSTERS.names).sort_by("number")
            return tuple(Cluster(**row) for row in table.to_pylist())

        return self._cache.answer("clusters", read)

    def sorted_ids(self, scope: Scope | None, order: PaperOrder) -> pa.ChunkedArray:
        """Return the ids of the papers in `scope`, sorted."""

        def ids(papers: pa.Table) -> pa.ChunkedArray:
            return _sorted_ids(
                _with_citations(papers, self._citations()) if order == "cited" else papers, order
            )

        columns = ["id", *(name for name, _ in _ORDERS[order] if name != "citations")]
        return self._of_papers(f"by {order}", scope, columns, ids)

    def sort_all(self) -> None:
        """Sort all papers in every order, so that later lists do not wait for it."""
        for order in _ORDERS:
            self.sorted_ids(None, order)

    def summaries(self, builds: Mapping[str, Build]) -> tuple[CollectionSummary, ...]:
        """Return the collections with their counts, in the order of ids; `builds` are the last of each."""

        def count() -> tuple[CollectionSummary, ...]:
            papers = scan(self._tables["papers"], ["collection_id", "full_text", "year"])
            passages = scan(self._tables["passages"], ["collection_id"])["collection_id"]
            collections = scan(self._tables["collections"], rows.COLLECTIONS.names).sort_by("id")
            return _summaries(
                map(rows.to_collection, collections.to_pylist()), papers, _frequencies(passages), builds
            )

        return self._cache.answer("summaries", count)

    def _citations(self) -> pa.Table:
        """Return `id` and `citations` of cited papers; a paper links to another only once."""

        def count() -> pa.Table:
            counted = pc.value_counts(scan(self._tables["links"], ["cited"])["cited"])
            return pa.table({"id": counted.field("values"), "citations": counted.field("counts")})

        return self._cache.answer("citations", count)

    def _of_papers(
        self, question: str, scope: Scope | None, columns: list[str], find: Callable[[pa.Table], Value]
    ) -> Value:
        """Return the cached result of `find` on columns of the papers in `scope`."""
        papers = self._tables["papers"]
        return self._of_scope(question, scope, lambda where: find(scan(papers, columns, where)))

    def _of_scope(self, question: str, scope: Scope | None, find: Callable[[str | None], Value]) -> Value:
        where = condition(scope, "id")
        return self._cache.answer((question, where), lambda: find(where))


def _frequencies(column: pa.ChunkedArray) -> dict[str, int]:
    """Count the values except "", the most frequent first, then in order of the values."""
    counted = pc.value_counts(column.drop_null())
    table = pa.table({"value": counted.field("values"), "count": counted.field("counts")})
    ordered = table.sort_by([("count", "descending"), ("value", "ascending")]).to_pydict()
    return {value: count for value, count in zip(ordered["value"], ordered["count"], strict=True) if value}


def _years(papers: pa.Table) -> dict[int, int]:
    counted = pc.value_counts(papers["year"].drop_null()).to_pylist()
    return dict(sorted((entry["values"], entry["counts"]) for entry in counted))


def _topic_years(papers: pa.Table, kind: TopicKind, limit: int) -> dict[str, dict[int, int]]:
    """Count the papers of each year for the most frequent topics of a kind, by topic key."""
    whole = papers.combine_chunks()
    years = pc.take(whole["year"], pc.list_parent_indices(whole["topic_keys"]))
    topics = pa.table({"topic_keys": pc.list_flatten(whole["topic_keys"]), "year": years})
    topics = topics.filter(pc.starts_with(topics["topic_keys"], topic_key(kind, "")))
    most = list(_frequencies(topics["topic_keys"]))[: max(0, limit)]
    topics = topics.filter(pc.is_in(topics["topic_keys"], pa.array(most, pa.string())))
    counted = topics.group_by(["topic_keys", "year"]).aggregate([([], "count_all")]).sort_by("year")
    by_topic: dict[str, dict[int, int]] = {key: {} for key in most}
    for row in counted.to_pylist():
        if row["year"] is not None:
            by_topic[row["topic_keys"]][row["year"]] = row["count_all"]
    return by_topic


def _sorted_ids(papers: pa.Table, order: PaperOrder) -> pa.ChunkedArray:
    """Return the ids of papers in order, ignoring the case of titles."""
    if "title" in papers.column_names:
        folded = pc.utf8_lower(papers["title"])
        papers = papers.drop_columns("title").append_column("title", folded)
    # Arrow sorts a table in one piece by several columns in half the time.
    return papers.combine_chunks().sort_by([*_ORDERS[order], ("id", "ascending")])["id"]


def _with_citations(papers: pa.Table, citations: pa.Table) -> pa.Table:
    """Return papers with the number of papers here that cite each, in the column `citations`."""
    row = _rows_of(papers["id"], citations["id"])
    return papers.append_column("citations", pc.fill_null(citations["citations"].take(row), 0))


def _placed(papers: pa.Table, places: pa.Table) -> pa.Table:
    """Return the papers that have a place on the map, with the place, in the order of their ids."""
    row = _rows_of(papers["id"], places["paper_id"])
    papers = papers.append_column("row", row).filter(pc.is_valid(row))
    columns = places.select(["x", "y", "cluster"]).take(papers["row"])
    for name in columns.column_names:
        papers = papers.append_column(name, columns[name])
    return papers.drop_columns(["row"]).sort_by("id").combine_chunks()


def _rows_of(ids: pa.ChunkedArray, among: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the row of each id `among` others, null if it is missing."""
    return pc.index_in(ids, value_set=among.combine_chunks())


def _summaries(
    collections: Iterable[Collection],
    papers: pa.Table,
    passages: Mapping[str, int],
    builds: Mapping[str, Build],
) -> tuple[CollectionSummary, ...]:
    counts = [([], "count_all"), ("full_text", "sum"), ("year", "min"), ("year", "max")]
    counted = papers.group_by("collection_id").aggregate(counts).to_pylist()
    by_id: dict[str, rows.Row] = {row["collection_id"]: row for row in counted}
    return tuple(
        CollectionSummary(
            collection=collection,
            papers=by_id.get(collection.id, {}).get("count_all", 0),
            passages=passages.get(collection.id, 0),
            full_texts=by_id.get(collection.id, {}).get("full_text_sum") or 0,
            failed=len(builds[collection.id].failures) if collection.id in builds else 0,
            first_year=by_id.get(collection.id, {}).get("year_min"),
            last_year=by_id.get(collection.id, {}).get("year_max"),
            built=builds[collection.id].started if collection.id in builds else "",
        )
        for collection in collections
    )
