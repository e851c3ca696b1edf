"""Have a model write the aspects of papers in the corpus; replies are stored as they arrive."""

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

from assistant.models.protocol import Exchange, ModelError
from assistant.records import Usage, sum_known
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import Aspect, Failure, Paper, Scope
from corpus.settings import Settings
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from corpus.wording import joined
from indexer.enrich.written import (
    LONGEST_REPLY,
    USUAL_REPLY,
    AspectModel,
    PaperTooLongError,
    prompt_tokens,
    write_aspects,
)
from indexer.lock import build_lock

# After this many failures in a row no more papers are tried.
_FAILURES_IN_A_ROW = 5
_ASPECTS = TypeAdapter(tuple[Aspect, ...])


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for writing the aspects of papers; tokens are estimated from above.

    `papers` have no aspects by the model yet. `asked` of them need a call; for the others replies are `kept`
    from an earlier run, or no sentence fits into the context. Not included are papers whose aspects the model
    has `written` before, and those `without_abstract`. `price` (US dollars) is None where it is unknown.
    """

    papers: int
    asked: int
    kept: int
    written: int
    without_abstract: int
    prompt_tokens: int
    completion_tokens: int
    price: float | None
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing: papers with aspects by the model, papers that needed them, and failures.

    Of the aspects, `sentences` are the model's and `chosen` are sentences of the papers in their place.
    `calls` includes repeated ones; `usage` is their tokens and price. `served` are the models that the server
    names, where they differ from the requested one.
    """

    written: int
    asked: int
    sentences: int
    chosen: int
    failures: tuple[Failure, ...]
    calls: int
    usage: Usage
    served: tuple[str, ...] = ()


