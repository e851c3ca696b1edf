"""Reflective incremental generation: ChatCite's Algorithm 1 (arXiv 2403.02574, section 3).

In each round, one per paper, n_s samples continue every kept summary, n_v votes are cast on all of them, and
the n_c with most votes are kept. The result is the best of the last round.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Generator as Iteration
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TypeVar

from assistant.comparing.checking import ReadSummary, SummaryChecker, read_summary
from assistant.comparing.ledger import CallLedger, Executor, Task, asked_or_tick, completed_or_tick
from assistant.comparing.protocol import ComparisonStep, ReflectiveGenerator
from assistant.comparing.records import (
    Candidate,
    ComparisonError,
    ComparisonEvent,
    ComparisonOptions,
    Round,
    RoundFinished,
    Sampled,
    Vote,
    Voted,
    Working,
    task_name,
)
from assistant.models.protocol import BadReplyError, ModelError
from assistant.records import Draft

Result = TypeVar("Result")
RoundEvents = Iteration[ComparisonEvent, None, Round]


class UnusableRoundError(ComparisonError):
    """No sample of a round cites any paper; `round` is its number, and its calls should be made again."""

    def __init__(self, message: str, round_number: int) -> None:
        super().__init__(message)
        self.round = round_number


class Summarizer:
    """Runs the rounds of one comparison."""

    def __init__(
        self,
        generator: ReflectiveGenerator,
        options: ComparisonOptions,
        executor: Executor,
        checker: SummaryChecker,
        ledger: CallLedger,
    ) -> None:
        self._generator = generator
        self._options = options
        self._executor = executor
        self._checker = checker
        self._ledger = ledger

    def grow(self, steps: Sequence[ComparisonStep]) -> Iteration[ComparisonEvent, None, tuple[Round, ...]]:
        """Yield the events of the rounds of `steps`, then return the rounds.

        Raises ModelError, and UnusableRoundError if no sample of a round cites anything.
        """
        rounds: list[Round] = []
        for number, step in enumerate(steps, start=1):
            kept = rounds[-1].survivors if rounds else ()
            rounds.append((yield from self._round(number, step, kept)))
            yield RoundFinished(rounds[-1])
        return tuple(rounds)

    def _round(self, number: int, step: ComparisonStep, kept: Sequence[Candidate]) -> RoundEvents:
        written, failed = yield from self._samples(number, step, kept)
        scored = self._executor.check(lambda: self._checker.scored(written))
        votes = yield from self._votes(number, step, written)
        candidates = yield from awaited(scored, self._ledger)
        counts = Counter(vote.choice for vote in votes if vote.choice is not None)
        candidates = [replace(candidate, votes=counts[candidate.number]) for candidate in candidates]
        return Round(
            number=number,
            labels=step.new,
            candidates=tuple(candidates),
            votes=tuple(votes),
            kept=tuple(candidate.number for candidate in ranked(candidates) if candidate.text)[
                : self._options.keep
            ],
            failed=tuple(failed),
        )

    def _samples(
        self, number: int, step: ComparisonStep, kept: Sequence[Candidate]
    ) -> Iteration[ComparisonEvent, None, tuple[list[Candidate], list[str]]]:
        """Return a round's candidates by number, and why samples failed; raises ModelError if all did."""
        parents: Sequence[Candidate | None] = kept or (None,)
        begin: dict[tuple[int, Candidate | None], Callable[[], Future[Draft]]] = {}
        for place, parent in enumerate(parents):
            for sample in range(1, self._options.samples + 1):
                age = place * self._options.samples + sample
                begin[age, parent] = partial(self._ask_sample, number, age, step, parent, sample)
        candidates, errors = [], []
        for ended in asked_or_tick(begin):
            if ended is None:
                yield working(self._ledger)
                continue
            (age, parent), future = ended
            try:
                draft = future.result()
            except ModelError as error:
                errors.append((age, error))
            else:
                read = read_summary(draft, step.about, step.labels)
                candidates.append(_candidate(age, parent, read, step))
                yield Sampled(number, candidates[-1])
        if not candidates:
            raise min(errors, key=_age)[1]
        _check_usable(candidates, number)
        failed = [error.fault for _, error in sorted(errors, key=_age)]
        return sorted(candidates, key=lambda candidate: candidate.number), failed

    def _ask_sample(
        self, number: int, age: int, step: ComparisonStep, parent: Candidate | None, sample: int
    ) -> "Future[Draft]":
        task = Task(task_name("sample", age, number), self._ledger, self._executor.stopped)
        summary = parent.text if parent else ""
        return self._executor.ask(lambda: self._generator.update_summary(step, summary, sample, task))

    def _votes(
        self, number: int, step: ComparisonStep, candidates: Sequence[Candidate]
    ) -> Iteration[ComparisonEvent, None, list[Vote]]:
        """Return the votes by number, none on a single candidate; raises ModelError if all requests fail."""
        cast = self._options.votes if len(candidates) > 1 else 0
        numbers = range(1, cast + 1)
        begin = {vote: partial(self._ask_vote, number, vote, step, candidates) for vote in numbers}
        votes: list[Vote] = []
        lost: list[ModelError] = []
        for ended in asked_or_tick(begin):
            if ended is None:
                yield working(self._ledger)
                continue
            vote = self._counted(*ended, candidates, lost)
            votes.append(vote)
            yield Voted(number, vote)
        if lost and len(lost) == cast:
            raise lost[0]
        return sorted(votes, key=lambda vote: vote.number)

    def _ask_vote(
        self, number: int, vote: int, step: ComparisonStep, candidates: Sequence[Candidate]
    ) -> "Future[Vote]":
        task = Task(task_name("vote", vote, number), self._ledger, self._executor.stopped)
        return self._executor.ask(lambda: self._generator.vote(step, candidates, vote, task))

    def _counted(
        self, number: int, future: "Future[Vote]", candidates: Sequence[Candidate], lost: list[ModelError]
    ) -> Vote:
        """Return a vote; one that is malformed or names no candidate is discarded."""
        try:
            vote = future.result()
        except ModelError as error:
            if not isinstance(error, BadReplyError):
                lost.append(error)
            return Vote(number, None, problem=error.fault)
        if vote.choice in {candidate.number for candidate in candidates}:
            return vote
        return replace(vote, choice=None, problem=vote.problem or f"There is no candidate {vote.choice}.")


