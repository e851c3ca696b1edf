"""Has a model write the aspects of papers that the corpus holds; replies are kept as they come."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from corpus import rows
from corpus.encoder import Encoder
from corpus.errors import CorpusError
from corpus.records import Aspect, Failure, Paper, Scope
from corpus.settings import Settings
from corpus.store import Corpus
from corpus.writer import CorpusWriter
from indexer.enrich.written import AspectReplyError, Complete, write_aspects
from indexer.locking import build_lock

AT_ONCE = 4
# A model that fails so many papers in a row will fail the rest as well.
_FAILURES_IN_A_ROW = 5
_ASPECTS = TypeAdapter(tuple[Aspect, ...])


class ModelFailedError(Exception):
    """A model did not answer; the message is fit for the report."""


@dataclass(frozen=True, slots=True)
class AspectWriter:
    """A model that writes aspects: the name they are kept under, and how it is asked."""

    name: str
    complete: Complete


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it: papers with a text by the model, papers it was asked about, and what failed."""

    written: int
    asked: int
    failures: tuple[Failure, ...]


class _Kept:
    """Replies that were paid for, in a file until they are published: a run that dies asks none twice."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._found = dict(self._read())

    def get(self, paper: Paper) -> tuple[Aspect, ...] | None:
        return self._found.get((paper.id, paper.fingerprint))

    def keep(self, paper: Paper, aspects: Sequence[Aspect]) -> None:
        entry = {"paper": paper.id, "fingerprint": paper.fingerprint}
        line = json.dumps(entry | {"aspects": _ASPECTS.dump_python(tuple(aspects))}, ensure_ascii=False)
        try:
            with self._lock:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")
        except OSError as error:
            raise CorpusError(f"The file {self._path} cannot be written: {error.strerror}.") from error

    def discard(self) -> None:
        self._path.unlink(missing_ok=True)

    def _read(self) -> Iterator[tuple[tuple[str, str], tuple[Aspect, ...]]]:
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        for line in lines:
            try:
                entry = json.loads(line)
                aspects = _ASPECTS.validate_python(entry["aspects"])
                yield (entry["paper"], entry["fingerprint"]), aspects
            except (ValueError, KeyError, TypeError, ValidationError):
                # The last line of a run that was killed while it wrote it.
                continue


def write_corpus_aspects(
    settings: Settings,
    encoder: Encoder,
    writer: AspectWriter,
    collections: Sequence[str],
    progress: Callable[[str], None],
) -> Written:
    """Have the aspects of papers written that `writer` has not written yet, and publish them.

    Raises CorpusError. A paper that fails keeps the aspects it had.
    """
    with build_lock(settings):
        corpus_writer = CorpusWriter(settings.corpus_path, encoder)
        corpus = corpus_writer.published()
        if corpus is None:
            raise CorpusError(f"There is no corpus at {settings.corpus_path}.")
        kept = _Kept(settings.staging_path / f"aspects-{_file_name(writer.name)}.jsonl")
        papers = [
            paper for paper in corpus.papers(Scope(tuple(collections))) if _is_wanted(paper, writer.name)
        ]
        written, failures = _write_all(corpus, papers, writer, kept, progress)
        if written:
            corpus_writer.update_papers(_rows(written))
            corpus_writer.publish()
        kept.discard()
    by_model = sum(any(aspect.writer for aspect in aspects) for aspects in written.values())
    return Written(by_model, len(papers), tuple(failures))


def _is_wanted(paper: Paper, writer: str) -> bool:
    return bool(paper.abstract) and not any(aspect.writer == writer for aspect in paper.aspects)


def _write_all(
    corpus: Corpus,
    papers: Sequence[Paper],
    writer: AspectWriter,
    kept: _Kept,
    progress: Callable[[str], None],
) -> tuple[dict[str, tuple[Aspect, ...]], list[Failure]]:
    """Return the aspects by paper, and what failed; gives up when the model fails again and again."""
    written: dict[str, tuple[Aspect, ...]] = {}
    failures: list[Failure] = []

    def write(paper: Paper) -> tuple[Aspect, ...]:
        if found := kept.get(paper):
            return found
        aspects = write_aspects(writer.complete, paper, corpus.passages(paper.id), writer=writer.name)
        kept.keep(paper, aspects)
        return aspects

    in_a_row = 0
    remaining = iter(papers)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while in_a_row < _FAILURES_IN_A_ROW and (block := list(islice(remaining, AT_ONCE))):
            for paper, future in [(paper, pool.submit(write, paper)) for paper in block]:
                try:
                    written[paper.id] = future.result()
                    in_a_row = 0
                except (AspectReplyError, ModelFailedError) as error:
                    failures.append(Failure(paper.id, str(error)))
                    in_a_row += 1
                progress(paper.title)
    if left := len(papers) - len(written) - len(failures):
        reason = f"not asked, because the model failed for {in_a_row} papers in a row"
        failures.append(Failure(f"{left:,} more papers", reason))
    return written, failures


def _rows(written: dict[str, tuple[Aspect, ...]]) -> pa.Table:
    entries = [{"id": paper, "aspects": _ASPECTS.dump_python(aspects)} for paper, aspects in written.items()]
    schema = pa.schema([rows.PAPERS.field(name) for name in ("id", "aspects")])
    return pa.Table.from_pylist(entries, schema=schema)


def _file_name(writer: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in writer)[:80]
