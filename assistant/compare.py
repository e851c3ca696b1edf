"""Comparative summaries of chosen papers: the only composition of ChatCite's steps."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as Iteration
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from assistant.comparing.admission import admit_comparison, effective, leaves_out
from assistant.comparing.algorithm import Summarizer, working
from assistant.comparing.checking import SummaryChecker
from assistant.comparing.crew import Crew, as_they_end
from assistant.comparing.elements import KeptElements, KeyElementExtractor, with_evidence
from assistant.comparing.journal import Journal
from assistant.comparing.protocol import ComparativeGenerator, ComparisonStep, SourceText
from assistant.comparing.records import (
    Compared,
    Comparison,
    ComparisonEvent,
    ComparisonOptions,
    ComparisonRequest,
    KeyElements,
    Planned,
    Round,
)
from assistant.comparing.remarks import Outcome, remarks_after, remarks_on
from assistant.comparing.sources import in_order, read_description, read_papers
from assistant.provenance import provenance_of
from assistant.records import Answer, Evidence, Step, StepTime
from assistant.support.entailment import open_scorer
from corpus.elements import ElementStore
from corpus.encoder import Encoder
from corpus.store import Corpus

Result = TypeVar("Result")


class Comparer:
    """Compares papers of a corpus with a generator; `kept` holds key elements from comparisons before."""

    def __init__(
        self,
        corpus: Corpus,
        encoder: Encoder,
        generator: ComparativeGenerator,
        kept: ElementStore | None = None,
    ) -> None:
        self.corpus = corpus
        self.encoder = encoder
        self.generator = generator
        self.scorer = open_scorer(encoder)
        self._extractor = KeyElementExtractor(generator, kept)

    def plan(self, request: ComparisonRequest) -> Planned:
        """Return what a comparison will read and take; raises ComparisonError when it cannot be taken up."""
        return self._prepare(request, Journal()).planned

    def compare(
        self, request: ComparisonRequest, journal: Journal | None = None, identifier: str = ""
    ) -> Iteration[ComparisonEvent, None, None]:
        """Compare papers with a description, step by step; the last event holds the Comparison.

        Calls that the journal has recorded are not made again. Closing the iterator cancels. Raises
        ComparisonError for a request that cannot be taken up, and what the generator raises (ModelError).
        """
        journal = journal or Journal()
        run = self._prepare(request, journal)
        yield run.planned
        journal.allow(run.planned.budget)
        checker = SummaryChecker(run.sources, self.scorer)
        with Crew(self.generator.at_once) as crew:
            elements = yield from run.timed(
                "elements", self._extractor.extract(run.read, run.kept, crew, journal)
            )
            # Found while models write: nothing of it goes into what they are told.
            led = crew.check(lambda: with_evidence(elements, checker))
            summarizer = Summarizer(self.generator, run.options, crew, checker, journal)
            rounds = yield from run.timed("compare", summarizer.grow(_steps(run, elements)))
            answer = yield from run.timed("check", _awaited(crew, journal, lambda: _answer(rounds, checker)))
        yield Compared(self._comparison(run, identifier, Outcome(led.result(), rounds, answer), journal))

    def _prepare(self, request: ComparisonRequest, journal: Journal) -> "_Run":
        admitted = admit_comparison(request, self.corpus)
        request = admitted.request
        papers = in_order(admitted.papers, request.options.order, request.about, self.corpus, self.encoder)
        sources = (read_description(request.about), *read_papers(self.corpus, papers))
        options = effective(request.options)
        read = () if leaves_out(options, "elements") else sources
        kept = self._extractor.kept(read, journal)
        planned = Planned(
            papers=tuple(source.paper for source in sources[1:]),
            budget=self.generator.budget(sources, {one.label for one in read} - kept.keys(), options),
            remarks=(*filter(None, [self.generator.note]), *admitted.remarks, *remarks_on(sources[1:])),
            reused=tuple(kept),
        )
        return _Run(request, options, sources, read, kept, planned)

    def _comparison(
        self,
        run: "_Run",
        identifier: str,
        outcome: Outcome,
        journal: Journal,
    ) -> Comparison:
        elements, rounds, answer = outcome.elements, outcome.rounds, outcome.answer
        return Comparison(
            id=identifier or uuid.uuid4().hex,
            about=run.request.about,
            options=run.request.options,
            paper_ids=tuple(source.paper.paper.id for source in run.sources[1:]),
            asked=run.asked,
            evidence=_cited_evidence(run.sources, elements, answer),
            elements=elements,
            rounds=rounds,
            answer=answer,
            calls=tuple(sorted(journal.calls, key=lambda one: one.call.started)),
            seconds=tuple(StepTime(step, seconds) for step, seconds in run.times.items()),
            provenance=provenance_of(self.corpus, self.generator.name, self.scorer.name),
            parameters=self.generator.parameters,
            remarks=(*run.planned.remarks, *remarks_after(outcome, journal.calls)),
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """A comparison that can begin, and the time its steps take; elements are taken from what is `read`."""

    request: ComparisonRequest
    options: ComparisonOptions
    sources: tuple[SourceText, ...]
    read: tuple[SourceText, ...]
    kept: Mapping[int, KeptElements]
    planned: Planned
    asked: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    times: dict[Step, float] = field(default_factory=dict)

    def timed(
        self, step: Step, work: Iteration[ComparisonEvent, None, Result]
    ) -> Iteration[ComparisonEvent, None, Result]:
        clock = time.perf_counter()
        result = yield from work
        self.times[step] = time.perf_counter() - clock
        return result


def _steps(run: _Run, elements: Mapping[int, KeyElements]) -> list[ComparisonStep]:
    """Return what each round is written from: one more paper each, or all at once (an ablation)."""
    papers = len(run.sources) - 1
    ends = [papers] if leaves_out(run.options, "increments") else range(1, papers + 1)
    steps = []
    for end in ends:
        known = run.sources[: end + 1]
        steps.append(
            ComparisonStep(
                about=run.request.about,
                sources={source.label: source for source in known},
                elements={source.label: elements[source.label] for source in known if elements},
                new=tuple(range(1, end + 1)) if len(ends) == 1 else (end,),
                total=papers,
                options=run.options,
            )
        )
    return steps


def _answer(rounds: Sequence[Round], checker: SummaryChecker) -> Answer:
    best = rounds[-1].survivors[0]
    return checker.answer(best.text, best.problems)


def _awaited(
    crew: Crew, journal: Journal, work: Callable[[], Result]
) -> Iteration[ComparisonEvent, None, Result]:
    future: Future[Result] = crew.check(work)
    for ended in as_they_end({0: future}):
        if ended is None:
            yield working(journal)
    return future.result()


def _cited_evidence(
    sources: Sequence[SourceText], elements: Sequence[KeyElements], answer: Answer
) -> Evidence:
    """Return the papers with those of their passages that the summary or the elements lead to."""
    cited = {citation.passage_id for sentence in answer.sentences for citation in sentence.citations}
    cited |= {found.passage_id for one in elements for element in one.elements for found in element.evidence}
    return Evidence(
        tuple(
            replace(
                source.paper,
                passages=tuple(passage for passage in source.paper.passages if passage.id in cited),
            )
            for source in sources[1:]
        )
    )