def awaited(future: "Future[Result]", ledger: CallLedger) -> Iteration[ComparisonEvent, None, Result]:
    """Yield progress events until a future has ended, then return its result."""
    for ended in completed_or_tick({0: future}):
        if ended is None:
            yield working(ledger)
    return future.result()


def working(ledger: CallLedger) -> Working:
    return Working(ledger.made, ledger.found_count, ledger.usage)


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates by votes; ties by not being marked, citation precision, then number."""
    return sorted(
        candidates,
        key=lambda candidate: (
            -candidate.votes,
            candidate.is_marked,
            -(candidate.citation_precision or 0.0),
            candidate.number,
        ),
    )


def _candidate(age: int, parent: Candidate | None, read: ReadSummary, step: ComparisonStep) -> Candidate:
    before = labels_in(parent.text, step) if parent else ()
    due = dict.fromkeys((*before, *step.new))
    return Candidate(
        number=age,
        parent=parent.number if parent else None,
        text=read.text,
        lost=tuple(label for label in due if label not in read.labels),
        problems=read.problems,
    )


def labels_in(text: str, step: ComparisonStep) -> tuple[int, ...]:
    """Return the labels that a summary cites, in the order of their first citation."""
    return read_summary(Draft(text), step.about, step.labels).labels


def _check_usable(candidates: Sequence[Candidate], number: int) -> None:
    """Raise UnusableRoundError if no candidate has a text that cites a paper."""
    if any("no_citations" not in candidate.problems and candidate.text for candidate in candidates):
        return
    excerpt = next((" ".join(candidate.text.split())[:120] for candidate in candidates if candidate.text), "")
    what = f"no sample cites a paper. It wrote: “{excerpt}”" if excerpt else "no sample holds a sentence."
    raise UnusableRoundError(
        f"In round {number} nothing usable was written, so the comparison stopped there: {what} Try this "
        "round again, or begin one with another writer.",
        number,
    )


def _age(failed: tuple[int, ModelError]) -> int:
    return failed[0]
