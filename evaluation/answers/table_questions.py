"""Questions about cells of tables, asked of whole corpora: the printed row should answer them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from pydantic import BaseModel, ConfigDict, Field
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.records import Citation, Turn
from corpus.records import Scope
from corpus.store import Corpus
from evaluation.answers.asking import ask, open_assistant
from evaluation.input_files import EvaluationError, read_json_lines

TABLE_QUESTIONS = Path(__file__).parents[1] / "data" / "table_questions.jsonl"
_HINT = "Each line has question, corpus, paper, row and value; see evaluation/README.md."


class TableQuestion(BaseModel):
    """A question to a corpus, and the row of a table that answers it: by a cell that names it, and the value.

    `paper` is what a paper's id ends with, as a file is named.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    corpus: str
    paper: str = Field(min_length=1)
    row: str = Field(min_length=1)
    value: str = Field(min_length=1)


class TableCounts(TypedDict):
    """Counts of the questions asked: of how many the first row cited is the right one, and its value told.

    `other_row` cite another row of a table first, `no_row` none; of these `refused` are refused.
    """

    asked: int
    right_row: int
    right_value: int
    other_row: int
    no_row: int
    refused: int


@dataclass(frozen=True, slots=True)
class TableOutcome:
    """The first row of a table that is cited, "" for none, what is said of it, and what was asked."""

    question: TableQuestion
    row: str
    claim: str
    is_of_paper: bool
    is_refused: bool

    @property
    def is_right_row(self) -> bool:
        wanted = (self.question.row, self.question.value)
        return self.is_of_paper and all(_holds(self.row, part) for part in wanted)

    @property
    def is_right_value(self) -> bool:
        return self.is_right_row and _holds(self.claim, self.question.value)


def read_table_questions(path: Path = TABLE_QUESTIONS) -> list[TableQuestion]:
    """Return the questions of a file; raises EvaluationError."""
    return read_json_lines(path, TableQuestion, _HINT)


def measure_table_questions(
    questions: Sequence[TableQuestion], homes: Mapping[str, Path]
) -> list[TableOutcome]:
    """Return what became of the questions whose corpora have a home.

    Raises EvaluationError and CorpusError.
    """
    asked = [question for question in questions if question.corpus in homes]
    if not asked:
        raise EvaluationError("None of the questions is of a corpus that is named: --home NAME=FOLDER.")
    assistants = {name: open_assistant(homes[name]) for name in {question.corpus for question in asked}}
    outcomes = []
    for question in asked:
        assistant = assistants[question.corpus]
        turn = ask(assistant, question.question, (), Scope()).turn
        outcomes.append(_outcome(question, turn, assistant.corpus))
    return outcomes


def table_counts(outcomes: Sequence[TableOutcome]) -> TableCounts:
    right_row = sum(one.is_right_row for one in outcomes)
    no_row = sum(not one.row for one in outcomes)
    return TableCounts(
        asked=len(outcomes),
        right_row=right_row,
        right_value=sum(one.is_right_value for one in outcomes),
        other_row=len(outcomes) - right_row - no_row,
        no_row=no_row,
        refused=sum(one.is_refused for one in outcomes),
    )


def table_questions_table(outcomes: Sequence[TableOutcome]) -> Table:
    """Return what became of each question, for people."""
    table = Table("Question", "Wanted", "Told", Column("Right", justify="right"), box=SIMPLE_HEAD)
    for one in outcomes:
        right = "value" if one.is_right_value else "row" if one.is_right_row else "no"
        told = one.claim or ("refused" if one.is_refused else "no row of a table")
        table.add_row(one.question.question, f"{one.question.row}: {one.question.value}", told, right)
    return table


def _outcome(question: TableQuestion, turn: Turn, corpus: Corpus) -> TableOutcome:
    row, claim, paper = next(_cited_rows(turn, corpus), ("", "", ""))
    is_refused = turn.answer.refusal is not None
    return TableOutcome(question, row, claim, paper.endswith(f"/{question.paper}"), is_refused)


def _cited_rows(turn: Turn, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of tables that an answer cites, what it says of each, and their papers."""
    for citation in (one for sentence in turn.answer.sentences for one in sentence.citations):
        yield from _row_of(citation, corpus)


def _row_of(citation: Citation, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    (passage,) = corpus.passages_by_id([citation.passage_id])
    if passage.table and citation.sentence is not None and citation.sentence >= passage.first_row:
        yield passage.sentence_text(citation.sentence), citation.claim, passage.paper_id


def _holds(text: str, part: str) -> bool:
    """Return True if a text has a part as it stands, not within longer words or figures."""
    told, wanted = (" ".join(one.casefold().split()) for one in (text, part))
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w|\.\d)", told) is not None
