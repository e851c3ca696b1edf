"""Reflective incremental generation: ChatCite's Algorithm 1 (arXiv 2403.02574, section 3).

Round by round, one for each paper: every kept summary is continued by n_s samples, n_v votes are cast on all
of them, and the n_c with most votes are kept. The result is the first of the last round.
"""

from collections import Counter
from collections.abc import Generator as Iteration
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from assistant.comparing.checking import ReadSummary, SummaryChecker, read_summary
from assistant.comparing.crew import Crew, as_they_end
from assistant.comparing.journal import Journal, Work
from assistant.comparing.protocol import ComparativeGenerator, ComparisonStep
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
)
from assistant.models.protocol import BadReplyError, ModelError
from assistant.records import Draft

Heard = Iteration[ComparisonEvent, None, Round]


class UnusableRoundError(ComparisonError):
    """No sample of a round cites any paper; `round` is its number, and its calls are better made anew."""

    def __init__(self, message: str, round_number: int) -> None:
        super().__init__(message)
        self.round = round_number


class Summarizer:
    """Runs the rounds of one comparison."""

    def __init__(
        self,
        generator: ComparativeGenerator,
        options: ComparisonOptions,
        crew: Crew,
        checker: SummaryChecker,
        journal: Journal,
    ) -> None:
        self._generator = generator
        self._options = options
        self._crew = crew
        self._checker = checker
        self._journal = journal

    def grow(self, steps: Sequence[ComparisonStep]) -> Iteration[ComparisonEvent, None, tuple[Round, ...]]:
        """Yield what happens in the rounds of `steps`, then return them all; raises ModelError.

        Raises UnusableRoundError when all samples of a round cite nothing.
        """
        rounds: list[Round] = []
        for number, step in enumerate(steps, start=1):
            kept = rounds[-1].survivors if rounds else ()
            rounds.append((yield from self._round(number, step, kept)))
            yield RoundFinished(rounds[-1])
        return tuple(rounds)

    def _round(self, number: int, step: ComparisonStep, kept: Sequence[Candidate]) -> Heard:
        written, failed = yield from self._samples(number, step, kept)
        scored = self._crew.check(lambda: self._checker.scored(written))
        if self._generator.votes_by_scores:
            written = yield from self._awaited(scored)
        votes = yield from self._votes(number, step, written)
        candidates = yield from self._awaited(scored)
        counts = Counter(vote.choice for vote in votes if vote.choice is not None)
        candidates = [replace(one, votes=counts[one.number]) for one in candidates]
        return Round(
            number=number,
            labels=step.new,
            candidates=tuple(candidates),
            votes=tuple(votes),
            kept=tuple(one.number for one in ranked(candidates)[: self._options.keep]),
            failed=tuple(failed),
        )

    def _samples(
        self, number: int, step: ComparisonStep, kept: Sequence[Candidate]
    ) -> Iteration[ComparisonEvent, None, tuple[list[Candidate], list[str]]]:
        """Return a round's candidates by age, and why samples failed; raises ModelError where all did."""
        parents: Sequence[Candidate | None] = kept or (None,)
        asked: dict[tuple[int, Candidate | None], Future[Draft]] = {}
        for place, parent in enumerate(parents):
            for sample in range(1, self._options.samples + 1):
                age = place * self._options.samples + sample
                asked[age, parent] = self._ask_sample(number, age, step, parent, sample)
        candidates, errors = [], []
        for ended in as_they_end(asked):
            if ended is None:
                yield self._working()
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
            raise min(errors, key=lambda one: one[0])[1]
        _check_usable(candidates, number)
        return sorted(candidates, key=lambda one: one.number), [
            f"{error}" for _, error in sorted(errors, key=_age)
        ]

    def _ask_sample(
        self, number: int, age: int, step: ComparisonStep, parent: Candidate | None, sample: int
    ) -> "Future[Draft]":
        work = Work(f"round {number} sample {age}", self._journal, self._crew.stopped)
        summary = parent.text if parent else ""
        return self._crew.ask(lambda: self._generator.update_summary(step, summary, sample, work))

    def _votes(
        self, number: int, step: ComparisonStep, candidates: Sequence[Candidate]
    ) -> Iteration[ComparisonEvent, None, list[Vote]]:
        """Return the votes in order; raises ModelError where not even one could be asked for."""
        cast = self._generator.votes_cast(self._options)
        asked = {vote: self._ask_vote(number, vote, step, candidates) for vote in range(1, cast + 1)}
        votes: list[Vote] = []
        lost: list[ModelError] = []
        for ended in as_they_end(asked):
            if ended is None:
                yield self._working()
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
        work = Work(f"round {number} vote {vote}", self._journal, self._crew.stopped)
        return self._crew.ask(lambda: self._generator.vote(step, candidates, vote, work))

    def _counted(
        self, number: int, future: "Future[Vote]", candidates: Sequence[Candidate], lost: list[ModelError]
    ) -> Vote:
        """Return a vote as it counts: what is malformed or names no candidate is discarded."""
        try:
            vote = future.result()
        except BadReplyError as error:
            return Vote(number, None, problem=str(error))
        except ModelError as error:
            lost.append(error)
            return Vote(number, None, problem=str(error))
        if vote.choice in {one.number for one in candidates}:
            return vote
        return replace(vote, choice=None, problem=vote.problem or f"There is no candidate {vote.choice}.")

    def _awaited(
        self, scored: "Future[list[Candidate]]"
    ) -> Iteration[ComparisonEvent, None, list[Candidate]]:
        for ended in as_they_end({0: scored}):
            if ended is None:
                yield self._working()
        return scored.result()

    def _working(self) -> Working:
        return working(self._journal)


def working(journal: Journal) -> Working:
    return Working(journal.made, journal.found_count, journal.usage)


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates by votes; of equals marked ones last, then by citation precision, then by age."""
    return sorted(
        candidates, key=lambda one: (-one.votes, one.is_marked, -(one.citation_precision or 0.0), one.number)
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
    """Raise UnusableRoundError where nothing was written that could be gone on with."""
    if any("no_citations" not in one.problems and one.text for one in candidates):
        return
    said = next((" ".join(one.text.split())[:120] for one in candidates if one.text), "")
    reply = f"It wrote: “{said}”" if said else "It wrote nothing."
    raise UnusableRoundError(
        f"In round {number} no sample cites a paper, so the comparison stopped there. {reply} Try this round "
        "again, or begin one with another writer.",
        number,
    )


def _age(failed: tuple[int, ModelError]) -> int:
    return failed[0]
