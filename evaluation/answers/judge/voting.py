"""Votes on the answers to many questions: what is asked of the judge, and what an earlier run has asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus.wording import counted
from evaluation.answers.judge.ballots import DIMENSIONS, ballots_on
from evaluation.answers.judge.kept import KeptVotes, key_of
from evaluation.answers.judge.turns import AnsweredQuestion, QuestionInContext
from evaluation.input_files import EvaluationError
from evaluation.judging import Ballot, Judge, JudgeVote

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that no system has marks for, and why."""

    question: str
    problem: str


@dataclass(frozen=True, slots=True)
class PlannedVote:
    """A ballot on a question, under its key, and the vote where an earlier run has it."""

    question: QuestionInContext
    ballot: Ballot
    key: str
    vote: JudgeVote | None


def planned(
    judge: Judge,
    answered: Sequence[AnsweredQuestion],
    votes: int,
    kept: KeptVotes,
    names: Sequence[str],
) -> tuple[list[PlannedVote], list[LeftOut]]:
    """Return the votes on all questions, and what the judge cannot take in.

    Raises EvaluationError where it can take in none.
    """
    plan: list[PlannedVote] = []
    too_long: list[LeftOut] = []
    for one in answered:
        ballots = ballots_on(one, votes)
        try:
            judge.check_room(ballots[0])
        except EvaluationError as error:
            too_long.append(LeftOut(one.question.named, str(error)))
            continue
        for number, ballot in enumerate(ballots):
            key = key_of(judge, ballot, number, names)
            plan.append(PlannedVote(one.question, ballot, key, kept.find(key, names)))
    if not plan:
        raise EvaluationError(too_long[0].problem)
    return plan, too_long


def collect_votes(
    judge: Judge, plan: Sequence[PlannedVote], kept: KeptVotes, names: Sequence[str], say: Say
) -> dict[QuestionInContext, list[JudgeVote]]:
    """Return the votes on each question; those that are asked for are kept as soon as they are cast."""
    cast = {one.key: one.vote for one in plan if one.vote}
    wanted = [one for one in plan if not one.vote]
    if cast:
        say(f"{counted(len(cast), 'vote')} of an earlier run: not asked for again.")
    if wanted:
        kept.begin()
        say(judge.calls_said(len(wanted)))
    for index, vote in judge.cast([one.ballot for one in wanted], DIMENSIONS):
        asked = wanted[index]
        kept.keep(asked.key, judge, asked.question, names, vote)
        cast[asked.key] = vote
    votes: dict[QuestionInContext, list[JudgeVote]] = {}
    for one in plan:
        votes.setdefault(one.question, []).append(cast[one.key])
    return votes
