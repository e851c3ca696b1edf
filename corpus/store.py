"""The corpus as readers see it: the table versions that the manifest names, and nothing later.

A writer (corpus.writer) changes the tables and then replaces the manifest in one step, so readers see the
old corpus until the new one is complete, and a writer that dies leaves the old corpus in place.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus import figures, rows, tables
from corpus.closeness import Closeness, measure
from corpus.encoder import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.manifest import TABLES, Manifest, check_encoder, read_manifest
from corpus.records import (
    Build,
    Cluster,
    Collection,
    CollectionSummary,
    Link,
    Paper,
    Passage,
    Reference,
    Scope,
    TopicKind,
)
from corpus.remembered import Remembered
from corpus.tables import condition, quoted, scan

PaperOrder = figures.PaperOrder
Value = TypeVar("Value")
_IDS_PER_QUERY = 500
# Of what single papers were read for: papers, passages, entries of bibliographies; some tens of MB at most.
_READ_KEPT = 20_000
_PAPERS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """What a rebuild needs to know of a paper that the corpus holds."""

    fingerprint: str
    position: int
    has_pdf: bool


@dataclass(frozen=True, slots=True)
class Match:
    """A passage found by one side of the search, with that side's score; `row` is where it is stored."""

    passage_id: str
    paper_id: str
    score: float
    row: int = 0