class _Replies:
    """A model's replies, in a file until they are published, so that none is paid for twice."""

    def __init__(self, folder: Path, model: str) -> None:
        # The hash distinguishes names that differ in punctuation only.
        plain = "".join(character if character.isalnum() else "-" for character in model)[:60]
        self._path = folder / f"aspects-{plain}-{hashlib.sha256(model.encode()).hexdigest()[:12]}.jsonl"
        self._lock = threading.Lock()
        self._replies = dict(self._read())

    def get(self, paper: Paper) -> tuple[Aspect, ...] | None:
        return self._replies.get((paper.id, paper.fingerprint))

    def keep(self, paper: Paper, aspects: Sequence[Aspect]) -> None:
        with self._lock:
            self._replies[paper.id, paper.fingerprint] = tuple(aspects)
            self._write("a", [(paper.id, paper.fingerprint)])

    def discard(self, published: Collection[str]) -> None:
        """Drop the replies on these papers; keep the others for a later run."""
        if remaining := [key for key in self._replies if key[0] not in published]:
            self._write("w", remaining)
        else:
            self._path.unlink(missing_ok=True)

    def _write(self, mode: Literal["a", "w"], keys: Sequence[tuple[str, str]]) -> None:
        entries = (
            {"paper": paper, "fingerprint": mark, "aspects": _ASPECTS.dump_python(self._replies[paper, mark])}
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
                # An incomplete last line: the run was killed.
                continue


class _Spending:
    """Adds up the tokens and prices of calls."""

    def __init__(self, writer: AspectModel) -> None:
        self._price = writer.price
        self._calls: list[tuple[int | None, int | None]] = []
        self._served: set[str] = set()

    @property
    def calls(self) -> int:
        return len(self._calls)

    @property
    def usage(self) -> Usage:
        sent, received = (sum_known(call[place] for call in self._calls) for place in (0, 1))
        return Usage(sent, received, sum_known(self._price(*call) for call in self._calls))

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(sorted(self._served - {""}))

    def add(self, exchange: Exchange) -> None:
        self._served.add(exchange.completion.served)
        self._calls.append((exchange.completion.prompt_tokens, exchange.completion.completion_tokens))


def plan_aspects(settings: Settings, encoder: Encoder, writer: AspectModel, chosen: Scope) -> Plan:
    """Plan the writing of aspects for the chosen papers and its cost; raises CorpusError."""
    corpus = Corpus.open(settings.corpus_path, encoder)
    papers = _chosen(corpus, chosen)
    to_write = [paper for paper in papers if _needs_aspects(paper, writer.name)]
    kept = _Replies(settings.replies_path, writer.name)
    asked = [paper for paper in to_write if kept.get(paper) is None]
    tokens, failures = [], []
    for paper in asked:
        try:
            tokens.append(prompt_tokens(writer, paper, corpus.passages(paper.id)))
        except PaperTooLongError as error:
            failures.append(Failure(paper.id, error.fault))
    # A reasoning model may use all tokens it is allowed.
    longest = writer.parameters.max_tokens
    replies = len(tokens) * (USUAL_REPLY if longest <= LONGEST_REPLY else longest)
    bare = sum(not paper.abstract for paper in papers)
    return Plan(
        papers=len(to_write),
        asked=len(tokens),
        kept=len(to_write) - len(asked),
        written=len(papers) - len(to_write) - bare,
        without_abstract=bare,
        prompt_tokens=sum(tokens),
        completion_tokens=replies,
        price=writer.price(sum(tokens), replies),
        failures=tuple(failures),
    )


def write_corpus_aspects(
    settings: Settings,
    encoder: Encoder,
    writer: AspectModel,
    chosen: Scope,
    progress: Callable[[str], None],
) -> Written:
    """Write and publish the aspects of the chosen papers that `writer` has not written yet.

    Raises CorpusError. A paper that fails keeps the aspects it had.
    """
    with build_lock(settings):
        corpus_writer = CorpusWriter(settings.corpus_path, encoder)
        corpus = corpus_writer.published()
        if corpus is None:
            raise CorpusError(f"There is no corpus at {settings.corpus_path}.")
        kept, spending = _Replies(settings.replies_path, writer.name), _Spending(writer)

        def write(paper: Paper) -> tuple[Aspect, ...]:
            if (aspects := kept.get(paper)) is not None:
                return aspects
            aspects = write_aspects(writer, paper, corpus.passages(paper.id), spending.add)
            kept.keep(paper, aspects)
            return aspects

        papers = [paper for paper in _chosen(corpus, chosen) if _needs_aspects(paper, writer.name)]
        written, failures = _write_all(papers, write, writer.at_once, progress)
        if written:
            corpus_writer.update_papers(_rows(written))
            corpus_writer.publish()
        kept.discard({paper.id for paper in papers})
    aspects = [aspect for of_paper in written.values() for aspect in of_paper]
    by_model = sum(bool(aspect.writer) for aspect in aspects)
    return Written(
        written=sum(any(aspect.writer for aspect in of_paper) for of_paper in written.values()),
        asked=len(papers),
        sentences=by_model,
        chosen=len(aspects) - by_model,
        failures=tuple(failures),
        calls=spending.calls,
        usage=spending.usage,
        served=spending.served,
    )


def _chosen(corpus: Corpus, chosen: Scope) -> tuple[Paper, ...]:
    """Return the papers of a scope; raises CorpusError for unknown ids."""
    known = [summary.collection.id for summary in corpus.collections()]
    if unknown := [identifier for identifier in chosen.collections if identifier not in known]:
        raise CorpusError(
            f"The corpus has no collection {joined(map(repr, unknown), 'or')}. It holds: "
            f"{', '.join(known) or 'none'}."
        )
    if not chosen.papers:
        return corpus.papers(Scope(chosen.collections))
    papers = corpus.papers_by_id(tuple(dict.fromkeys(chosen.papers)))
    if chosen.collections:
        papers = tuple(paper for paper in papers if paper.collection_id in chosen.collections)
    present = {paper.id for paper in papers}
    if missing := [identifier for identifier in chosen.papers if identifier not in present]:
        where = f"Collection {joined(chosen.collections, 'or')}" if chosen.collections else "The corpus"
        raise CorpusError(f"{where} has no paper {joined(map(repr, missing), 'or')}.")
    return papers


def _needs_aspects(paper: Paper, writer: str) -> bool:
    return bool(paper.abstract) and not any(aspect.writer == writer for aspect in paper.aspects)


def _write_all(
    papers: Sequence[Paper],
    write: Callable[[Paper], tuple[Aspect, ...]],
    at_once: int,
    progress: Callable[[str], None],
) -> tuple[dict[str, tuple[Aspect, ...]], list[Failure]]:
    """Return the aspects by paper, and failures; stop after _FAILURES_IN_A_ROW failures in a row."""
    written: dict[str, tuple[Aspect, ...]] = {}
    failures: list[Failure] = []
    in_a_row = 0
    remaining = iter(papers)
    with ThreadPoolExecutor(at_once) as pool:
        while in_a_row < _FAILURES_IN_A_ROW and (block := list(islice(remaining, at_once))):
            for paper, future in [(paper, pool.submit(write, paper)) for paper in block]:
                try:
                    written[paper.id] = future.result()
                    in_a_row = 0
                except ModelError as error:
                    failures.append(Failure(paper.id, error.fault))
                    # For a paper that is too long the model was not called.
                    in_a_row += not isinstance(error, PaperTooLongError)
                progress(paper.title)
    if skipped := len(papers) - len(written) - len(failures):
        reason = f"not asked, because the model failed for {in_a_row} papers in a row"
        failures.append(Failure(f"{skipped:,} more papers", reason))
    return written, failures


def _rows(written: dict[str, tuple[Aspect, ...]]) -> pa.Table:
    entries = [{"id": paper, "aspects": _ASPECTS.dump_python(aspects)} for paper, aspects in written.items()]
    schema = pa.schema([rows.PAPERS.field(name) for name in ("id", "aspects")])
    return pa.Table.from_pylist(entries, schema=schema)
