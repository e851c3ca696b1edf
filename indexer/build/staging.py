"""Papers parsed and embedded but not yet published, in files: a build that dies continues from here.

A part is a file of passages and a file of papers; the papers' file is written last and completes it. Its name
begins with the place of its first paper in what the sources list, so that parts have the order of the papers
whoever wrote them when, and holds a word of its own, so that no two writers ever write the same name.
"""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import CorpusError
from corpus.places.place import Place

_PAPERS, _PASSAGES = "papers.arrow", "passages.arrow"
_COUNT, _REMARKS = "staged_count", "staged_notes"  # columns beside those of a paper


@dataclass(frozen=True, slots=True)
class StagedPaper:
    """The counts of a paper that is parsed and embedded."""

    id: str
    collection_id: str
    fingerprint: str
    parser: str
    passages: int
    notes: tuple[str, ...] = ()


class Staging:
    """The parts in a folder that were made with the same `key`: encoder, shape of the tables, indexer."""

    def __init__(self, folder: Place, key: str) -> None:
        """Open the folder, leaving out parts that are incomplete or of another key."""
        self._folder = folder
        self.key = hashlib.sha256(key.encode()).hexdigest()[:16]
        # By id and fingerprint: a build that died may have left an earlier state of a paper.
        self._papers: dict[tuple[str, str], StagedPaper] = {}
        self._part_of: dict[tuple[str, str], Place] = {}
        for part in _listed(folder, f"*-{self.key}.{_PAPERS}"):
            # A machine that lost its power may leave a file that is not whole.
            with contextlib.suppress(pa.ArrowInvalid, OSError):
                self._take_part(part)

    def get(self, paper_id: str, fingerprint: str) -> StagedPaper | None:
        """Return the paper as staged, None unless it was made from the same things."""
        return self._papers.get((paper_id, fingerprint))

    def add(self, part: str, staged: Sequence[StagedPaper]) -> None:
        """Take what `write_part` has written, by its name and what is counted of its papers."""
        for one in staged:
            self._take(one, self._folder / part)

    def paper_batches(self, wanted: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the papers in `wanted`, fingerprints by id."""
        for part, ids in self._parts(wanted).items():
            yield from _rows(self._read(part).drop_columns([_COUNT, _REMARKS]), "id", ids)

    def passage_batches(self, wanted: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the passages of the papers in `wanted`, fingerprints by id."""
        for part, ids in self._parts(wanted).items():
            yield from _rows(self._read(self._passages_of(part)), "paper_id", ids)

    def waiting(self) -> dict[str, int]:
        """Count the staged papers by collection."""
        papers = {(one.id, one.collection_id) for one in self._papers.values()}
        return Counter(collection for _, collection in papers)

    def discard(self, collection_ids: Collection[str] | None = None) -> None:
        """Remove the parts that hold nothing but papers of these collections, or all parts of any key."""
        kept = set() if collection_ids is None else self._parts_of_others(collection_ids)
        with _staging(self._folder):
            gone = self._folder.files("*.arrow*") if collection_ids is None else self._outdated(kept)
            for file in gone:
                file.delete()
        self._part_of = {key: part for key, part in self._part_of.items() if part in kept}
        self._papers = {key: self._papers[key] for key in self._part_of}

    def _parts_of_others(self, collection_ids: Collection[str]) -> set[Place]:
        papers = self._papers.items()
        return {self._part_of[key] for key, one in papers if one.collection_id not in collection_ids}

    def _outdated(self, kept: set[Place]) -> list[Place]:
        """Return the files of all parts but these; a papers' file goes first: without it the rest is none."""
        if self._folder.is_shared:
            # Another machine may be staging the other files here.
            parts = {part for part in self._part_of.values() if part not in kept}
            return [*parts, *map(self._passages_of, parts)]
        files = self._folder.files(f"*-{self.key}.*")
        files.sort(key=lambda file: not file.name.endswith(_PAPERS))
        return [file for file in files if self._papers_of(file) not in kept]

    def _take_part(self, part: Place) -> None:
        columns = ["id", "collection_id", "fingerprint", "parser", _COUNT, _REMARKS]
        for row in _table(part).select(columns).to_pylist():
            made = (row["collection_id"], row["fingerprint"], row["parser"], row[_COUNT])
            self._take(StagedPaper(row["id"], *made, tuple(row[_REMARKS])), part)

    def _take(self, staged: StagedPaper, part: Place) -> None:
        key = (staged.id, staged.fingerprint)
        self._papers[key], self._part_of[key] = staged, part

    def _parts(self, wanted: Mapping[str, str]) -> dict[Place, list[str]]:
        parts: dict[Place, list[str]] = {}
        for key in wanted.items():
            assert key in self._papers, f"{key[0]} was not staged"
            parts.setdefault(self._part_of[key], []).append(key[0])
        return dict(sorted(parts.items(), key=lambda item: item[0].name))

    def _read(self, file: Place) -> pa.Table:
        try:
            return _table(file)
        except (pa.ArrowInvalid, OSError) as error:
            raise CorpusError(
                f"What was staged in {file} cannot be read: it is gone or damaged. Run the same command "
                "again."
            ) from error

    def _passages_of(self, part: Place) -> Place:
        return self._folder / _name_of_passages(part.name)

    def _papers_of(self, file: Place) -> Place:
        return self._folder / file.name.replace(_PASSAGES, _PAPERS)


def write_part(
    folder: Place,
    key: str,
    *,
    number: int,
    papers: pa.Table,
    passages: pa.Table,
    staged: Sequence[StagedPaper],
) -> str:
    """Write rows made by `corpus.store.rows` and return the part's name; raises CorpusError.

    `staged` runs parallel to `papers`, the first of which is in the place `number`.
    """
    name = f"{number:09d}-{uuid4().hex[:12]}-{key}.{_PAPERS}"
    counts = pa.array([one.passages for one in staged], pa.int32())
    notes = pa.array([one.notes for one in staged], pa.list_(pa.string()))
    with _staging(folder):
        # The papers' file says that the passages' is there.
        (folder / _name_of_passages(name)).write(_bytes_of(passages))
        (folder / name).write(_bytes_of(papers.append_column(_COUNT, counts).append_column(_REMARKS, notes)))
    return name


def _name_of_passages(part: str) -> str:
    return part.replace(_PAPERS, _PASSAGES)


def _rows(table: pa.Table, column: str, ids: list[str]) -> list[pa.RecordBatch]:
    return list(table.filter(pc.is_in(table[column], pa.array(ids, pa.string()))).to_batches())


def _table(part: Place) -> pa.Table:
    return pa.ipc.open_file(part.read_bytes()).read_all()


def _bytes_of(table: pa.Table) -> bytes:
    written = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(written, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(written.getvalue())


def has_staged(folder: Place) -> bool:
    return bool(_listed(folder, "*.arrow"))


def _listed(folder: Place, pattern: str) -> list[Place]:
    try:
        return list(folder.files(pattern))
    except OSError as error:
        raise CorpusError(
            f"What is staged in {folder} cannot be listed: {error.strerror}. What may be wrong is said by: "
            "paper-trail doctor"
        ) from error


@contextlib.contextmanager
def _staging(folder: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CorpusError(
            f"The folder {folder} cannot be written: {error.strerror}. What was built so far is "
            "kept; make room or correct its permissions and run the same command again."
        ) from error
