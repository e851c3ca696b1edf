"""Changes to the corpus: tables are altered first, then the manifest is replaced in one step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpus import rows, tables
from corpus.encoder import Encoder
from corpus.errors import CorpusError
from corpus.links import Citable, link_references
from corpus.manifest import TABLES, Manifest, check_encoder, read_manifest, write_manifest
from corpus.records import Build, Cluster, Collection, Reference
from corpus.store import Corpus
from corpus.tables import KEEP_VERSIONS, one_of, quoted, writing

_IDS_PER_DELETION = 5000


class CorpusWriter:
    """Changes a corpus; nothing is visible to readers before `publish`."""

    def __init__(self, path: Path, encoder: Encoder, *, unfinished: bool = False) -> None:
        """Open or create the corpus at `path`.

        Raises CorpusError when another encoder built it, and when there are tables with rows but no manifest,
        unless they are known to be what an `unfinished` first build left.
        """
        self._path = path
        self._unfinished = unfinished
        self._encoder = encoder
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        self._published = read_manifest(path) if (path / "manifest.json").exists() else None
        if self._published:
            check_encoder(self._published, encoder)
        with tables.opening(path) if self._published else writing(path):
            self._connection = tables.connect(path)
            self._tables = {name: self._table(name) for name in TABLES}

    def published(self) -> Corpus | None:
        """Return the corpus as readers see it now, None before the first publication."""
        return Corpus(self._path, self._published) if self._published else None

    def put_collections(self, collections: Sequence[Collection]) -> None:
        """Describe collections, those of the same ids anew."""
        with writing(self._path):
            self._tables["collections"].delete(one_of("id", (one.id for one in collections)))
            self._tables["collections"].add(rows.collection_rows(collections))

    def remove_collection(self, collection_id: str) -> None:
        where = f"collection_id = {quoted(collection_id)}"
        with writing(self._path):
            for table in ("papers", "passages", "builds"):
                self._tables[table].delete(where)
            self._tables["collections"].delete(f"id = {quoted(collection_id)}")

    def remove_papers(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _IDS_PER_DELETION):
            block = ids[start : start + _IDS_PER_DELETION]
            with writing(self._path):
                self._tables["passages"].delete(one_of("paper_id", block))
                self._tables["papers"].delete(one_of("id", block))

    def move_papers(self, positions: Mapping[str, int]) -> None:
        """Give papers other places in their collections, by their ids."""
        columns = {"id": list(positions), "position": pa.array(positions.values(), pa.int32())}
        self.update_papers(pa.table(columns))

    def update_papers(self, papers: pa.Table) -> None:
        """Replace the columns given of the papers given; the table has `id` and some columns more."""
        if not papers.num_rows:
            return
        with writing(self._path):
            self._tables["papers"].merge_insert("id").when_matched_update_all().execute(papers)

    def add_papers(self, papers: Iterable[pa.RecordBatch], passages: Iterable[pa.RecordBatch]) -> None:
        """Add rows made by `corpus.rows`, a batch at a time."""
        with writing(self._path):
            for name, batches in (("passages", passages), ("papers", papers)):
                schema = self._schema(name)
                self._tables[name].add(pa.RecordBatchReader.from_batches(schema, batches))

    def add_builds(self, builds: Sequence[Build]) -> None:
        with writing(self._path):
            self._tables["builds"].add(rows.build_rows(builds))

    def first_vectors(self) -> Iterator[pa.RecordBatch]:
        """Yield the `paper_id` and the `vector` of every paper's first passage, in no particular order."""
        return tables.scan_batches(self._tables["passages"], ["paper_id", "vector"], "number = 0")

    def papers_as(self, columns: list[str], ids: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns of the papers given as they will be published, some papers at a time."""
        for start in range(0, len(ids), _IDS_PER_DELETION):
            block = one_of("id", ids[start : start + _IDS_PER_DELETION])
            yield tables.scan(self._tables["papers"], columns, block)

    def put_map(self, places: pa.Table, clusters: Sequence[Cluster]) -> None:
        """Replace the map of all papers; `places` has the columns of `rows.PLACES`."""
        with writing(self._path):
            for name, table in (("places", places), ("clusters", rows.cluster_rows(clusters))):
                self._tables[name].delete("true")
                self._tables[name].add(table)

    def publish(self) -> None:
        """Bring links and indices up to date and make everything visible to readers, in one step."""
        with writing(self._path):
            self._link()
        self.compact(KEEP_VERSIONS)

    def compact(self, keep_versions: timedelta) -> None:
        """Rewrite the tables as few files, drop what is older than `keep_versions`, and publish that."""
        with writing(self._path):
            for name, table in self._tables.items():
                tables.bring_indices_up_to_date(name, table, keep_versions)
            manifest = Manifest(
                encoder=self._encoder.name,
                encoder_sha256=self._encoder.sha256,
                dimension=self._dimension,
                runtime=self._encoder.runtime,
                versions={name: int(table.version) for name, table in self._tables.items()},
            )
            write_manifest(self._path, manifest)
        self._published = manifest

    def _link(self) -> None:
        """Find the links between the papers anew: a paper that came or went changes those of others."""
        table = rows.link_rows(link_references(self._citable(), self._bibliographies()))
        self._tables["links"].delete("true")
        self._tables["links"].add(table)

    def _citable(self) -> Iterator[Citable]:
        for row in self._paper_rows(["id", "title", "year", "doi", "arxiv_id"]):
            yield Citable(**row)

    def _bibliographies(self) -> Iterator[tuple[str, list[Reference]]]:
        for row in self._paper_rows(["id", "references"]):
            yield row["id"], [rows.to_reference(entry) for entry in row["references"]]

    def _paper_rows(self, columns: list[str]) -> Iterator[dict[str, Any]]:
        for batch in tables.scan_batches(self._tables["papers"], columns):
            yield from batch.to_pylist()

    def _table(self, name: str) -> Any:
        """Open a table at its published version, dropping what an unfinished build left; or create it."""
        if self._published is None:
            self._check_left_over(name)
            self._connection.drop_table(name, ignore_missing=True)
            return self._connection.create_table(name, schema=self._schema(name))
        table = self._connection.open_table(name)
        published = self._published.versions[name]
        if table.version != published:
            table.checkout(published)
            table.restore()
        return table

    def _check_left_over(self, name: str) -> None:
        """Raise CorpusError rather than drop a table that may be all there is of somebody's corpus."""
        if self._unfinished or name not in self._connection.list_tables().tables:
            return
        if self._connection.open_table(name).count_rows():
            raise CorpusError(
                f"The folder {self._path} holds tables of a corpus but no manifest.json. Put the manifest "
                "back, or move the folder away and build the corpus again."
            )

    def _schema(self, name: str) -> pa.Schema:
        return rows.passages_schema(self._dimension) if name == "passages" else rows.SCHEMAS[name]

    @property
    def _dimension(self) -> int:
        if self._published:
            return self._published.dimension
        return int(self._encoder.encode_query("dimension").shape[0])
