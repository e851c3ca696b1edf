"""The grid of a comparison as pure values: its papers, each with the seven key elements.

A reader's own questions make further columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assistant.checking.overlap import ScoreWord, score_digits, support_word
from assistant.comparing.records import (
    DESCRIPTION,
    ELEMENT_NAMES,
    Comparison,
    ElementEvidence,
    KeyElement,
    KeyElements,
    QuestionColumn,
    QuotedSentence,
    TextKind,
)
from assistant.generators.protocol import EXTRACTIVE, uses_model
from assistant.records import ElementName, LabelledPaper

ELEMENT_TITLES: dict[ElementName, str] = {
    "research_questions": "Research questions",
    "methodology": "Methodology",
    "results": "Results",
    "conclusions": "Conclusions",
    "contributions": "Contributions",
    "innovations": "Innovations",
    "limitations": "Limitations",
}
DESCRIPTION_TITLE = "Your description"
NOT_STATED = "not stated in the text"
# Without a model it is only known that no sentence was chosen.
NOT_FOUND = "no sentence found"
NOT_READ = "could not be read"
# The text of a cell if no sentence of a paper answers a question, by what is known of the paper.
_DOES_NOT_SAY: dict[TextKind, str] = {
    "full text": "does not say (no sentence found)",
    "abstract": "its abstract does not say (no sentence found)",
    "title": "does not say (its title alone is known)",
    "description": "papers alone are asked",
}
# The mark of a text that a model wrote and no sentence supports.
NOT_CARRIED = "The text does not carry this"
_NEVER_EXTRACTED = "Its key elements were not extracted."

GridOrder = Literal["label", "title", "year", "stated"]


@dataclass(frozen=True, slots=True)
class GridCell:
    """The answer of one text to one question, with supporting sentences and support, 0..1.

    `name` is that of a key element or of a question (`question_name`). The answer to a question consists of
    `quotes` and needs no support. `absence` is shown if there is no text.
    """

    name: str
    text: str = ""
    support: float | None = None
    evidence: tuple[ElementEvidence, ...] = ()
    absence: str = NOT_STATED
    quotes: tuple[QuotedSentence, ...] = ()

    @property
    def is_stated(self) -> bool:
        """Return True if there is a text that its paper supports."""
        return bool(self.text) and not self.is_weak

    @property
    def is_weak(self) -> bool:
        """Return True if there is a text that its paper does not support: a model may have invented it."""
        return bool(self.text) and self.word == "weak"

    @property
    def shown(self) -> str:
        """The text, marked if its paper does not support it, or `absence`."""
        return f"{self.mark}: {self.text}" if self.is_weak else self.text or self.absence

    @property
    def mark(self) -> str:
        """The label of a text that its paper does not support, "" for any other."""
        return f"{NOT_CARRIED} (support {score_digits(self.support or 0)})" if self.is_weak else ""

    @property
    def word(self) -> ScoreWord | None:
        """The word for its support, None without support."""
        return None if self.support is None else support_word(self.support)


@dataclass(frozen=True, slots=True)
class GridRow:
    """A paper of the comparison, or the description (label 0), with its seven cells in order.

    `answers` are its answers to the reader's own questions.
    """

    label: int
    paper_id: str
    title: str
    year: int | None
    source: TextKind
    cells: tuple[GridCell, ...]
    problem: str = ""
    answers: tuple[GridCell, ...] = ()

    @property
    def every_cell(self) -> tuple[GridCell, ...]:
        """The cells of all columns."""
        return (*self.cells, *self.answers)

    @property
    def is_description(self) -> bool:
        return self.label == DESCRIPTION

    @property
    def stated(self) -> int:
        """The number of stated elements, of seven."""
        return sum(cell.is_stated for cell in self.cells)

    def cell(self, name: str) -> GridCell:
        """Return the cell of a key element or a question; raises KeyError."""
        return {cell.name: cell for cell in self.every_cell}[name]


@dataclass(frozen=True, slots=True)
class Grid:
    """The rows of the description and then of the papers, in order.

    `absence` is the text of empty cells; `generator` names the comparer. `questions` are the reader's own.
    """

    rows: tuple[GridRow, ...]
    absence: str = NOT_STATED
    generator: str = EXTRACTIVE
    questions: tuple[str, ...] = ()

    @property
    def titles(self) -> dict[str, str]:
        """The title of every column by the name of its cells, in order."""
        own_questions = ((question_name(number), text) for number, text in enumerate(self.questions, start=1))
        return dict[str, str]([*ELEMENT_TITLES.items(), *own_questions])

    @property
    def papers(self) -> tuple[GridRow, ...]:
        return tuple(row for row in self.rows if not row.is_description)

    @property
    def is_empty(self) -> bool:
        """Return True if there are no questions and no text has an element."""
        return not self.questions and not any(cell.text for row in self.rows for cell in row.cells)

    @property
    def share_not_stated(self) -> float:
        """The share of the papers' cells that state nothing, 0..1; 0.0 without papers."""
        cells = self._cells
        return sum(not cell.is_stated for cell in cells) / len(cells) if cells else 0.0

    @property
    def not_carried(self) -> int:
        """The number of the papers' cells with a text that the paper does not support; they state nothing."""
        return sum(cell.is_weak for cell in self._cells)

    @property
    def _cells(self) -> tuple[GridCell, ...]:
        return tuple(cell for row in self.papers for cell in row.cells)

    def sorted(self, order: GridOrder, *, descending: bool = False) -> "Grid":
        """Return the grid with its papers in another order; those without a year always come last."""
        rows = sorted(self.papers, key=lambda row: row.label)
        # Stable sorts keep ties in the order of the labels.
        rows.sort(key=_KEYS[order], reverse=descending)
        if order == "year":
            rows.sort(key=lambda row: row.year is None)
        return replace(self, rows=(*(row for row in self.rows if row.is_description), *rows))


