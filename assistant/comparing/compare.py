"""Comparative summaries of chosen papers: the only composition of ChatCite's steps."""

import time
import uuid
from collections import Counter
from collections.abc import Generator as Iteration
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from assistant.checking.entailment import open_scorer
from assistant.checking.overlap import is_weak
from assistant.comparing.admission import (
    admit_comparison,
    check_single_pass,
    effective,
    in_order,
    leaves_out,
    read_description,
    read_papers,
)
from assistant.comparing.algorithm import Summarizer, awaited
from assistant.comparing.checking import ReadSummary, SummaryChecker, read_summary
from assistant.comparing.elements import KeptElements, KeyElementExtractor, with_evidence
from assistant.comparing.ledger import CallLedger, Executor
from assistant.comparing.protocol import (
    ComparativeGenerator,
    ComparisonStep,
    ReflectiveGenerator,
    SinglePassGenerator,
    SourceText,
)
from assistant.comparing.questions import ask_paper
from assistant.comparing.records import (
    Candidate,
    Compared,
    Comparison,
    ComparisonEvent,
    ComparisonOptions,
    ComparisonRequest,
    KeyElements,
    Planned,
    QuestionColumn,
    QuotedCell,
    Round,
    WorkCall,
    parse_task_name,
)
from assistant.provenance import provenance_of
from assistant.records import Answer, Evidence, Step, StepTime
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from corpus.wording import counted

Result = TypeVar("Result")


