"""Papers parsed and embedded but not yet published, in files: an unfinished build continues from here.

A part is a file of passages and a file of papers, which is written last and completes it. Its name begins
with the position of its first paper in what the sources list, so that parts sort by papers whoever wrote
them, and holds a random word, so that two writers never use the same name.
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
_COUNT, _REMARKS = "staged_count", "staged_notes"  # columns in addition to a paper's


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
    """The parts in a folder with the same `key`: encoder, table schema and indexer version."""

    def __init__(self, folder: Place, key: str) -> None:
        """Open the folder, leaving out parts that are incomplete or of another key."""
        self._folder = folder
        self.key = hashlib.sha256(key.encode()).hexdigest()[:16]
        # By id and fingerprint: an unfinished build may have staged an earlier version of a paper.
        self._papers: dict[tuple[str, str], StagedPaper] = {}
        self._part_of: dict[tuple[str, str], Place] = {}
        for part in _listed(folder, f"*-{self.key}.{_PAPERS}"):
            # A power loss may leave a truncated file.
            with contextlib.suppress(pa.ArrowInvalid, OSError):
                columns = ["id", "collection_id", "fingerprint", "parser", _COUNT, _REMARKS]
                for row in _table(part).select(columns).to_pylist():
                    counts = (row["collection_id"], row["fingerprint"], row["parser"], row[_COUNT])
                    self._add(StagedPaper(row["id"], *counts, tuple(row[_REMARKS])), part)

    def get(self, paper_id: str, fingerprint: str) -> StagedPaper | None:
        """Return the staged paper with that fingerprint, or None."""
        return self._papers.get((paper_id, fingerprint))

    def add(self, part: str, staged: Sequence[StagedPaper]) -> None:
        """Add a part that `write_part` has written, with the counts of its papers."""
        for paper in staged:
            self._add(paper, self._folder / part)

    def paper_batches(self, fingerprints: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of papers, given their `fingerprints` by id."""
        for part, ids in self._parts(fingerprints).items():
            yield from _rows(self._read(part).drop_columns([_COUNT, _REMARKS]), "id", ids)

    def passage_batches(self, fingerprints: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the passages of papers, given the papers' `fingerprints` by id."""
        for part, ids in self._parts(fingerprints).items():
            yield from _rows(self._read(self._passages_of(part)), "paper_id", ids)

    def waiting(self) -> dict[str, int]:
        """Count the staged papers by collection."""
        papers = {(paper.id, paper.collection_id) for paper in self._papers.values()}
        return Counter(collection for _, collection in papers)

    def discard(self, collection_ids: Collection[str] | None = None) -> None:
        """Remove the parts that hold only papers of these collections; without any named, all parts."""
        needed: set[Place] = set()
        if collection_ids is not None:
            papers = self._papers.items()
            needed = {
                self._part_of[key] for key, paper in papers if paper.collection_id not in collection_ids
            }
        with _staging(self._folder):
            for file in self._folder.files("*.arrow*") if collection_ids is None else self._outdated(needed):
                file.delete()
        self._part_of = {key: part for key, part in self._part_of.items() if part in needed}
        self._papers = {key: self._papers[key] for key in self._part_of}

    def _outdated(self, needed: set[Place]) -> list[Place]:
        """Return the files of all other parts, papers first: a part without its papers is incomplete."""
        if self._folder.is_shared:
            # Another machine may be staging the other files.
            parts = {part for part in self._part_of.values() if part not in needed}
            return [*parts, *map(self._passages_of, parts)]
        files = self._folder.files(f"*-{self.key}.*")
        files.sort(key=lambda file: not file.name.endswith(_PAPERS))
        return [file for file in files if self._papers_of(file) not in needed]

    def _add(self, staged: StagedPaper, part: Place) -> None:
        key = (staged.id, staged.fingerprint)
        self._papers[key], self._part_of[key] = staged, part

    def _parts(self, fingerprints: Mapping[str, str]) -> dict[Place, list[str]]:
        parts: dict[Place, list[str]] = {}
        for key in fingerprints.items():
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

    `staged` runs parallel to `papers`; `number` is the position of the first.
    """
    name = f"{number:09d}-{uuid4().hex[:12]}-{key}.{_PAPERS}"
    counts = pa.array([paper.passages for paper in staged], pa.int32())
    notes = pa.array([paper.notes for paper in staged], pa.list_(pa.string()))
    with _staging(folder):
        # The papers' file is written last: it marks the part as complete.
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
