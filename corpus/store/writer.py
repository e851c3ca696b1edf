"""Changes to the corpus: tables are altered first, then the manifest is replaced in one step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.places.address import place_at
from corpus.places.place import ConflictError, Place
from corpus.records import Build, Cluster, Collection, PassageSize, Topic
from corpus.store import rows, tables
from corpus.store.citation_links import Bibliography, Citable, citing, link_references, may_be_cited
from corpus.store.corpus import Corpus
from corpus.store.manifest import (
    TABLES,
    CutSince,
    Manifest,
    check_encoder,
    find_manifest,
    write_manifest,
)
from corpus.store.tables import KEEP_VERSIONS, each_one_of, one_of, quoted, writing

_IDS_AT_ONCE = 5000
_CITABLE = ["id", "title", "year", "doi", "arxiv_id"]
_LINKED_BY = {*_CITABLE[1:], "references"}
# If more papers changed, it is as fast to find all links again.
_MOST_RELINKED = 500


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """The facts about a known paper that a rebuild needs."""

    fingerprint: str
    position: int
    has_pdf: bool


def known_papers(corpus: Corpus) -> dict[str, dict[str, KnownPaper]]:
    """Return each paper's fingerprint and position, by the ids of collection and paper."""
    known: dict[str, dict[str, KnownPaper]] = {}
    for batch in corpus.scan("papers", ["id", "collection_id", "fingerprint", "position", "pdf_sha256"]):
        for row in batch.to_pylist():
            paper = KnownPaper(row["fingerprint"], row["position"], bool(row["pdf_sha256"]))
            known.setdefault(row["collection_id"], {})[row["id"]] = paper
    return known


