"""Questions written beforehand, asked as readers ask them: what is answered, what is refused, who is cited.

These counts say nothing of whether an answer is right: people judge that, who read what is written out.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Literal, TypedDict, get_args

from pydantic import BaseModel, ConfigDict, Field
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.chat import Assistant
from assistant.generators import EXTRACTIVE
from assistant.records import AssistantError, Conversation, RequestKind, Turn
from assistant.trail import to_json
from corpus.records import Scope
from corpus.store import Corpus
from evaluation.answers.asking import AskedQuestion, ask, open_assistant
from evaluation.input_files import EvaluationError, read_numbered_json_lines

QUESTIONS = Path(__file__).parents[1] / "data" / "questions.jsonl"
QuestionKind = Literal["list", "paper", "definition", "fact", "comparison", "how", "overview"]
Part = Literal["dev", "kept"]
_HINT = "Each line has id, question, expect (answer or refuse) and expected_papers; see evaluation/README.md."


class WrittenQuestion(BaseModel):
    """A question, what was asked before it, what it is asked of, and what should become of it.

    `history` has the questions before, the oldest first. `paper` is the one paper it is asked of,
    `collection` the one collection. Each of `expected_papers` answers it, or a part of it. `corpus` names
    what it was written for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    history: tuple[str, ...] = ()
    paper: str | None = None
    collection: str | None = None
    expect: Literal["answer", "refuse"]
    expected_papers: tuple[str, ...]
    kind: QuestionKind | None = None
    part: Part | None = None
    corpus: str = ""

    @property
    def scope(self) -> Scope:
        return Scope(
            collections=(self.collection,) if self.collection else (),
            papers=(self.paper,) if self.paper else (),
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which questions of a file are asked: those of a part, a kind, a corpus; None for all."""

    part: Part | None = None
    kind: QuestionKind | None = None
    corpus: str | None = None

    def holds(self, row: WrittenQuestion) -> bool:
        return (
            self.part in (None, row.part)
            and self.kind in (None, row.kind)
            and self.corpus in (None, row.corpus)
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question, for a person to judge.

    `found` are the ids of papers, best first, `cited` in the order of the text. `kind` and `search_query` are
    the product's own, `support` is of each sentence; scores are None where it counts none.
    """

    id: str
    question: str
    text: str
    kind: RequestKind
    search_query: str
    found: tuple[str, ...]
    cited: tuple[str, ...]
    relevance: float | None
    citation_recall: float | None
    citation_precision: float | None
    support: tuple[float | None, ...]
    refusal_reason: str | None
    refusal: str | None
    seconds: float

    @property
    def is_refused(self) -> bool:
        return self.refusal_reason is not None


@dataclass(frozen=True, slots=True)
class Written:
    """Where what becomes of questions is written: a file of lines for people, a folder of trails."""

    out: Path | None = None
    trails: Path | None = None

    def begin(self) -> None:
        if self.out:
            self.out.write_text("", encoding="utf-8")
        if self.trails:
            self.trails.mkdir(parents=True, exist_ok=True)

    def add(self, outcome: Outcome, conversation: Conversation) -> None:
        if self.out:
            with self.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
        if self.trails:
            trail = self.trails / f"{conversation.id}.json"
            trail.write_text(to_json(conversation), encoding="utf-8")


class QuestionCounts(TypedDict):
    """How many questions can be answered and cannot, and what became of them.

    `expecting` are the answerable ones with expected papers; of `given` answers, to either sort of question,
    `best_cited` cite the paper found first.
    """

    answerable: int
    answered: int
    unanswerable: int
    refused: int
    expecting: int
    found: int
    cited: int
    given: int
    best_cited: int


class QuestionFigures(TypedDict):
    """Shares, 0..1, None where nothing is to be counted, and the counts of all and of each kind."""

    questions: int
    answered: float | None
    refused_wrongly: float | None
    refused_rightly: float | None
    expected_found: float | None
    expected_cited: float | None
    best_cited: float | None
    seconds_median: float
    counts: QuestionCounts
    kinds: dict[str, QuestionCounts]


_Numbered = tuple[int, WrittenQuestion]
_Judged = tuple[WrittenQuestion, Outcome]


def measure_questions(
    data: Path, home: Path, chosen: Chosen, written: Written, generator: str = EXTRACTIVE
) -> QuestionFigures:
    """Ask the chosen questions of a file, write down what becomes of each, and return the figures.

    Raises EvaluationError that names the line at fault, AssistantError and CorpusError.
    """
    rows = read_questions(data, chosen)
    assistant = open_assistant(home, generator)
    _check_held(data, rows, assistant.corpus)
    return question_figures(list(_asked(assistant, data, rows, written)))


def read_questions(data: Path, chosen: Chosen) -> list[_Numbered]:
    """Return the chosen questions with the numbers of their lines; raises EvaluationError."""
    rows = read_numbered_json_lines(data, WrittenQuestion, _HINT)
    known: set[str] = set()
    for number, row in rows:
        if row.id in known:
            raise EvaluationError(f"{data}, line {number}: id: {row.id!r} stands in an earlier line too.")
        known.add(row.id)
    kept = [(number, row) for number, row in rows if chosen.holds(row)]
    if not kept:
        raise EvaluationError(f"None of the questions of {data} is of the part, kind and corpus chosen.")
    return kept


def _check_held(data: Path, rows: Sequence[_Numbered], corpus: Corpus) -> None:
    """Raise EvaluationError where a question names what the corpus does not hold."""
    collections = corpus.collection_ids()
    named = {paper for _, row in rows for paper in _papers_named(row)}
    held = {paper.id for paper in corpus.papers_by_id(tuple(named))}
    for number, row in rows:
        lacking = [f"collection {row.collection!r}"] if row.collection not in (None, *collections) else []
        lacking += [f"paper {paper!r}" for paper in _papers_named(row) if paper not in held]
        if lacking:
            raise EvaluationError(
                f"{data}, line {number}: the corpus has no {lacking[0]}. "
                "Ask of another home, or choose the questions of this one by --corpus-name."
            )


def _papers_named(row: WrittenQuestion) -> tuple[str, ...]:
    return (*row.expected_papers, row.paper) if row.paper else row.expected_papers


def _asked(
    assistant: Assistant, data: Path, rows: Sequence[_Numbered], written: Written
) -> Iterator[_Judged]:
    """Yield what becomes of each question, written down before the next one is asked."""
    try:
        written.begin()
        for number, row in rows:
            asked, turns = _conversation(assistant, f"{data}, line {number}", row)
            outcome = _read_outcome(row, asked)
            written.add(outcome, Conversation(f"line-{number}", row.question, turns))
            yield row, outcome
    except OSError as error:
        raise EvaluationError(f"The file {error.filename} cannot be written: {error.strerror}.") from error


def _conversation(
    assistant: Assistant, place: str, row: WrittenQuestion
) -> tuple[AskedQuestion, tuple[Turn, ...]]:
    turns: list[Turn] = []
    try:
        for earlier in row.history:
            turns.append(ask(assistant, earlier, turns, row.scope).turn)
        asked = ask(assistant, row.question, turns, row.scope)
    except AssistantError as error:
        raise EvaluationError(f"{place}: {error}") from error
    return asked, (*turns, asked.turn)


def _read_outcome(row: WrittenQuestion, asked: AskedQuestion) -> Outcome:
    turn, answer = asked.turn, asked.turn.answer
    return Outcome(
        id=row.id,
        question=row.question,
        text=answer.text,
        kind=turn.rewrite.kind,
        search_query=turn.rewrite.search_query,
        found=asked.found,
        cited=tuple(labelled.paper.id for labelled in turn.cited_papers),
        relevance=answer.relevance,
        citation_recall=answer.citation_recall,
        citation_precision=answer.citation_precision,
        support=tuple(sentence.support for sentence in answer.sentences),
        refusal_reason=answer.refusal.reason if answer.refusal else None,
        refusal=answer.refusal.message if answer.refusal else None,
        seconds=round(asked.seconds, 3),
    )


def question_figures(judged: Sequence[_Judged]) -> QuestionFigures:
    """Return the figures of questions and what became of them."""
    counts = _counts(judged)
    refused_wrongly = counts["answerable"] - counts["answered"]
    return QuestionFigures(
        questions=len(judged),
        answered=_share(counts["answered"], counts["answerable"]),
        refused_wrongly=_share(refused_wrongly, counts["answerable"]),
        refused_rightly=_share(counts["refused"], counts["unanswerable"]),
        expected_found=_share(counts["found"], counts["expecting"]),
        expected_cited=_share(counts["cited"], counts["expecting"]),
        best_cited=_share(counts["best_cited"], counts["given"]),
        seconds_median=median(outcome.seconds for _, outcome in judged),
        counts=counts,
        kinds={
            kind: _counts(of_kind)
            for kind in get_args(QuestionKind)
            if (of_kind := [(row, outcome) for row, outcome in judged if row.kind == kind])
        },
    )


def _counts(judged: Sequence[_Judged]) -> QuestionCounts:
    answerable = [(row, outcome) for row, outcome in judged if row.expect == "answer"]
    unanswerable = [outcome for row, outcome in judged if row.expect == "refuse"]
    expecting = [(set(row.expected_papers), outcome) for row, outcome in answerable if row.expected_papers]
    given = [outcome for _, outcome in judged if not outcome.is_refused]
    return QuestionCounts(
        answerable=len(answerable),
        answered=sum(not outcome.is_refused for _, outcome in answerable),
        unanswerable=len(unanswerable),
        refused=sum(outcome.is_refused for outcome in unanswerable),
        expecting=len(expecting),
        found=sum(not papers.isdisjoint(outcome.found) for papers, outcome in expecting),
        cited=sum(not papers.isdisjoint(outcome.cited) for papers, outcome in expecting),
        given=len(given),
        best_cited=sum(outcome.found[0] in outcome.cited for outcome in given),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def questions_table(figures: QuestionFigures) -> Table:
    """Return what people read of each kind: answered of what can be, refused of what cannot be answered."""
    title = f"{figures['questions']} questions, {figures['seconds_median']:.2f} s in the median"
    columns = ("Answered", "Found", "Cited", "Refused", "First cited")
    numbers = [Column(name, justify="right") for name in columns]
    table = Table("Kind", *numbers, box=SIMPLE_HEAD, title=title)
    for name, counts in {**figures["kinds"], "all": figures["counts"]}.items():
        table.add_row(
            name,
            f"{counts['answered']} of {counts['answerable']}",
            f"{counts['found']} of {counts['expecting']}",
            f"{counts['cited']} of {counts['expecting']}",
            f"{counts['refused']} of {counts['unanswerable']}",
            f"{counts['best_cited']} of {counts['given']}",
        )
    return table
