"""What the product answers to judged questions, beside what people found to answer them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.records import RequestKind, Turn
from evaluation.answers.asking import ask, open_assistant
from evaluation.input_files import EvaluationError
from evaluation.judged.rows import FULL, JudgedQuestion, Place

MOST_WANTED = 6  # sentences that a full answer needs at most


class JudgedCounts(TypedDict):
    """Counts of questions and, of answers to those that can be answered, shares.

    `first_full`: the first sentence answers fully; `any_full`: one does; `beside`: none answers at all;
    `clean`: one answers fully and none is beside the point. These are shares of all answerable questions.
    `sentences_beside` is the share of all sentences, `full_cited` of the sentences that answer fully.
    """

    answerable: int
    unanswerable: int
    refused_wrongly: int
    refused_rightly: int
    first_full: float
    any_full: float
    beside: float
    clean: float
    sentences_beside: float
    full_cited: float


@dataclass(frozen=True, slots=True)
class JudgedOutcome:
    """What became of a question: the grade of each sentence of its answer, 0 where nobody judged it."""

    question: JudgedQuestion
    kind: RequestKind
    grades: tuple[float, ...]
    is_refused: bool


def measure_judged(questions: Sequence[JudgedQuestion], homes: Mapping[str, Path]) -> list[JudgedOutcome]:
    """Return what became of the questions whose corpora have a home.

    Raises EvaluationError and CorpusError.
    """
    asked = [question for question in questions if question.corpus in homes]
    if not asked:
        raise EvaluationError("None of the questions is of a corpus that is named: --home NAME=FOLDER.")
    assistants = {name: open_assistant(homes[name]) for name in {question.corpus for question in asked}}
    outcomes = []
    for question in asked:
        turn = ask(assistants[question.corpus], question.question, (), question.scope).turn
        grades = tuple(
            max((question.grades[at] for at in one), default=0.0) for one in _cited(turn, question)
        )
        is_refused = turn.answer.refusal is not None
        outcomes.append(JudgedOutcome(question, turn.rewrite.kind, grades, is_refused))
    return outcomes


def _cited(turn: Turn, question: JudgedQuestion) -> Iterator[list[Place]]:
    """Yield for each sentence of an answer the judged places that it cites."""
    for sentence in turn.answer.sentences:
        cited = []
        for citation in sentence.citations:
            paper, _, number = citation.passage_id.rpartition("#")
            place = (paper, int(number), -1 if citation.sentence is None else citation.sentence)
            cited += [place] if place in question.grades else []
        yield cited


def counts_of(outcomes: Iterable[JudgedOutcome]) -> JudgedCounts:
    told = list(outcomes)
    can = [one for one in told if one.question.answerable]
    given = [one for one in can if not one.is_refused]
    sentences = [grade for one in given for grade in one.grades]
    cannot = [one for one in told if not one.question.answerable]
    most = max(1, len(can))
    wanted = sum(min(MOST_WANTED, len(one.question.full)) for one in can)
    return JudgedCounts(
        answerable=len(can),
        unanswerable=len(cannot),
        refused_wrongly=sum(one.is_refused for one in can),
        refused_rightly=sum(one.is_refused for one in cannot),
        first_full=sum(one.grades[:1] == (FULL,) for one in given) / most,
        any_full=sum(FULL in one.grades for one in given) / most,
        beside=sum(not any(one.grades) for one in given) / most,
        clean=sum(FULL in one.grades and 0.0 not in one.grades for one in given) / most,
        sentences_beside=sum(not grade for grade in sentences) / max(1, len(sentences)),
        full_cited=sum(min(MOST_WANTED, one.grades.count(FULL)) for one in given) / max(1, wanted),
    )


def judged_table(outcomes: Sequence[JudgedOutcome]) -> Table:
    """Return the counts by kind of question."""
    numbers = (
        "answerable", "refused wrongly", "unanswerable", "refused", "first full", "any full", "beside",
        "clean", "sentences beside",
    )  # fmt: skip
    table = Table("kind", *(Column(name, justify="right") for name in numbers), box=SIMPLE_HEAD)
    for kind in sorted({one.kind for one in outcomes}):
        table.add_row(kind, *_cells(counts_of(one for one in outcomes if one.kind == kind)))
    table.add_section()
    table.add_row("all", *_cells(counts_of(outcomes)))
    return table


def _cells(counts: JudgedCounts) -> list[str]:
    whole = ("answerable", "refused_wrongly", "unanswerable", "refused_rightly")
    shares = ("first_full", "any_full", "beside", "clean", "sentences_beside")
    told = dict(counts)
    return [*(str(told[name]) for name in whole), *(f"{told[name]:.2f}" for name in shares)]