_KEYS: dict[GridOrder, Callable[[GridRow], int | str]] = {
    "label": lambda row: row.label,
    "title": lambda row: row.title.casefold(),
    "year": lambda row: row.year or 0,
    "stated": lambda row: row.stated,
}


def element_grid(comparison: Comparison) -> Grid:
    """Return the grid of a comparison: the description's row, then the papers with elements and answers."""
    known = {elements.label: elements for elements in comparison.elements}
    absence = NOT_STATED if uses_model(comparison.provenance.generator) else NOT_FOUND
    described = _row(known.get(DESCRIPTION), DESCRIPTION, DESCRIPTION_TITLE, absence)
    papers = (
        _paper_row(known.get(labelled.label), labelled, absence) for labelled in comparison.evidence.papers
    )
    rows = (_with_answers(row, comparison.columns) for row in (described, *papers))
    questions = tuple(column.question for column in comparison.columns)
    return Grid(tuple(rows), absence, comparison.provenance.generator, questions)


def question_name(number: int) -> str:
    """Return the name of the cells of the reader's question `number`, from 1."""
    return f"question_{number}"


def _with_answers(row: GridRow, columns: Sequence[QuestionColumn]) -> GridRow:
    cells = (
        GridCell(
            question_name(number),
            " ".join(quote.text for quote in quotes),
            absence=_DOES_NOT_SAY[row.source],
            quotes=quotes,
        )
        for number, column in enumerate(columns, start=1)
        for quotes in [column.cell(row.label).quotes]
    )
    return replace(row, answers=tuple(cells))


def _paper_row(elements: KeyElements | None, labelled: LabelledPaper, absence: str) -> GridRow:
    paper = labelled.paper
    row = _row(elements, labelled.label, paper.title or paper.id, absence)
    return replace(row, paper_id=paper.id, year=paper.year)


def _row(elements: KeyElements | None, label: int, title: str, absence: str) -> GridRow:
    source: TextKind = "description" if label == DESCRIPTION else "title"
    if elements is None:
        elements = KeyElements(label, source, problem=_NEVER_EXTRACTED)
    absence = NOT_READ if elements.problem else absence
    cells = tuple(_cell(elements.element(name), absence) for name in ELEMENT_NAMES)
    return GridRow(label, "", title, None, elements.source, cells, elements.problem)


def _cell(element: KeyElement, absence: str) -> GridCell:
    return GridCell(element.name, element.text, element.support, element.evidence, absence)
