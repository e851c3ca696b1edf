"""The assistant: the only composition of corpus, encoder and generator."""

import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Iteration
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar, cast

from assistant.answer import check
from assistant.generators.protocol import Generator
from assistant.question import request_kind
from assistant.records import (
    Answer,
    Answered,
    AskOptions,
    AssistantError,
    CallLog,
    Draft,
    Event,
    Evidence,
    Provenance,
    Retrieved,
    Rewrite,
    Rewritten,
    ScoredPassage,
    Step,
    StepTime,
    TableVersion,
    Turn,
    Written,
)
from assistant.refusal import cannot_answer, refuse
from assistant.retrieve import gather_evidence, retrieve
from corpus.encoder import Encoder
from corpus.records import PaperHits, Scope
from corpus.search import MAX_PAPERS, MIN_PAPERS
from corpus.store import Corpus
from corpus.text import storable, words
from corpus.version import VERSION

LONGEST_QUESTION = 2000

Result = TypeVar("Result")


class Assistant:
    """Answers questions from a corpus with a generator."""

    def __init__(self, corpus: Corpus, encoder: Encoder, generator: Generator) -> None:
        self.corpus = corpus
        self.encoder = encoder
        self.generator = generator

    def ask(self, question: str, history: tuple[Turn, ...], options: AskOptions) -> Iterator[Event]:
        """Answer `question` from the corpus in the light of `history`; the last event holds the Turn.

        Raises AssistantError for a question that cannot be taken, and what the generator raises (ModelError).
        """
        question = self._taken(question, options)
        run = _Run(question, options, self._provenance())
        rewrite = run.timed("rewrite", lambda: self._understand(question, history, options, run.log))
        yield Rewritten(rewrite)
        papers = run.timed(
            "retrieve",
            lambda: retrieve(self.corpus, self.encoder, rewrite, options.scope, options.papers),
        )
        yield Retrieved(papers)
        searched = self._described(options.scope)
        if reason := cannot_answer(rewrite, papers):
            yield Answered(run.turn(rewrite, papers, Evidence(), refuse(reason, papers, searched)))
            return
        evidence = gather_evidence(self.corpus, papers)
        draft = yield from run.write(self.generator.write_draft(rewrite, history, evidence, run.log))
        answer = run.timed("check", lambda: check(draft, question, evidence, papers, searched))
        yield Answered(run.turn(rewrite, papers, evidence, answer))

    def _understand(
        self, question: str, history: tuple[Turn, ...], options: AskOptions, log: CallLog
    ) -> Rewrite:
        """Return the question with its search query, the reader's own where there is one, and its kind."""
        kind = options.kind or request_kind(question, options.scope)
        if own := storable(options.search_query).strip():
            return Rewrite(question, own, kind=kind, edited=True)
        return replace(self.generator.rewrite_question(question, history, log), kind=kind)

    def _taken(self, question: str, options: AskOptions) -> str:
        """Return the question ready to be asked; raises AssistantError when it or its options cannot be."""
        question = storable(question).strip()
        if not words(question):
            raise AssistantError(
                "The question is empty: it holds no words. Write what you want to know from the papers."
            )
        if len(question) > LONGEST_QUESTION:
            raise AssistantError(
                f"The question has {len(question):,} characters; {LONGEST_QUESTION:,} can be taken. "
                "Shorten it to what you want to know."
            )
        if len(options.search_query) > LONGEST_QUESTION:
            raise AssistantError(
                f"The search query is longer than {LONGEST_QUESTION:,} characters. Shorten it."
            )
        if not MIN_PAPERS <= options.papers <= MAX_PAPERS:
            raise AssistantError(
                f"The number of papers must be from {MIN_PAPERS} to {MAX_PAPERS}, not {options.papers}."
            )
        self._check_scope(options.scope)
        return question

    def _check_scope(self, scope: Scope) -> None:
        held = self.corpus.collection_ids()
        unknown = [identifier for identifier in scope.collections if identifier not in held]
        if unknown:
            raise AssistantError(
                f"The corpus has no collection {unknown[0]!r}. It holds: {', '.join(held) or 'none'}."
            )
        found = {paper.id for paper in self.corpus.papers_by_id(scope.papers)}
        missing = [identifier for identifier in scope.papers if identifier not in found]
        if missing:
            raise AssistantError(f"The corpus has no paper {missing[0]!r}.")

    def _described(self, scope: Scope) -> str:
        """Return what is searched, in words: "these 603 papers"."""
        count = self.corpus.count_papers(scope)
        return "this paper" if count == 1 else f"these {count:,} papers"

    def _provenance(self) -> Provenance:
        manifest = self.corpus.manifest
        return Provenance(
            product=f"Paper Trail {VERSION}",
            generator=self.generator.name,
            encoder=manifest.encoder,
            encoder_sha256=manifest.encoder_sha256,
            encoder_runtime=manifest.runtime,
            corpus=tuple(TableVersion(name, number) for name, number in sorted(manifest.versions.items())),
        )


class _Run:
    """One question on its way: its calls and the time of its steps."""

    def __init__(self, question: str, options: AskOptions, provenance: Provenance) -> None:
        self.log = CallLog()
        self._question = question
        self._options = options
        self._provenance = provenance
        self._asked = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._times: list[StepTime] = []

    def timed(self, step: Step, work: Callable[[], Result]) -> Result:
        clock = time.perf_counter()
        result = work()
        self._times.append(StepTime(step, time.perf_counter() - clock))
        return result

    def write(self, pieces: Iteration[str, None, Draft]) -> Iteration[Event, None, Draft]:
        """Yield the pieces of a draft as events, then return it."""
        clock = time.perf_counter()
        with closing(pieces):
            while True:
                try:
                    piece = next(pieces)
                except StopIteration as end:
                    self._times.append(StepTime("write", time.perf_counter() - clock))
                    return cast(Draft, end.value)
                yield Written(piece)

    def turn(
        self, rewrite: Rewrite, papers: tuple[PaperHits, ...], evidence: Evidence, answer: Answer
    ) -> Turn:
        return Turn(
            question=self._question,
            asked=self._asked,
            scope=self._options.scope,
            papers_wanted=self._options.papers,
            rewrite=rewrite,
            hits=tuple(
                ScoredPassage(hit.passage.id, hit.score, hit.dense, hit.lexical)
                for found in papers
                for hit in found.hits
            ),
            evidence=evidence,
            answer=answer,
            calls=self.log.calls,
            seconds=tuple(self._times),
            provenance=self._provenance,
            drafts=self._options.drafts,
        )
