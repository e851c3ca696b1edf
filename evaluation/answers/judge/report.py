"""The command that has answers judged: from trails to marks, and how far they agree with people's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.answers.judge.ballots import DIMENSIONS
from evaluation.answers.judge.kept import KeptVotes
from evaluation.answers.judge.people import read_people
from evaluation.answers.judge.turns import (
    AnsweredQuestion,
    AnsweringSystem,
    QuestionInContext,
    asked_of_all,
    is_answer,
    not_asked_of_all,
    read_systems,
)
from evaluation.answers.judge.voting import LeftOut, Say, collect_votes, planned
from evaluation.input_files import EvaluationError
from evaluation.judging import (
    Agreement,
    JudgeFigures,
    JudgeVote,
    Level,
    Marked,
    agreement,
    agreement_table,
    judge_figures,
    judge_table,
    mean_marks,
    open_judge,
)

LEFT_OUT_NAMED = 20


@dataclass(frozen=True, slots=True)
class AskedToJudge:
    """What is to be judged by which model; without a number of `votes` each answer has each place once.

    `kept` is where votes are kept, `human` where people's marks are.
    """

    turns: Sequence[str]
    model: str
    votes: int | None = None
    kept: Path | None = None
    human: Path | None = None


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Marks of all systems over the `judged` questions, which all of them answered.

    Of `asked`, the questions that all were asked, each system has `refused` so many. `people_unused` counts
    answers that people marked and the judge did not.
    """

    judge: JudgeFigures
    asked: int
    judged: int
    refused: Mapping[str, int]
    left_out: tuple[LeftOut, ...]
    agreement: Mapping[Level, Mapping[str, Agreement]] | None
    people_unused: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def judge_answers(asked: AskedToJudge, say: Say) -> JudgedAnswers:
    """Have answers judged; `say` is told what model calls will be made before they are.

    Raises EvaluationError and AssistantError.
    """
    settings = read_settings()
    systems = read_systems(asked.turns)
    people = read_people(asked.human, systems) if asked.human else None
    common = asked_of_all(systems)
    answered = _answered_by_all(common, systems)
    judge = open_judge(asked.model, settings)
    kept = KeptVotes(asked.kept)
    names = [system.name for system in systems]
    plan, too_long = planned(judge, answered, asked.votes or len(systems), kept, names)
    votes = collect_votes(judge, plan, kept, names, say)
    judged = {question: cast for question, cast in votes.items() if any(not one.problem for one in cast)}
    marks = _marks(judged, systems)
    return JudgedAnswers(
        judge=judge_figures(
            judge=judge.model.id,
            dimensions=DIMENSIONS,
            names=names,
            judged=list(votes.values()),
            wrote=judge.own_among({system.name: system.writers for system in systems}),
        ),
        asked=len(common),
        judged=len(judged),
        refused=_refused(common, systems),
        left_out=(*_not_asked(systems), *too_long, *_failed(votes, judged)),
        agreement=None if people is None else agreement(marks, people, DIMENSIONS),
        people_unused=len((people or {}).keys() - marks.keys()),
    )


def _answered_by_all(
    common: Sequence[AnsweredQuestion], systems: Sequence[AnsweringSystem]
) -> list[AnsweredQuestion]:
    """Return the questions that all answered: means over these alone are of the same questions."""
    names = ", ".join(system.name for system in systems)
    if not common:
        raise EvaluationError(
            f"No question was asked of all of {names}. Questions are the same whose words are, what was asked"
            " before them in the conversation, and what they are asked of."
        )
    answered = [one for one in common if one.is_answered_by_all]
    if not answered:
        refused = (f"{name} refused {count}" for name, count in _refused(common, systems).items())
        raise EvaluationError(
            f"Of {counted(len(common), 'question')} asked of all, none was answered by all:"
            f" {', '.join(refused)}. Judge fewer systems, or other questions."
        )
    return answered


def _refused(common: Sequence[AnsweredQuestion], systems: Sequence[AnsweringSystem]) -> dict[str, int]:
    return {
        system.name: sum(not is_answer(one.turns[index]) for one in common)
        for index, system in enumerate(systems)
    }


def _marks(
    judged: Mapping[QuestionInContext, Sequence[JudgeVote]], systems: Sequence[AnsweringSystem]
) -> Marked:
    return {
        (question.id, system.name): mean_marks(votes, index, DIMENSIONS)
        for question, votes in judged.items()
        for index, system in enumerate(systems)
    }


def _not_asked(systems: Sequence[AnsweringSystem]) -> Iterator[LeftOut]:
    for question, names in not_asked_of_all(systems).items():
        yield LeftOut(question.named, f"Not asked of {', '.join(names)}.")


def _failed(
    votes: Mapping[QuestionInContext, Sequence[JudgeVote]],
    judged: Mapping[QuestionInContext, Sequence[JudgeVote]],
) -> Iterator[LeftOut]:
    for question, cast in votes.items():
        if question not in judged:
            yield LeftOut(question.named, f"No vote counted: {cast[0].problem}")


def judge_tables(judged: JudgedAnswers) -> Iterator[Table]:
    """Yield what people read: the marks, what was left out, and how far people agree."""
    yield _marks_table(judged)
    if judged.left_out:
        yield _left_out_table(judged.left_out)
    if judged.agreement:
        yield agreement_table(judged.agreement, "Answers:")


def _marks_table(judged: JudgedAnswers) -> Table:
    questions = f"{judged.judged} of {counted(judged.asked, 'question')} asked of all"
    unused = f"People marked {counted(judged.people_unused, 'answer')} that the judge did not."
    notes = (
        f"Means over {questions}: those that every system answered.",
        *([unused] if judged.people_unused else []),
    )
    table = judge_table(judged.judge, "Overall", notes)
    table.add_row("Refused", *(f"{judged.refused[name]} of {judged.asked}" for name in judged.judge.systems))
    return table


def _left_out_table(left_out: Sequence[LeftOut]) -> Table:
    title = f"{counted(len(left_out), 'question')} without marks"
    table = Table("Question", Column("Why"), box=SIMPLE_HEAD, title=title)
    for one in left_out[:LEFT_OUT_NAMED]:
        table.add_row(escape(one.question), escape(one.problem))
    if len(left_out) > LEFT_OUT_NAMED:
        table.add_row(f"and {len(left_out) - LEFT_OUT_NAMED} more", "")
    return table
