"""The corpus on disk: LanceDB tables, their published versions and the manifest.

A manifest names one version of each table; readers see exactly those versions. A writer changes the
tables and then replaces the manifest in one step, so readers see the old corpus until the new one is
complete, and a writer that dies leaves the old corpus in place.

This is the only file that imports lancedb.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, cast

import lancedb
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.index import FTS, Bitmap, BTree
from lancedb.query import MatchQuery

from corpus import rows
from corpus.encoder import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.manifest import TABLES, Manifest, check_encoder, read_manifest, rebuild_advice, write_manifest
from corpus.records import (
    Build,
    Collection,
    CollectionSummary,
    Paper,
    Passage,
    Reference,
    Scope,
)

KEEP_VERSIONS = timedelta(days=3650)  # old versions are what a replay checks out
PaperOrder = Literal["position", "title", "newest", "oldest"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """What a rebuild needs to know of a paper that the corpus holds."""

    fingerprint: str
    position: int


@dataclass(frozen=True, slots=True)
class Match:
    """A passage found by one side of the search, with that side's score."""

    passage_id: str
    paper_id: str
    score: float


class Corpus:
    """The papers and passages of a published corpus, read-only."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        with _opening(path):
            connection = lancedb.connect(path)
            self._tables = {name: connection.open_table(name) for name in TABLES}
            for name, table in self._tables.items():
                table.checkout(manifest.versions[name])

    @classmethod
    def open(cls, path: Path, encoder: Encoder) -> "Corpus":
        """Open the corpus at `path`.

        Raises CorpusError when there is none, when it is damaged and when another encoder built it.
        """
        manifest = read_manifest(path)
        check_encoder(manifest, encoder)
        return cls(path, manifest)

    def collections(self) -> tuple[CollectionSummary, ...]:
        """Return every collection with its counts, in the order of their ids."""
        papers = _scan(self._tables["papers"], ["collection_id", "full_text", "year"])
        passages = _scan(self._tables["passages"], ["collection_id"])
        passage_counts = _counts(passages["collection_id"])
        builds = {build.collection_id: build for build in self.builds()}
        collections = [rows.to_collection(row) for row in _scan(self._tables["collections"]).to_pylist()]
        return tuple(
            _summary(collection, papers, passage_counts, builds.get(collection.id))
            for collection in sorted(collections, key=lambda collection: collection.id)
        )

    def collection(self, collection_id: str) -> Collection:
        """Return one collection; raises CorpusError when the corpus has none of that id."""
        where = f"id = {_quoted(collection_id)}"
        found = _scan(self._tables["collections"], rows.COLLECTIONS.names, where).to_pylist()
        if not found:
            raise CorpusError(f"There is no collection {collection_id!r} in this corpus.")
        return rows.to_collection(found[0])

    def collection_ids(self) -> tuple[str, ...]:
        return tuple(sorted(_scan(self._tables["collections"], ["id"])["id"].to_pylist()))

    def papers(
        self,
        scope: Scope | None = None,
        order: PaperOrder = "position",
        offset: int = 0,
        limit: int | None = None,
    ) -> tuple[Paper, ...]:
        """Return the papers in `scope`, sorted, from `offset` on."""
        keys = _scan(
            self._tables["papers"], ["id", "collection_id", "position", "title", "year"], _where(scope, "id")
        )
        page = _sorted_ids(keys, order)[offset : None if limit is None else offset + limit]
        return self.papers_by_id(page)

    def count_papers(self, scope: Scope | None = None) -> int:
        return int(self._tables["papers"].count_rows(_where(scope, "id")))

    def count_passages(self, paper_id: str) -> int:
        return int(self._tables["passages"].count_rows(f"paper_id = {_quoted(paper_id)}"))

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

    def passages(self, paper_id: str) -> tuple[Passage, ...]:
        """Return a paper's passages in reading order."""
        table = _scan(self._tables["passages"], rows.PASSAGE_COLUMNS, f"paper_id = {_quoted(paper_id)}")
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

    def builds(self) -> tuple[Build, ...]:
        """Return all builds, oldest first."""
        table = _scan(self._tables["builds"]).sort_by("started")
        return tuple(rows.to_build(row) for row in table.to_pylist())

    def known_papers(self, collection_id: str) -> dict[str, KnownPaper]:
        """Return what each paper of a collection was made from and where it stands, by paper id."""
        where = f"collection_id = {_quoted(collection_id)}"
        table = _scan(self._tables["papers"], ["id", "fingerprint", "position"], where)
        return {row["id"]: KnownPaper(row["fingerprint"], row["position"]) for row in table.to_pylist()}

    def nearest(self, vector: Vectors | Sequence[float], scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` nearest to a unit vector by cosine similarity, best first."""
        query = self._tables["passages"].search(vector, vector_column_name="vector").distance_type("cosine")
        found = _filtered(query, scope).select(["id", "paper_id", "_distance"]).limit(limit).to_list()
        return [Match(row["id"], row["paper_id"], 1 - row["_distance"]) for row in found]

    def matching(self, words: str, scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` that share words with a text by BM25, best first."""
        # A MatchQuery takes the words as words: nothing in them is read as query syntax.
        query = self._tables["passages"].search(MatchQuery(words, "indexed"), query_type="fts")
        found = _filtered(query, scope).select(["id", "paper_id", "_score"]).limit(limit).to_list()
        return [Match(row["id"], row["paper_id"], row["_score"]) for row in found]

    def _rows_by_id(self, table: str, ids: Sequence[str], columns: list[str]) -> list[rows.Row]:
        found: list[rows.Row] = []
        for start in range(0, len(ids), 500):
            where = _in("id", ids[start : start + 500])
            found += _scan(self._tables[table], columns, where).to_pylist()
        return found


class CorpusWriter:
    """Changes a corpus; nothing is visible to readers before `publish`."""

    def __init__(self, path: Path, encoder: Encoder) -> None:
        """Open or create the corpus at `path`; raises CorpusError when another encoder built it."""
        self._path = path
        self._encoder = encoder
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)
        self._published = read_manifest(path) if (path / "manifest.json").exists() else None
        if self._published:
            check_encoder(self._published, encoder)
        with _opening(path) if self._published else _writing(path):
            self._connection = lancedb.connect(path)
            self._tables = {name: self._table(name) for name in TABLES}

    def published(self) -> Corpus | None:
        """Return the corpus as readers see it now, None before the first publication."""
        return Corpus(self._path, self._published) if self._published else None

    def put_collection(self, collection: Collection) -> None:
        with _writing(self._path):
            self._tables["collections"].delete(f"id = {_quoted(collection.id)}")
            self._tables["collections"].add(rows.collection_rows([collection]))

    def remove_collection(self, collection_id: str) -> None:
        where = f"collection_id = {_quoted(collection_id)}"
        with _writing(self._path):
            for table in ("papers", "passages", "builds"):
                self._tables[table].delete(where)
            self._tables["collections"].delete(f"id = {_quoted(collection_id)}")

    def remove_papers(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), 500):
            block = ids[start : start + 500]
            with _writing(self._path):
                self._tables["passages"].delete(_in("paper_id", block))
                self._tables["papers"].delete(_in("id", block))

    def move_papers(self, positions: Mapping[str, int]) -> None:
        """Give papers other places in their collections, by their ids."""
        if not positions:
            return
        table = pa.table({"id": list(positions), "position": pa.array(positions.values(), pa.int32())})
        with _writing(self._path):
            self._tables["papers"].merge_insert("id").when_matched_update_all().execute(table)

    def add_papers(self, papers: pa.Table, passages: pa.Table) -> None:
        """Add rows made by `corpus.rows`."""
        with _writing(self._path):
            self._tables["passages"].add(passages)
            self._tables["papers"].add(papers)

    def add_build(self, build: Build) -> None:
        with _writing(self._path):
            self._tables["builds"].add(rows.build_rows(build))

    def publish(self) -> None:
        """Bring the indices up to date and make everything written visible to readers, in one step."""
        with _writing(self._path):
            self._index()
            manifest = Manifest(
                encoder=self._encoder.name,
                encoder_sha256=self._encoder.sha256,
                dimension=self._dimension,
                versions={name: int(table.version) for name, table in self._tables.items()},
            )
            write_manifest(self._path, manifest)
        self._published = manifest

    def _table(self, name: str) -> Any:
        """Open a table at its published version, dropping what an unfinished build left; or create it."""
        if self._published is None:
            self._connection.drop_table(name, ignore_missing=True)
            return self._connection.create_table(name, schema=self._schema(name))
        table = self._connection.open_table(name)
        published = self._published.versions[name]
        if table.version != published:
            table.checkout(published)
            table.restore()
        return table

    def _schema(self, name: str) -> pa.Schema:
        if name == "passages":
            return rows.passages_schema(self._dimension)
        return {"collections": rows.COLLECTIONS, "papers": rows.PAPERS, "builds": rows.BUILDS}[name]

    @property
    def _dimension(self) -> int:
        if self._published:
            return self._published.dimension
        return int(self._encoder.encode_query("dimension").shape[0])

    def _index(self) -> None:
        for table in self._tables.values():
            table.optimize(cleanup_older_than=KEEP_VERSIONS)
        passages, papers = self._tables["passages"], self._tables["papers"]
        if not passages.count_rows():
            return
        existing = {index.name for index in passages.list_indices()}
        if not existing:
            passages.create_index("indexed", config=FTS(), replace=True)
            for column in ("id", "paper_id"):
                passages.create_index(column, config=BTree(), replace=True)
            passages.create_index("collection_id", config=Bitmap(), replace=True)
            papers.create_index("id", config=BTree(), replace=True)


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Say in words that tables are missing or damaged; LanceDB raises ValueError or RuntimeError for it."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        logger.warning("opening the corpus at %s: %s", path, error)
        raise CorpusError(
            f"The corpus at {path} is damaged: its tables cannot be opened. {rebuild_advice(path)}"
        ) from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say in words that the folder cannot be written; LanceDB raises OSError or RuntimeError for it."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        logger.warning("writing the corpus at %s: %s", path, error)
        raise CorpusError(
            f"The corpus folder {path} cannot be written. Check its permissions and the space on its disk; "
            "what was published before is still there."
        ) from error


def _quoted(value: str) -> str:
    """Return `value` as an SQL string literal; half a surrogate pair becomes a mark that no id has."""
    return "'" + value.replace("'", "''").encode("utf-8", "replace").decode() + "'"


def _in(column: str, values: Iterable[str]) -> str:
    return f"{column} IN ({', '.join(_quoted(value) for value in values)})"


def _where(scope: Scope | None, paper_column: Literal["id", "paper_id"]) -> str | None:
    """Return `scope` as an SQL condition: columns from here, every value quoted."""
    if scope is None:
        return None
    conditions = []
    if scope.collections:
        conditions.append(_in("collection_id", scope.collections))
    if scope.papers:
        conditions.append(_in(paper_column, scope.papers))
    if scope.years:
        # The column holds 32 bits: a year beyond them would be an error where it should find nothing.
        first, last = (min(max(int(year), 0), 9999) for year in scope.years)
        conditions.append(f"year >= {first} AND year <= {last}")
    return " AND ".join(conditions) or None


def _filtered(query: Any, scope: Scope) -> Any:
    where = _where(scope, "paper_id")
    return query.where(where, prefilter=True) if where else query


def _scan(table: Any, columns: list[str] | None = None, where: str | None = None) -> pa.Table:
    """Return all rows of a table that meet a condition, as Arrow."""
    query = table.search()
    if columns is not None:
        query = query.select(columns)
    if where is not None:
        query = query.where(where)
    return query.to_arrow()


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    return {entry["values"]: entry["counts"] for entry in pc.value_counts(column).to_pylist()}


def _summary(
    collection: Collection, papers: pa.Table, passage_counts: Mapping[str, int], build: Build | None
) -> CollectionSummary:
    own = papers.filter(pc.equal(papers["collection_id"], collection.id))
    years = pc.min_max(own["year"]).as_py()
    return CollectionSummary(
        collection=collection,
        papers=own.num_rows,
        passages=passage_counts.get(collection.id, 0),
        full_texts=int(pc.sum(own["full_text"]).as_py() or 0),
        failed=len(build.failures) if build else 0,
        first_year=years["min"],
        last_year=years["max"],
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
