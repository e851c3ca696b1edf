"""Figures of a collection, counted in Arrow: nothing of a paper becomes a Python object but what is told."""

from collections.abc import Mapping
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from corpus import rows
from corpus.records import Build, Collection, CollectionSummary, TopicKind, topic_key

PaperOrder = Literal["position", "title", "newest", "oldest", "cited"]

_ORDERS: dict[PaperOrder, list[tuple[str, str]]] = {
    "position": [("collection_id", "ascending"), ("position", "ascending")],
    "title": [("title", "ascending")],
    "newest": [("year", "descending"), ("title", "ascending")],
    "oldest": [("year", "ascending"), ("title", "ascending")],
    "cited": [("citations", "descending"), ("collection_id", "ascending"), ("position", "ascending")],
}


def frequencies(column: pa.ChunkedArray) -> dict[str, int]:
    """Return how often each value occurs, the most frequent first, then by the value; "" is none."""
    counted = pc.value_counts(column.drop_null())
    table = pa.table({"value": counted.field("values"), "count": counted.field("counts")})
    ordered = table.sort_by([("count", "descending"), ("value", "ascending")]).to_pydict()
    return {value: count for value, count in zip(ordered["value"], ordered["count"], strict=True) if value}


def years(column: pa.ChunkedArray) -> dict[int, int]:
    """Return how often each year occurs, the earliest first."""
    counted = pc.value_counts(column.drop_null()).to_pylist()
    return dict(sorted((entry["values"], entry["counts"]) for entry in counted))


def topic_years(papers: pa.Table, kind: TopicKind, limit: int) -> dict[str, dict[int, int]]:
    """Return how many papers of each year have the most frequent topics of a kind, by the topics' keys."""
    topics = _exploded(papers, "topic_keys", "year")
    topics = topics.filter(pc.starts_with(topics["topic_keys"], topic_key(kind, "")))
    most = list(frequencies(topics["topic_keys"]))[: max(0, limit)]
    topics = topics.filter(pc.is_in(topics["topic_keys"], pa.array(most, pa.string())))
    counted = topics.group_by(["topic_keys", "year"]).aggregate([([], "count_all")]).sort_by("year")
    found: dict[str, dict[int, int]] = {key: {} for key in most}
    for row in counted.to_pylist():
        if row["year"] is not None:
            found[row["topic_keys"]][row["year"]] = row["count_all"]
    return found


def _exploded(table: pa.Table, lists: str, beside: str) -> pa.Table:
    """Return a row for each value of a column of lists, with what stands beside the list."""
    whole = table.combine_chunks()
    parents = pc.list_parent_indices(whole[lists])
    return pa.table({lists: pc.list_flatten(whole[lists]), beside: pc.take(whole[beside], parents)})


def citation_counts(cited: pa.ChunkedArray) -> pa.Table:
    """Return the columns `id` and `citations` of what is cited; a paper that cites another has one link."""
    counted = pc.value_counts(cited)
    return pa.table({"id": counted.field("values"), "citations": counted.field("counts")})


def most_cited(citations: pa.Table, limit: int) -> tuple[tuple[str, int], ...]:
    """Return the papers that are cited most, by id, with how often."""
    ordered = citations.sort_by([("citations", "descending"), ("id", "ascending")]).slice(0, max(0, limit))
    return tuple(zip(ordered["id"].to_pylist(), ordered["citations"].to_pylist(), strict=True))


def columns_for(order: PaperOrder) -> list[str]:
    """Return which columns of the papers an order needs."""
    return ["id", *(name for name, _ in _ORDERS[order] if name != "citations")]


def sorted_ids(papers: pa.Table, order: PaperOrder) -> pa.ChunkedArray:
    """Return the ids of papers in order, without regard to the case of titles."""
    if "title" in papers.column_names:
        folded = pc.utf8_lower(papers["title"])
        papers = papers.drop_columns("title").append_column("title", folded)
    return papers.sort_by([*_ORDERS[order], ("id", "ascending")])["id"]


def with_citations(papers: pa.Table, citations: pa.Table) -> pa.Table:
    """Return papers with how many of the corpus cite each, in the column `citations`."""
    row = _rows_of(papers["id"], citations["id"])
    return papers.append_column("citations", pc.fill_null(citations["citations"].take(row), 0))


def placed(papers: pa.Table, places: pa.Table) -> pa.Table:
    """Return the papers that have a place on the map, with it, in the order of their ids."""
    row = _rows_of(papers["id"], places["paper_id"])
    papers = papers.append_column("row", row).filter(pc.is_valid(row))
    found = places.select(["x", "y", "cluster"]).take(papers["row"])
    for name in found.column_names:
        papers = papers.append_column(name, found[name])
    return papers.drop_columns(["row"]).sort_by("id").combine_chunks()


def _rows_of(ids: pa.ChunkedArray, among: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return where each id stands among others, null for one that does not."""
    return pc.index_in(ids, value_set=among.combine_chunks())


def summaries(
    collections: pa.Table, papers: pa.Table, passages: pa.ChunkedArray, builds: Mapping[str, Build]
) -> tuple[CollectionSummary, ...]:
    """Return every collection with its counts, in the order of their ids; `builds` are the last of each."""
    counted = papers.group_by("collection_id").aggregate(
        [([], "count_all"), ("full_text", "sum"), ("year", "min"), ("year", "max")]
    )
    by_collection = {row["collection_id"]: row for row in counted.to_pylist()}
    passage_counts = frequencies(passages)
    return tuple(
        _summary(
            collection,
            by_collection.get(collection.id, {}),
            passage_counts.get(collection.id, 0),
            builds.get(collection.id),
        )
        for collection in map(rows.to_collection, collections.sort_by("id").to_pylist())
    )


def _summary(
    collection: Collection, papers: Mapping[str, Any], passages: int, build: Build | None
) -> CollectionSummary:
    return CollectionSummary(
        collection=collection,
        papers=papers.get("count_all", 0),
        passages=passages,
        full_texts=papers.get("full_text_sum") or 0,
        failed=len(build.failures) if build else 0,
        first_year=papers.get("year_min"),
        last_year=papers.get("year_max"),
        built=build.started if build else "",
    )
