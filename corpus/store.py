"""The corpus as readers see it: the table versions that the manifest names, and nothing later.

A writer (corpus.writer) changes the tables and then replaces the manifest in one step, so readers see the
old corpus until the new one is complete, and a writer that dies leaves the old corpus in place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus import rows, tables
from corpus.encoder import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.manifest import TABLES, Manifest, check_encoder, read_manifest
from corpus.records import Build, Collection, CollectionSummary, Link, Paper, Passage, Reference, Scope
from corpus.tables import condition, quoted, scan

PaperOrder = Literal["position", "title", "newest", "oldest"]
_IDS_PER_QUERY = 500


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


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close a passage is to a query, by cosine: as a whole, and its title or nearest sentence.

    `best_sentence` counts from 0. Without vectors of its sentences a passage is as close as it is as a whole.
    """

    passage: float
    sentence: float
    best_sentence: int | None


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
        papers = scan(self._tables["papers"], ["collection_id", "full_text", "year"])
        counts = papers.group_by("collection_id").aggregate(
            [([], "count_all"), ("full_text", "sum"), ("year", "min"), ("year", "max")]
        )
        by_collection = {row["collection_id"]: row for row in counts.to_pylist()}
        passages = _counts(scan(self._tables["passages"], ["collection_id"])["collection_id"])
        builds = {build.collection_id: build for build in self.builds()}
        found = scan(self._tables["collections"], rows.COLLECTIONS.names).to_pylist()
        return tuple(
            _summary(
                collection,
                by_collection.get(collection.id, {}),
                passages.get(collection.id, 0),
                builds.get(collection.id),
            )
            for collection in sorted(map(rows.to_collection, found), key=lambda collection: collection.id)
        )

    def collection(self, collection_id: str) -> Collection:
        """Return one collection; raises CorpusError when the corpus has none of that id."""
        where = f"id = {quoted(collection_id)}"
        found = scan(self._tables["collections"], rows.COLLECTIONS.names, where).to_pylist()
        if not found:
            raise CorpusError(f"There is no collection {collection_id!r} in this corpus.")
        return rows.to_collection(found[0])

    def collection_ids(self) -> tuple[str, ...]:
        return tuple(sorted(scan(self._tables["collections"], ["id"])["id"].to_pylist()))

    def papers(
        self,
        scope: Scope | None = None,
        order: PaperOrder = "position",
        offset: int = 0,
        limit: int | None = None,
    ) -> tuple[Paper, ...]:
        """Return the papers in `scope`, sorted, from `offset` on."""
        columns = ["id", "collection_id", "position", "title", "year"]
        keys = scan(self._tables["papers"], columns, condition(scope, "id"))
        page = _sorted_ids(keys, order)[offset : None if limit is None else offset + limit]
        return self.papers_by_id(page)

    def count_papers(self, scope: Scope | None = None) -> int:
        return int(self._tables["papers"].count_rows(condition(scope, "id")))

    def count_passages(self, paper_id: str) -> int:
        return int(self._tables["passages"].count_rows(f"paper_id = {quoted(paper_id)}"))

    def topic_counts(self, scope: Scope | None = None) -> dict[str, int]:
        """Return how many papers in `scope` have each topic, by the topic's key, the most frequent first."""
        keys = scan(self._tables["papers"], ["topic_keys"], condition(scope, "id"))["topic_keys"]
        counts = _counts(pc.list_flatten(keys))
        return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))

    def papers_by_id(self, ids: Sequence[str]) -> tuple[Paper, ...]:
        """Return the papers of `ids` that exist, in the given order."""
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
        found = self._rows_by_id("papers", [paper_id], ["references"])
        return tuple(rows.to_reference(row) for row in found[0]["references"]) if found else ()

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
        table = scan(self._tables["passages"], rows.PASSAGE_COLUMNS, f"paper_id = {quoted(paper_id)}")
        return tuple(rows.to_passage(row) for row in table.sort_by("number").to_pylist())

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
        query = np.asarray(vector, np.float32)
        found = self._rows_found(matches, ["id", "vector", "sentence_vectors"])
        wholes = found["vector"].combine_chunks().flatten().to_numpy().reshape(-1, len(query))
        packed = found["sentence_vectors"].to_pylist()
        counts = [rows.count_packed(one, len(query)) for one in packed]
        similarities = _similarities(rows.unpack_vectors(b"".join(packed), len(query)), query)
        return {
            identifier: _close(whole, own)
            for identifier, whole, own in zip(
                found["id"].to_pylist(),
                _similarities(wholes, query).tolist(),
                np.split(similarities, np.cumsum(counts)[:-1]),
                strict=True,
            )
        }

    def builds(self) -> tuple[Build, ...]:
        """Return all builds, oldest first."""
        table = scan(self._tables["builds"], rows.BUILDS.names).sort_by("started")
        return tuple(rows.to_build(row) for row in table.to_pylist())

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

    def _links(self, side: Literal["citing", "cited"], paper_id: str) -> tuple[Link, ...]:
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


def _similarities(vectors: Vectors, query: Vectors) -> Vectors:
    # Not `@`: for a product this small its threads cost more time than they save, on a busy machine 20 times.
    return cast(Vectors, np.einsum("ij,j->i", vectors, query))


def _close(whole: float, similarities: Vectors) -> Closeness:
    """Say how close a passage is from the similarities of its title and of its sentences."""
    if len(similarities) < 2:
        return Closeness(whole, whole, None)
    return Closeness(whole, float(similarities.max()), int(similarities[1:].argmax()))


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    return {entry["values"]: entry["counts"] for entry in pc.value_counts(column).to_pylist()}


def _summary(
    collection: Collection, papers: rows.Row, passages: int, build: Build | None
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


def _sorted_ids(keys: pa.Table, order: PaperOrder) -> list[str]:
    by: dict[PaperOrder, list[tuple[str, str]]] = {
        "position": [("collection_id", "ascending"), ("position", "ascending")],
        "title": [("folded", "ascending")],
        "newest": [("year", "descending"), ("folded", "ascending")],
        "oldest": [("year", "ascending"), ("folded", "ascending")],
    }
    folded = keys.append_column("folded", pc.utf8_lower(keys["title"]))
    return cast(list[str], folded.sort_by([*by[order], ("id", "ascending")])["id"].to_pylist())
