"""Has a model write the aspects of papers that the corpus holds; replies are kept as they come."""

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from assistant.models import Complete, ModelError
from corpus.encoders import Encoder
from corpus.errors import CorpusError
from corpus.records import Aspect, Failure, Paper, Scope
from corpus.settings import Settings
from corpus.store import Corpus, CorpusWriter, rows
from indexer.enrich.written import write_aspects
from indexer.lock import build_lock

AT_ONCE = 4
# A model that fails so many papers in a row will fail the rest as well.
_FAILURES_IN_A_ROW = 5
_ASPECTS = TypeAdapter(tuple[Aspect, ...])


@dataclass(frozen=True, slots=True)
class AspectModel:
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
    """One model's replies that were paid for, in a file until they are published: none is asked for twice."""

    def __init__(self, folder: Path, model: str) -> None:
        # The hash tells apart what looks alike without its punctuation: a file is of one model alone.
        plain = "".join(character if character.isalnum() else "-" for character in model)[:60]
        self._path = folder / f"aspects-{plain}-{hashlib.sha256(model.encode()).hexdigest()[:12]}.jsonl"
        self._lock = threading.Lock()
        self._found = dict(self._read())

    def get(self, paper: Paper) -> tuple[Aspect, ...] | None:
        return self._found.get((paper.id, paper.fingerprint))

    def keep(self, paper: Paper, aspects: Sequence[Aspect]) -> None:
        with self._lock:
            self._found[paper.id, paper.fingerprint] = tuple(aspects)
            self._write("a", [(paper.id, paper.fingerprint)])

    def discard(self, published: Collection[str]) -> None:
        """Drop the replies on these papers; those on others wait for a run that asks for them."""
        if left := [key for key in self._found if key[0] not in published]:
            self._write("w", left)
        else:
            self._path.unlink(missing_ok=True)

    def _write(self, mode: Literal["a", "w"], keys: Sequence[tuple[str, str]]) -> None:
        entries = (
            {"paper": paper, "fingerprint": mark, "aspects": _ASPECTS.dump_python(self._found[paper, mark])}
            for paper, mark in keys
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open(mode, encoding="utf-8") as stream:
                stream.writelines(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)
        except OSError as error:
            raise CorpusError(f"The file {self._path} cannot be written: {error.strerror}.") from error

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
    writer: AspectModel,
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
        kept = _Kept(settings.staging_path, writer.name)
        papers = [
            paper for paper in corpus.papers(Scope(tuple(collections))) if _is_wanted(paper, writer.name)
        ]
        written, failures = _write_all(corpus, papers, writer, kept, progress)
        if written:
            corpus_writer.update_papers(_rows(written))
            corpus_writer.publish()
        kept.discard({paper.id for paper in papers})
    by_model = sum(any(aspect.writer for aspect in aspects) for aspects in written.values())
    return Written(by_model, len(papers), tuple(failures))


def _is_wanted(paper: Paper, writer: str) -> bool:
    return bool(paper.abstract) and not any(aspect.writer == writer for aspect in paper.aspects)


def _write_all(
    corpus: Corpus,
    papers: Sequence[Paper],
    writer: AspectModel,
    kept: _Kept,
    progress: Callable[[str], None],
) -> tuple[dict[str, tuple[Aspect, ...]], list[Failure]]:
    """Return the aspects by paper, and what failed; gives up when the model fails again and again."""
    written: dict[str, tuple[Aspect, ...]] = {}
    failures: list[Failure] = []

    def write(paper: Paper) -> tuple[Aspect, ...]:
        if (found := kept.get(paper)) is not None:
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
                except ModelError as error:
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
