"""Marks that people gave to answers, read from JSON lines or CSV."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evaluation.answers.judge.ballots import DIMENSIONS
from evaluation.answers.judge.turns import AnsweringSystem, QuestionInContext
from evaluation.input_files import EvaluationError, read_numbered_json_lines, read_numbered_rows
from evaluation.judging import Marked

_HINT = (
    f"Each has question (its text or its id), system, and marks 1 to 5 for {', '.join(DIMENSIONS)} or some of"
    " these; person where several marked."
)
_HumanMark = Annotated[int, Field(strict=True, ge=1, le=5)]


class HumanMarks(BaseModel):
    """What a person gave the answer of a system to a question; None for what they did not mark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    system: str = Field(min_length=1)
    person: str = ""
    coherence: _HumanMark | None = None
    consistency: _HumanMark | None = None
    fluency: _HumanMark | None = None
    relevance: _HumanMark | None = None

    @property
    def marks(self) -> dict[str, int]:
        given = {name: getattr(self, name) for name in DIMENSIONS}
        return {name: mark for name, mark in given.items() if mark is not None}


def read_people(path: Path, systems: Sequence[AnsweringSystem]) -> Marked:
    """Return people's mean marks of answers by the question's id and the system.

    Raises EvaluationError that names the line at fault.
    """
    read = read_numbered_rows if path.suffix.lower() == ".csv" else read_numbered_json_lines
    given: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for number, row in read(path, HumanMarks, _HINT):
        try:
            place = (_question(row.question, systems).id, _system(row.system, systems))
            persons = given.setdefault(place, {})
            if row.person in persons:
                raise EvaluationError("is on an answer that an earlier line has. Name each person.")
            if not row.marks:
                raise EvaluationError(f"has no mark. {_HINT}")
        except EvaluationError as error:
            raise EvaluationError(f"{path}, line {number} {error}") from None
        persons[row.person] = row.marks
    return {place: _means(list(persons.values())) for place, persons in given.items()}


def _system(name: str, systems: Sequence[AnsweringSystem]) -> str:
    names = [system.name for system in systems]
    if name not in names:
        raise EvaluationError(f"names no system {name!r}; the turns are of {', '.join(names)}.")
    return name


def _question(named: str, systems: Sequence[AnsweringSystem]) -> QuestionInContext:
    asked = dict.fromkeys(question for system in systems for question in system.turns)
    words = " ".join(named.split())
    found = [question for question in asked if words in (question.id, question.question)]
    if not found:
        raise EvaluationError(
            f"names no question that a system was asked: {named!r}. Copy it as it was asked."
        )
    if len(found) > 1:
        ids = ", ".join(question.id for question in found)
        raise EvaluationError(
            f"names {named!r}, which was asked in {len(found)} contexts. Give one id: {ids}."
        )
    return found[0]


def _means(marked: Sequence[dict[str, int]]) -> dict[str, float]:
    given = {name: [marks[name] for marks in marked if name in marks] for name in DIMENSIONS}
    return {name: statistics.fmean(marks) for name, marks in given.items() if marks}