class Comparer:
    """Compares papers of a corpus with a generator; `kept` holds key elements of earlier comparisons.

    `names_unsaid` is that of AskOptions.
    """

    def __init__(
        self,
        corpus: Corpus,
        encoder: Encoder,
        generator: ComparativeGenerator,
        kept: ElementStore | None = None,
        *,
        names_unsaid: bool = True,
    ) -> None:
        self.names_unsaid = names_unsaid
        self.corpus = corpus
        self.encoder = encoder
        self.generator = generator
        self.scorer = open_scorer(encoder)
        self._extractor = KeyElementExtractor(generator, kept)

    def plan(self, request: ComparisonRequest) -> Planned:
        """Return the papers and the budget of a comparison; raises ComparisonError if it is not admitted."""
        return self._prepare(request, CallLedger()).planned

    def compare(
        self, request: ComparisonRequest, ledger: CallLedger | None = None, identifier: str = ""
    ) -> Iteration[ComparisonEvent, None, None]:
        """Compare papers with a description, step by step; the last event holds the Comparison.

        Calls in the ledger are not made again. Closing the iterator cancels. Raises ComparisonError for a
        request that is not admitted, and what the generator raises (ModelError).
        """
        ledger = ledger or CallLedger()
        run = self._prepare(request, ledger)
        yield run.planned
        ledger.allow(run.planned.budget)
        checker = SummaryChecker(run.sources, self.scorer)
        with Executor(self.generator.at_once) as executor:
            elements = yield from run.timed(
                "elements", self._extractor.extract(run.read, run.kept, executor, ledger)
            )
            # Evidence is found while models write: it is not part of their prompts.
            led = executor.check(lambda: with_evidence(elements, checker))
            writing = self._written(run, _steps(run, elements), executor, checker, ledger)
            rounds, written = yield from run.timed("compare", writing)
            checked = executor.check(
                lambda: checker.answer(written.text, written.problems, names_unsaid=self.names_unsaid)
            )
            answer = yield from run.timed("check", awaited(checked, ledger))
            columns: tuple[QuestionColumn, ...] = ()
            if run.request.questions:
                columns = yield from run.timed("columns", self._asked(run, executor, ledger))
        outcome = Outcome(len(run.sources) - 1, led.result(), rounds, answer, columns)
        yield Compared(self._comparison(run, identifier, outcome, ledger))

    def _written(
        self,
        run: "_Run",
        steps: Sequence[ComparisonStep],
        executor: Executor,
        checker: SummaryChecker,
        ledger: CallLedger,
    ) -> Iteration[ComparisonEvent, None, tuple[tuple[Round, ...], ReadSummary | Candidate]]:
        """Yield the events of writing the summary, then return its rounds and the best result."""
        if isinstance(self.generator, ReflectiveGenerator):
            summarizer = Summarizer(self.generator, run.options, executor, checker, ledger)
            rounds = yield from summarizer.grow(steps)
            return rounds, rounds[-1].survivors[0]
        composed = executor.check(lambda: _composed(self.generator, steps[-1]))
        return (), (yield from awaited(composed, ledger))

    def _asked(
        self, run: "_Run", executor: Executor, ledger: CallLedger
    ) -> Iteration[ComparisonEvent, None, tuple[QuestionColumn, ...]]:
        """Yield the events of answering the reader's own questions, then return the columns."""
        columns: list[QuestionColumn] = []
        for question in run.request.questions:
            cells: list[QuotedCell] = []
            for source in run.sources[1:]:
                ask = partial(ask_paper, question, source, self.corpus, self.encoder)
                cells.append((yield from awaited(executor.check(ask), ledger)))
            columns.append(QuestionColumn(question, tuple(cells)))
        return tuple(columns)

    def _prepare(self, request: ComparisonRequest, ledger: CallLedger) -> "_Run":
        admitted = admit_comparison(request, self.corpus)
        request = admitted.request
        options = effective(request.options)
        reflects = isinstance(self.generator, ReflectiveGenerator)
        if not isinstance(self.generator, ReflectiveGenerator):
            check_single_pass(request.options)
        elif not self.generator.can_vote:
            options = replace(options, votes=0)
        papers = in_order(admitted.papers, request.options.order, request.about, self.corpus, self.encoder)
        sources = (read_description(request.about), *read_papers(self.corpus, papers))
        read = () if leaves_out(options, "elements") else sources
        kept = self._extractor.kept(read, ledger)
        planned = Planned(
            papers=tuple(source.paper for source in sources[1:]),
            budget=self.generator.budget(sources, {source.label for source in read} - kept.keys(), options),
            remarks=(*filter(None, [self.generator.note]), *admitted.remarks, *remarks_on(sources[1:])),
            reused=tuple(kept),
            rounds=len(_ends(options, len(papers))) if reflects else 0,
        )
        return _Run(request, options, sources, read, kept, planned)

    def _comparison(
        self,
        run: "_Run",
        identifier: str,
        outcome: "Outcome",
        ledger: CallLedger,
    ) -> Comparison:
        elements, rounds, answer = outcome.elements, outcome.rounds, outcome.answer
        return Comparison(
            id=identifier or uuid.uuid4().hex,
            about=run.request.about,
            options=run.request.options,
            paper_ids=tuple(source.paper.paper.id for source in run.sources[1:]),
            asked=run.asked,
            evidence=_cited_evidence(run.sources, outcome),
            elements=elements,
            rounds=rounds,
            answer=answer,
            calls=tuple(sorted(ledger.calls, key=lambda entry: entry.call.started)),
            seconds=tuple(StepTime(step, seconds) for step, seconds in run.times.items()),
            provenance=provenance_of(self.corpus, self.generator.name, self.scorer.name),
            parameters=self.generator.parameters,
            remarks=(*run.planned.remarks, *remarks_after(outcome, ledger.calls)),
            names_unsaid=self.names_unsaid,
            columns=outcome.columns,
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """An admitted comparison and its step times; key elements are extracted from the sources in `read`."""

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
    """Return the input of each round: one more paper each, or all at once (an ablation)."""
    papers = len(run.sources) - 1
    ends = _ends(run.options, papers)
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


def _ends(options: ComparisonOptions, papers: int) -> Sequence[int]:
    return [papers] if leaves_out(options, "increments") else range(1, papers + 1)


def _composed(generator: ComparativeGenerator, step: ComparisonStep) -> ReadSummary:
    if not isinstance(generator, SinglePassGenerator):
        raise TypeError(f"{generator.name} can neither reflect nor compose.")
    return read_summary(generator.compose(step), step.about, step.labels)


def _cited_evidence(sources: Sequence[SourceText], outcome: "Outcome") -> Evidence:
    """Return the papers with the passages that the summary, the elements or the columns cite."""
    answer, elements = outcome.answer, outcome.elements
    cited = {citation.passage_id for sentence in answer.sentences for citation in sentence.citations}
    cited |= {item.passage_id for of_text in elements for part in of_text.elements for item in part.evidence}
    cited |= {
        quote.passage_id for column in outcome.columns for cell in column.cells for quote in cell.quotes
    }
    papers = []
    for source in sources[1:]:
        passages = tuple(passage for passage in source.paper.passages if passage.id in cited)
        papers.append(replace(source.paper, passages=passages))
    return Evidence(tuple(papers))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a comparison."""

    papers: int
    elements: tuple[KeyElements, ...]
    rounds: tuple[Round, ...]
    answer: Answer
    columns: tuple[QuestionColumn, ...] = ()


def remarks_on(sources: Sequence[SourceText]) -> tuple[str, ...]:
    """Return notes on papers without a full text."""
    kinds = Counter(source.kind for source in sources)
    bare = [source for source in sources if source.kind == "title"]
    remarks = [
        f"[{source.label}] “{source.paper.paper.title}” has neither text nor abstract here: its title is all "
        "that is known."
        for source in bare
    ]
    if kinds["abstract"]:
        which = "All papers" if kinds["abstract"] == len(sources) else f"{kinds['abstract']} of the papers"
        which = "One of the papers" if which.startswith("1 ") else which
        verb = "is" if which.startswith("One") else "are"
        remarks.insert(0, f"{which} {verb} known here by the abstract alone.")
    return tuple(remarks)


def remarks_after(outcome: Outcome, calls: Sequence[WorkCall]) -> tuple[str, ...]:
    """Return notes on faults of the run: texts read in part or not at all, samples, votes and papers lost."""
    return (*_run_faults(outcome, calls), *_not_supported(outcome.answer))


def _run_faults(outcome: Outcome, calls: Sequence[WorkCall]) -> Iterator[str]:
    for elements in outcome.elements:
        if elements.problem:
            text = f"[{elements.label}]" if elements.label else "the description"
            yield f"The key elements of {text} could not be read. {elements.problem}"
    cut = (parse_task_name(entry.work) for entry in calls if entry.call.left_out)
    if labels := dict.fromkeys(task[1] for task in cut if task):
        papers = ", ".join(f"[{label}]" for label in labels)
        yield f"Longer than the model takes in, so read where papers say most about themselves: {papers}."
    if failed := sum(len(of_round.failed) for of_round in outcome.rounds):
        yield f"{counted(failed, 'sample')} could not be written; the rounds went on without."
    if discarded := sum(of_round.discarded_votes for of_round in outcome.rounds):
        cast = sum(len(of_round.votes) for of_round in outcome.rounds)
        yield f"{counted(discarded, 'vote')} of {cast} could not be used and did not count."
    cited = set(outcome.answer.cited_labels)
    if uncited := [f"[{label}]" for label in range(1, outcome.papers + 1) if label not in cited]:
        yield f"The summary does not cite {', '.join(uncited)}."


def _not_supported(answer: Answer) -> Iterator[str]:
    weak = sum(map(is_weak, answer.sentences))
    if answer.citation_recall == 0.0:
        yield "Nothing that the summary says is carried by what it cites: do not rely on it."
    elif weak:
        ending = "is only weakly supported by what it cites" if weak == 1 else "are only weakly supported"
        yield f"{counted(weak, 'sentence')} {ending}."
    if uncited := sum(sentence.needs_citation for sentence in answer.sentences):
        makes = "makes a claim and cites" if uncited == 1 else "make claims and cite"
        yield f"{counted(uncited, 'sentence')} {makes} nothing."
    if unknown := sum(len(sentence.unknown_labels) for sentence in answer.sentences):
        names = (
            "names a paper that was never given; it is"
            if unknown == 1
            else "name papers that were never given; they are"
        )
        yield f"{counted(unknown, 'label')} {names} marked with a question mark."
