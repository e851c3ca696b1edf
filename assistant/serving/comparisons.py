"""Documents that report a comparison's progress and result to programs."""

from dataclasses import dataclass

from assistant.comparing.records import (
    ELEMENT_NAMES,
    Comparison,
    ComparisonEvent,
    Extracted,
    KeyElement,
    KeyElements,
    Planned,
    QuestionColumn,
    QuotedCell,
    RoundFinished,
    Sampled,
    Voted,
)
from assistant.records import ElementName, Usage
from assistant.serving.answers import (
    CheckedTextDocument,
    StepDocument,
    checked_text,
    step_documents,
)
from assistant.serving.documents import maybe_rounded, rounded
from corpus.wording import counted


@dataclass(frozen=True, slots=True)
class ElementSourceDocument:
    """A sentence that carries a key element; `passage` is empty for one of the description."""

    passage: str
    sentence: int
    text: str
    support: float


@dataclass(frozen=True, slots=True)
class ElementDocument:
    """A text's answer to one of the seven questions; an empty `text`: it does not state that."""

    name: ElementName
    text: str
    support: float | None
    evidence: tuple[ElementSourceDocument, ...]


@dataclass(frozen=True, slots=True)
class ElementsDocument:
    """The key elements of a paper by its label; 0 is the description. `problem` says why there are none."""

    label: int
    problem: str
    elements: tuple[ElementDocument, ...]


@dataclass(frozen=True, slots=True)
class QuoteDocument:
    """A sentence of a paper, word for word, with its place."""

    passage: str
    sentence: int
    text: str


@dataclass(frozen=True, slots=True)
class CellDocument:
    """The sentences in which a paper, by its label, answers a question; none where it does not say."""

    label: int
    quotes: tuple[QuoteDocument, ...]


@dataclass(frozen=True, slots=True)
class ColumnDocument:
    """A question of the caller's own, and each paper's answer to it."""

    question: str
    cells: tuple[CellDocument, ...]


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    """A finished comparison: the checked summary, the key elements behind it, and own questions answered."""

    id: str
    about: str
    writer: str
    summary: CheckedTextDocument
    elements: tuple[ElementsDocument, ...]
    columns: tuple[ColumnDocument, ...]
    remarks: tuple[str, ...]
    usage: Usage
    seconds: tuple[StepDocument, ...]


def comparison_document(comparison: Comparison) -> ComparisonDocument:
    return ComparisonDocument(
        id=comparison.id,
        about=comparison.about,
        writer=comparison.provenance.generator,
        summary=checked_text(comparison.answer, comparison.evidence),
        elements=tuple(map(_elements, comparison.elements)),
        columns=tuple(map(_column, comparison.columns)),
        remarks=comparison.remarks,
        usage=comparison.usage,
        seconds=step_documents(comparison.seconds),
    )


def _elements(elements: KeyElements) -> ElementsDocument:
    stated = [elements.element(name) for name in ELEMENT_NAMES] if elements.elements else []
    return ElementsDocument(elements.label, elements.problem, tuple(map(_element, stated)))


def _element(element: KeyElement) -> ElementDocument:
    evidence = tuple(
        ElementSourceDocument(source.passage_id, source.sentence, source.text, rounded(source.support))
        for source in element.evidence
    )
    return ElementDocument(element.name, element.text, maybe_rounded(element.support), evidence)


def _column(column: QuestionColumn) -> ColumnDocument:
    return ColumnDocument(column.question, tuple(map(_quoted, column.cells)))


def _quoted(cell: QuotedCell) -> CellDocument:
    quotes = (QuoteDocument(quote.passage_id, quote.sentence, quote.text) for quote in cell.quotes)
    return CellDocument(cell.label, tuple(quotes))


def describe_progress(event: ComparisonEvent) -> str:
    """Describe an event of a comparison, "" if there is nothing new."""
    progress = ""
    match event:
        case Planned(papers):
            progress = f"Comparing {counted(len(papers), 'paper')}"
        case Extracted(elements):
            progress = f"Read {f'paper {elements.label}' if elements.label else 'the description'}"
        case Sampled(number, _):
            progress = f"Wrote a sample of round {number}"
        case Voted(number, _):
            progress = f"Took a vote of round {number}"
        case RoundFinished(finished):
            progress = f"Finished round {finished.number}"
    return progress