class Corpus:
    """The papers and passages of a published corpus, read-only."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        with tables.opening(path):
            connection = tables.connect(path)
            self._tables = {name: connection.open_table(name) for name in TABLES}
            for name, table in self._tables.items():
                table.checkout(manifest.versions[name])
            self._probes = tables.probes(self._tables["passages"])
        self._remembered = Remembered()
        # Apart from the counts, so that whoever reads on does not push these out.
        self._read = Remembered(entries=_READ_KEPT)

    @classmethod
    def open(cls, path: Path, encoder: Encoder) -> "Corpus":
        """Open the corpus at `path`.

        Raises CorpusError when there is none, when it is damaged and when another encoder built it.
        """
        manifest = read_manifest(path)
        check_encoder(manifest, encoder)
        return cls(path, manifest)

    @classmethod
    def open_at(cls, path: Path, encoder: Encoder, versions: Mapping[str, int]) -> "Corpus":
        """Open the corpus as it was when its tables had these `versions`.

        Raises CorpusError as `open` does, and when one of them no longer exists.
        """
        manifest = read_manifest(path)
        check_encoder(manifest, encoder)
        if gone := tables.versions_gone(path, {name: versions.get(name, 0) for name in TABLES}):
            raise CorpusError(
                f"The corpus at {path} is no longer kept as it was: {', '.join(gone)}. It can be read as it "
                "is now; a version lasts until `python -m indexer compact` drops it."
            )
        return cls(path, replace(manifest, versions=dict(versions)))

    def collections(self) -> tuple[CollectionSummary, ...]:
        """Return every collection with its counts, in the order of their ids."""
        return self._remembered.answer("collections", self._summaries)

    def collection(self, collection_id: str) -> Collection:
        """Return one collection; raises CorpusError when the corpus has none of that id."""
        return self.recall(("collection", collection_id), lambda: self._collection(collection_id))

    def collection_ids(self) -> tuple[str, ...]:
        return self._remembered.answer(
            "collection ids",
            lambda: tuple(sorted(scan(self._tables["collections"], ["id"])["id"].to_pylist())),
        )

    def papers(
        self,
        scope: Scope | None = None,
        order: PaperOrder = "position",
        offset: int = 0,
        limit: int | None = None,
    ) -> tuple[Paper, ...]:
        """Return the papers in `scope`, sorted, from `offset` on."""
        ids = self._sorted_ids(scope, order)
        return self.papers_by_id(ids.slice(offset, limit).to_pylist())

    def count_papers(self, scope: Scope | None = None) -> int:
        return self._of_scope("count", scope, lambda where: int(self._tables["papers"].count_rows(where)))

    def count_passages(self, paper_id: str) -> int:
        return int(self._tables["passages"].count_rows(f"paper_id = {quoted(paper_id)}"))

    def topic_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Return how many papers in `scope` have each topic, by the topic's key, the most frequent first."""
        found = self._of_papers("topics", scope, ["topic_keys"], _topic_counts)
        return dict(found)

    def year_counts(self, scope: Scope | None = None) -> dict[int, int]:
        """Return how many papers in `scope` are of each year, the earliest first."""
        return dict(self._of_papers("years", scope, ["year"], lambda papers: figures.years(papers["year"])))

    def venue_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Return how many papers in `scope` appeared at each venue, the most frequent first."""
        count = self._of_papers(
            "venues", scope, ["venue"], lambda papers: figures.frequencies(papers["venue"])
        )
        return dict(count)

    def topic_year_counts(
        self, scope: Scope | None, kind: TopicKind, limit: int
    ) -> dict[str, dict[int, int]]:
        """Return how many papers of each year have a topic, for the most frequent topics of a kind."""
        found = self._of_papers(
            f"{limit} {kind} by year",
            scope,
            ["topic_keys", "year"],
            lambda papers: figures.topic_years(papers, kind, limit),
        )
        return {key: dict(years) for key, years in found.items()}

    def most_cited(self, scope: Scope | None, limit: int) -> tuple[tuple[str, int], ...]:
        """Return the papers in `scope` that papers of this corpus cite most: ids, and by how many."""

        def most(where: str | None) -> tuple[tuple[str, int], ...]:
            citations = self._citations()
            if where is not None and citations.num_rows:
                within = scan(self._tables["papers"], ["id"], where)
                citations = citations.filter(pc.is_in(citations["id"], within["id"].combine_chunks()))
            return figures.most_cited(citations, limit)

        return self._of_scope(f"{limit} most cited", scope, most)

    def places(self, scope: Scope | None = None) -> pa.Table:
        """Return id, title, year, x, y and cluster of the papers in `scope` that have a place on the map."""
        return self._of_papers("places", scope, ["id", "title", "year"], self._placed)

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters of the map, in the order of their numbers."""
        return self._remembered.answer("clusters", self._clusters)

    def papers_by_id(self, ids: Sequence[str]) -> tuple[Paper, ...]:
        """Return the papers of `ids` that exist, in the given order."""
        if len(ids) > _PAPERS_AT_ONCE:
            return self._papers_by_id(ids)
        return self.recall(("papers", tuple(ids)), lambda: self._papers_by_id(ids))

    def _papers_by_id(self, ids: Sequence[str]) -> tuple[Paper, ...]:
        found = {row["id"]: rows.to_paper(row) for row in self._rows_by_id("papers", ids, rows.PAPER_COLUMNS)}
        return tuple(found[identifier] for identifier in ids if identifier in found)

    def paper(self, paper_id: str) -> Paper:
        """Return one paper; raises CorpusError when the corpus has none of that id."""
        papers = self.papers_by_id([paper_id])
        if not papers:
            raise CorpusError(f"There is no paper {paper_id!r} in this corpus.")
        return papers[0]

    def references(self, paper_id: str) -> tuple[Reference, ...]:
        """Return a paper's bibliography in its printed order."""

        def read() -> tuple[Reference, ...]:
            found = self._rows_by_id("papers", [paper_id], ["references"])
            return tuple(rows.to_reference(row) for row in found[0]["references"]) if found else ()

        return self.recall(("references", paper_id), read)

    def links_from(self, paper_id: str) -> tuple[Link, ...]:
        """Return which entries of a paper's bibliography are papers of this corpus, in printed order."""
        return self._links("citing", paper_id)

    def links_to(self, paper_id: str) -> tuple[Link, ...]:
        """Return which papers of this corpus cite a paper."""
        return self._links("cited", paper_id)

    def listed(self, paper_id: str) -> str:
        """Return a paper as its source described it, as JSON; "" for one that has no PDF to parse again."""
        found = self._rows_by_id("papers", [paper_id], ["listed"])
        return str(found[0]["listed"]) if found else ""

    def passages(self, paper_id: str) -> tuple[Passage, ...]:
        """Return a paper's passages in reading order."""

        def read() -> tuple[Passage, ...]:
            table = scan(self._tables["passages"], rows.PASSAGE_COLUMNS, f"paper_id = {quoted(paper_id)}")
            return tuple(rows.to_passage(row) for row in table.sort_by("number").to_pylist())

        return self.recall(("passages", paper_id), read)

    def passages_by_id(self, ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the passages of `ids` that exist, in the given order."""
        found = {
            row["id"]: rows.to_passage(row) for row in self._rows_by_id("passages", ids, rows.PASSAGE_COLUMNS)
        }
        return tuple(found[identifier] for identifier in ids if identifier in found)

    def vectors(self, passage_ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Return the vectors of passages by their ids."""
        return {
            row["id"]: row["vector"] for row in self._rows_by_id("passages", passage_ids, ["id", "vector"])
        }

    def sentence_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the vectors of passages' sentences, one row each in their order, by the passages' ids."""
        return {
            row["id"]: rows.unpack_vectors(row["sentence_vectors"], self.manifest.dimension)[1:]
            for row in self._rows_by_id("passages", passage_ids, ["id", "sentence_vectors"])
        }

    def passages_found(self, matches: Sequence[Match]) -> dict[str, Passage]:
        """Return what this corpus's own search found, by id: quicker than to look the ids up."""
        if not matches:
            return {}
        found = self._rows_found(matches, rows.PASSAGE_COLUMNS)
        return {row["id"]: rows.to_passage(row) for row in found.to_pylist()}

    def closeness(self, vector: Vectors | Sequence[float], matches: Sequence[Match]) -> dict[str, Closeness]:
        """Return how close passages are that the search found to a unit vector, by their ids; not rounded."""
        if not matches:
            return {}
        found = self._rows_found(matches, ["id", "vector", "sentence_vectors"])
        return measure(np.asarray(vector, np.float32), found)

    def builds(self) -> tuple[Build, ...]:
        """Return all builds, oldest first."""
        return self._remembered.answer("builds", self._builds)

    def known_papers(self) -> dict[str, dict[str, KnownPaper]]:
        """Return what each paper was made from and where it stands, by the ids of collection and paper."""
        known: dict[str, dict[str, KnownPaper]] = {}
        columns = ["id", "collection_id", "fingerprint", "position", "pdf_sha256"]
        for batch in self.scan("papers", columns):
            for row in batch.to_pylist():
                paper = KnownPaper(row["fingerprint"], row["position"], bool(row["pdf_sha256"]))
                known.setdefault(row["collection_id"], {})[row["id"]] = paper
        return known

    def scan(self, table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows of a table a few at a time, for what must look at every one."""
        return tables.scan_batches(self._tables[table], columns)

    def passages_not_indexed(self) -> int:
        """Return how many passages the full-text index does not hold."""
        return tables.rows_without_index(self._tables["passages"], "indexed")

    def vectors_not_indexed(self) -> int:
        """Return how many vectors their index does not hold, 0 where there are too few for one."""
        return tables.rows_without_index(self._tables["passages"], "vector") if self._probes else 0

    def nearest(self, vector: Vectors | Sequence[float], scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` nearest to a unit vector by cosine similarity, best first.

        In a large corpus an index finds them: one in a hundred is missed, and similarities are rounded.
        """
        found = tables.nearest(self._tables["passages"], vector, scope, limit, self._probes)
        return [Match(row["id"], row["paper_id"], 1 - row["_distance"], row["_rowid"]) for row in found]

    def matching(self, words: str, scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` that share words with a text by BM25, best first."""
        found = tables.matching(self._tables["passages"], words, scope, limit)
        return [Match(row["id"], row["paper_id"], row["_score"], row["_rowid"]) for row in found]

    def _summaries(self) -> tuple[CollectionSummary, ...]:
        return figures.summaries(
            scan(self._tables["collections"], rows.COLLECTIONS.names),
            scan(self._tables["papers"], ["collection_id", "full_text", "year"]),
            scan(self._tables["passages"], ["collection_id"])["collection_id"],
            {build.collection_id: build for build in self.builds()},
        )

    def _builds(self) -> tuple[Build, ...]:
        table = scan(self._tables["builds"], rows.BUILDS.names).sort_by("started")
        return tuple(rows.to_build(row) for row in table.to_pylist())

    def _clusters(self) -> tuple[Cluster, ...]:
        table = scan(self._tables["clusters"], rows.CLUSTERS.names).sort_by("number")
        return tuple(Cluster(**row) for row in table.to_pylist())

    def _citations(self) -> pa.Table:
        return self._remembered.answer(
            "citations", lambda: figures.citation_counts(scan(self._tables["links"], ["cited"])["cited"])
        )

    def _placed(self, papers: pa.Table) -> pa.Table:
        return figures.placed(papers, scan(self._tables["places"], rows.PLACES.names))

    def _sorted_ids(self, scope: Scope | None, order: PaperOrder) -> pa.ChunkedArray:
        def ids(papers: pa.Table) -> pa.ChunkedArray:
            if order == "cited":
                papers = figures.with_citations(papers, self._citations())
            return figures.sorted_ids(papers, order)

        return self._of_papers(f"by {order}", scope, figures.columns_for(order), ids)

    def _of_papers(
        self, asked: str, scope: Scope | None, columns: list[str], find: Callable[[pa.Table], Value]
    ) -> Value:
        """Return what `find` makes of columns of the papers in `scope`, which is remembered."""
        return self._of_scope(asked, scope, lambda where: find(scan(self._tables["papers"], columns, where)))

    def _of_scope(self, asked: str, scope: Scope | None, find: Callable[[str | None], Value]) -> Value:
        where = condition(scope, "id")
        return self._remembered.answer((asked, where), lambda: find(where))

    def recall(self, question: Hashable, find: Callable[[], Value]) -> Value:
        """Return what `find` reads of papers, which is remembered: each rerun of a screen asks again."""
        return self._read.answer(question, find)

    def _collection(self, collection_id: str) -> Collection:
        where = f"id = {quoted(collection_id)}"
        found = scan(self._tables["collections"], rows.COLLECTIONS.names, where).to_pylist()
        if not found:
            raise CorpusError(f"There is no collection {collection_id!r} in this corpus.")
        return rows.to_collection(found[0])

    def _links(self, side: Literal["citing", "cited"], paper_id: str) -> tuple[Link, ...]:
        return self.recall((side, paper_id), lambda: self._read_links(side, paper_id))

    def _read_links(self, side: Literal["citing", "cited"], paper_id: str) -> tuple[Link, ...]:
        table = scan(self._tables["links"], rows.LINKS.names, f"{side} = {quoted(paper_id)}")
        ordered = table.sort_by([("citing", "ascending"), ("reference", "ascending")])
        return tuple(Link(**row) for row in ordered.to_pylist())

    def _rows_found(self, matches: Sequence[Match], columns: list[str]) -> pa.Table:
        return tables.rows_at(self._tables["passages"], [match.row for match in matches], columns)

    def _rows_by_id(self, table: str, ids: Sequence[str], columns: list[str]) -> list[rows.Row]:
        found: list[rows.Row] = []
        for start in range(0, len(ids), _IDS_PER_QUERY):
            where = tables.one_of("id", ids[start : start + _IDS_PER_QUERY])
            found += scan(self._tables[table], columns, where).to_pylist()
        return found


def _topic_counts(papers: pa.Table) -> dict[str, int]:
    return figures.frequencies(pc.list_flatten(papers["topic_keys"]))