class CorpusWriter:
    """Changes a corpus; nothing is visible to readers before `publish`."""

    def __init__(
        self, path: Path | Place, encoder: Encoder, *, unfinished: bool = False, durable: bool = True
    ) -> None:
        """Open or create the corpus at `path`.

        Raises CorpusError if another encoder built it, and if there are tables with rows but no manifest,
        unless an `unfinished` first build left them. A corpus that need not outlive a power loss is not
        `durable`: its tables are not synced.
        """
        self._path = place_at(path)
        self._unfinished, self._durable = unfinished, durable
        self._encoder = encoder
        with writing(self._path):
            self._path.make_folder()
        self._published, self._mark = find_manifest(self._path)
        self._sizes: dict[str, PassageSize] = {}
        # The papers added, removed or changed since the last publication, and the latter two as they were.
        self._changed: set[str] = set()
        self._gone: list[Citable] = []
        if self._published:
            check_encoder(self._published, encoder)
        self._tables: dict[str, Any] = {}
        with self._opening():
            self._connection = tables.connect(self._path)
            self._check_left_over()
        if not self._path.is_shared:
            self._claim()

    def published(self) -> Corpus | None:
        """Return the corpus as readers see it now, None before the first publication."""
        return Corpus(self._path, self._published) if self._published else None

    def put_collections(self, collections: Sequence[Collection]) -> None:
        """Add collections, or replace those with the same ids."""
        with self._changing():
            ids = (collection.id for collection in collections)
            self._tables["collections"].delete(one_of("id", ids))
            self._tables["collections"].add(rows.to_rows(collections, rows.COLLECTIONS))

    def cut_as(self, size: PassageSize, collection_ids: Iterable[str]) -> None:
        """Record the passage size of collections from the next publication on."""
        self._sizes |= dict.fromkeys(collection_ids, size)

    def remove_collection(self, collection_id: str) -> None:
        where = f"collection_id = {quoted(collection_id)}"
        with self._changing():
            self._note_gone(where)
            for table in ("papers", "passages", "builds"):
                self._tables[table].delete(where)
            self._tables["collections"].delete(f"id = {quoted(collection_id)}")

    def remove_papers(self, ids: Sequence[str]) -> None:
        with self._changing():
            for where in each_one_of("id", ids, _IDS_AT_ONCE):
                self._note_gone(where)
                self._tables["papers"].delete(where)
            for where in each_one_of("paper_id", ids, _IDS_AT_ONCE):
                self._tables["passages"].delete(where)

    def move_papers(self, positions: Mapping[str, int]) -> None:
        """Change the positions of papers in their collections, by paper id."""
        columns = {"id": list(positions), "position": pa.array(positions.values(), pa.int32())}
        self.update_papers(pa.table(columns))

    def update_papers(self, papers: pa.Table) -> None:
        """Replace some columns of papers; the table has `id` and these columns."""
        if not papers.num_rows:
            return
        with self._changing():
            if not _LINKED_BY.isdisjoint(papers.column_names):
                for where in each_one_of("id", papers["id"].to_pylist(), _IDS_AT_ONCE):
                    self._note_gone(where)
            self._merge_papers(papers)
            if self._holds_records("papers"):
                for where in each_one_of("id", papers["id"].to_pylist(), _IDS_AT_ONCE):
                    self._renew_records(where)

    def put_topics(self, topics: Mapping[str, Sequence[Topic]]) -> None:
        """Replace the topics of papers, by paper id, and the topic keys of their passages."""
        keys = {identifier: [topic.key for topic in named] for identifier, named in topics.items()}
        self.update_papers(rows.topic_rows(topics))
        for where in each_one_of("paper_id", list(topics), _IDS_AT_ONCE):
            with self._changing():
                passages = tables.scan(self._tables["passages"], ["paper_id", "number"], where)
                column = [keys[identifier] for identifier in passages["paper_id"].to_pylist()]
                changed = passages.append_column("topic_keys", pa.array(column, rows.KEYS))
                merge = self._tables["passages"].merge_insert(["paper_id", "number"])
                merge.when_matched_update_all().execute(changed)

    def add_papers(self, papers: Iterable[pa.RecordBatch], passages: Iterable[pa.RecordBatch]) -> None:
        """Add rows made by `corpus.store.rows`, a batch at a time."""
        with self._changing():
            for name, batches in (("passages", passages), ("papers", self._note_new(papers))):
                schema = self._tables[name].schema
                whole = self._with_records(name, batches)
                ordered = (
                    pa.RecordBatch.from_arrays([batch[column] for column in schema.names], schema=schema)
                    for batch in whole
                )
                self._tables[name].add(pa.RecordBatchReader.from_batches(schema, ordered))

    def add_builds(self, builds: Sequence[Build]) -> None:
        with self._changing():
            self._tables["builds"].add(rows.to_rows(builds, rows.BUILDS))

    def first_vectors(self) -> Iterator[pa.RecordBatch]:
        """Yield the `paper_id` and the `vector` of every paper's first passage, in no particular order."""
        return tables.scan_batches(self._tables["passages"], ["paper_id", "vector"], "number = 0")

    def papers_as(self, columns: list[str], ids: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns of papers as they will be published, some papers at a time."""
        for where in each_one_of("id", ids, _IDS_AT_ONCE):
            yield tables.scan(self._tables["papers"], columns, where)

    def put_map(self, places: pa.Table, clusters: Sequence[Cluster]) -> None:
        """Replace the map of all papers; `places` has the columns of `rows.PLACES`."""
        with self._changing():
            for name, table in (("places", places), ("clusters", rows.to_rows(clusters, rows.CLUSTERS))):
                self._tables[name].delete("true")
                self._tables[name].add(table)

    def _merge_papers(self, papers: pa.Table) -> None:
        self._tables["papers"].merge_insert("id").when_matched_update_all().execute(papers)

    def _renew_records(self, where: str) -> None:
        """Update the column that holds whole papers after other columns were changed."""
        changed = tables.scan(self._tables["papers"], rows.PAPER_COLUMNS, where)
        batches = [rows.with_records(batch, rows.PAPER_COLUMNS) for batch in changed.to_batches()]
        if batches:
            self._merge_papers(pa.Table.from_batches(batches).select(["id", rows.RECORD.name]))

    def _with_records(self, name: str, batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        if not self._holds_records(name):
            return batches
        return (rows.with_records(batch, rows.RECORDS[name]) for batch in batches)

    def _holds_records(self, name: str) -> bool:
        return rows.RECORD.name in self._tables[name].schema.names

    def _claim(self) -> None:
        """Open the tables at their published versions, without an unfinished build's changes; or make them.

        In a shared place this is a change, after which LanceDB refuses changes of earlier claimants, so that
        nobody publishes a mixture.
        """
        with self._opening():
            self._tables = {name: self._table(name) for name in TABLES}

    def _opening(self) -> AbstractContextManager[None]:
        return tables.opening(self._path) if self._published else writing(self._path)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Claim the tables for changes; raises CorpusError if this fails or another build has them."""
        if not self._tables:
            if find_manifest(self._path)[1] != self._mark:
                raise self._overtaken()
            self._claim()
        try:
            with writing(self._path):
                yield
        except CorpusError as error:
            if self._path.is_shared and self._is_claimed_by_another():
                raise self._overtaken() from error
            raise

    def _is_claimed_by_another(self) -> bool:
        try:
            now = {name: self._connection.open_table(name).version for name in self._tables}
            return any(now[name] > table.version for name, table in self._tables.items())
        except (OSError, RuntimeError, ValueError):
            return False

    def _overtaken(self) -> CorpusError:
        return CorpusError(
            f"Another build writes to {self._path}, or has published there since this one began. What this "
            "one has staged is kept: run the same command again when the other is done."
        )

    def index(self) -> None:
        """Bring the indices of papers and passages up to date before the publication, beside other work."""
        with self._changing():
            tables.bring_indices_up_to_date({name: self._tables[name] for name in ("papers", "passages")})

    def publish(self) -> None:
        """Bring links and indices up to date and make everything visible to readers, in one step."""
        with self._changing():
            self._link()
        self.compact()
        self._changed, self._gone = set(), []

    def compact(self, keep_versions: timedelta = KEEP_VERSIONS, *, unverified: bool = False) -> None:
        """Rewrite the tables as few files, publish that, and drop versions older than `keep_versions`.

        With `unverified`, all other versions are dropped, and files that no version names: those of a killed
        writer, or, if the tables are not locked, those that another one is writing.
        """
        with self._changing():
            tables.bring_indices_up_to_date(self._tables)
            if self._durable:
                self._path.settle([f"{name}.lance" for name in self._tables])
            versions = {name: int(table.version) for name, table in self._tables.items()}
            manifest = Manifest(
                encoder=self._encoder.name,
                encoder_sha256=self._encoder.sha256,
                dimension=self._dimension,
                runtime=self._encoder.runtime,
                versions=versions,
                cuts=self._cuts(versions["passages"]),
            )
            try:
                self._mark = write_manifest(self._path, manifest, self._mark)
            except ConflictError as error:
                raise self._overtaken() from error
            if keep_versions < KEEP_VERSIONS:
                # Only now: before this, the versions published earlier are the corpus.
                for name, table in self._tables.items():
                    if unverified:
                        tables.drop_manifests_but_newest(self._path, name, table)
                    table.optimize(cleanup_older_than=keep_versions, delete_unverified=unverified)
        self._published = manifest
        if self._path.is_shared:
            self._tables = {}

    def _cuts(self, version: int) -> tuple[CutSince, ...]:
        """Return the passage sizes of collections, this version's changes last."""
        earlier = self._published.cuts if self._published else ()
        size_of = self._published.size_of if self._published else lambda _: PassageSize()
        changed = (
            CutSince(collection, version, size)
            for collection, size in self._sizes.items()
            if size != size_of(collection)
        )
        return (*earlier, *changed)

    def _note_gone(self, where: str) -> None:
        """Record papers before they are changed or removed."""
        papers = [Citable(**row) for row in self._paper_rows(_CITABLE, where)]
        self._gone += papers
        self._changed.update(paper.id for paper in papers)

    def _note_new(self, papers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in papers:
            self._changed.update(batch["id"].to_pylist())
            yield batch

    def _link(self) -> None:
        """Update the links: a paper that is added or removed changes those of others."""
        if not self._published or len(self._changed) > _MOST_RELINKED:
            self._tables["links"].delete("true")
            self._add_links(self._citable(), self._bibliographies())
        elif self._changed:
            self._link_changed()

    def _link_changed(self) -> None:
        ids = self._changed | set(self._citing_changed())
        for where in each_one_of("citing", sorted(ids), _IDS_AT_ONCE):
            self._tables["links"].delete(where)
        changed = [entries for where in self._each(ids) for entries in self._bibliographies(where)]
        self._add_links(filter(may_be_cited(changed), self._citable()), changed)

    def _citing_changed(self) -> Iterator[str]:
        now = (paper for where in self._each(self._changed) for paper in self._citable(where))
        papers = [*self._gone, *now]
        return citing(papers, tables.scan_batches(self._tables["papers"], ["id", "references"]))

    def _each(self, ids: Iterable[str]) -> Iterator[str]:
        return each_one_of("id", sorted(ids), _IDS_AT_ONCE)

    def _add_links(self, papers: Iterable[Citable], bibliographies: Iterable[Bibliography]) -> None:
        self._tables["links"].add(rows.to_rows(link_references(papers, bibliographies), rows.LINKS))

    def _citable(self, where: str | None = None) -> Iterator[Citable]:
        return (Citable(**row) for row in self._paper_rows(_CITABLE, where))

    def _bibliographies(self, where: str | None = None) -> Iterator[Bibliography]:
        for row in self._paper_rows(["id", "references"], where):
            yield row["id"], [rows.to_reference(entry) for entry in row["references"]]

    def _paper_rows(self, columns: list[str], where: str | None = None) -> Iterator[rows.Row]:
        for batch in tables.scan_batches(self._tables["papers"], columns, where):
            yield from batch.to_pylist()

    def _table(self, name: str) -> Any:
        if self._published is None:
            return self._new_table(name)
        published = self._published.versions[name]
        table = tables.open_published(self._path, name, published)
        if self._path.is_shared or table.version != published:
            table.checkout(published)
            table.restore()
        if lacking := rows.ADDED.get(name, {}).keys() - set(table.schema.names):
            table.add_columns({column: rows.ADDED[name][column] for column in lacking})
        return table

    def _new_table(self, name: str) -> Any:
        connection, schema = self._connection, self._schema(name)
        if not self._path.is_shared:
            connection.drop_table(name, ignore_missing=True)
            return connection.create_table(name, schema=schema)
        try:
            return connection.create_table(name, schema=schema)
        except ValueError:
            # It exists, and dropping it would delete files that another build is writing.
            return connection.create_table(name, schema=schema, mode="overwrite")

    def _check_left_over(self) -> None:
        """Raise CorpusError rather than drop tables that may be somebody's whole corpus."""
        if self._published or self._unfinished:
            return
        existing = self._connection.list_tables().tables
        if any(self._has_rows(name) for name in TABLES if name in existing):
            raise CorpusError(
                f"The folder {self._path} holds tables of a corpus but no manifest.json. Put the manifest "
                "back, or move the folder away and build the corpus again."
            )

    def _has_rows(self, name: str) -> bool:
        try:
            return bool(self._connection.open_table(name).count_rows())
        except ValueError:
            # If the process died while it made the table, there is a folder but no version.
            return bool((self._path / f"{name}.lance" / "data").files())

    def _schema(self, name: str) -> pa.Schema:
        schema = rows.passages_schema(self._dimension) if name == "passages" else rows.SCHEMAS[name]
        return schema.append(rows.RECORD) if name in rows.RECORDS else schema

    @property
    def _dimension(self) -> int:
        if self._published:
            return self._published.dimension
        return int(self._encoder.encode_query("dimension").shape[0])
