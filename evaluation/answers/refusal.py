"""Whether what a collection cannot answer is refused, and what it can answer is not.

For the demonstration collections beside 2022.acl-long the questions were written for the purpose, before
anything was tried on them. For other collections they are made from the papers: what a paper's title or its
sentence of approach names is asked of its own collection and of one that lies far from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np
from pydantic import BaseModel, ConfigDict
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.chat import Assistant
from assistant.questions import Phrase, is_complete, phrases
from corpus.records import Paper, Scope, passage_id
from corpus.store import Corpus
from evaluation.answers.asking import ask, open_assistant
from evaluation.input_files import EvaluationError

QUESTIONS = Path(__file__).parent / "data" / "refusal.json"
MADE_PER_DIRECTION = 20
Source = Literal["written", "made"]


class _Question(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    asked_of: str
    answerable: bool
    part: str


class _Written(BaseModel):
    """The file of questions written for the purpose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    collections: dict[str, tuple[str, ...]]
    questions: tuple[_Question, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the collections it is asked of, whether they can answer it, and what direction it is of."""

    question: str
    collections: tuple[str, ...]
    answerable: bool
    direction: str
    part: str = ""


class Counts(TypedDict):
    """Of one direction or part: how many questions are of each kind, and how many were refused."""

    answerable: int
    refused_answerable: int
    unanswerable: int
    refused_unanswerable: int


class RefusalFigures(TypedDict):
    """Recall over what cannot be answered and false refusals over what can, 0..1, and the counts.

    `wrong` holds the questions that went wrong.
    """

    questions: Source
    refusal_recall: float
    false_refusals: float
    counts: Counts
    directions: dict[str, Counts]
    parts: dict[str, Counts]
    wrong: list[str]


def measure_refusal(path: Path, *, made: bool = False) -> RefusalFigures:
    """Return the figures of a corpus: a PAPER_TRAIL_HOME or the corpus folder in it.

    `made` makes questions even where written ones fit. Raises EvaluationError and CorpusError.
    """
    assistant = open_assistant(path)
    corpus = assistant.corpus
    cases = () if made else written_cases(corpus.collection_ids())
    source: Source = "written" if cases else "made"
    cases = cases or tuple(made_cases(corpus))
    refused = [_is_refused(assistant, case) for case in cases]
    return _figures(source, cases, refused)


def written_cases(held: Sequence[str]) -> tuple[Case, ...]:
    """Return the questions written for the purpose, none unless all their collections are held."""
    written = _Written.model_validate_json(QUESTIONS.read_text(encoding="utf-8"))
    if not {one for group in written.collections.values() for one in group} <= set(held):
        return ()
    return tuple(
        Case(
            one.question,
            written.collections[one.asked_of],
            one.answerable,
            f"{'answerable by' if one.answerable else 'asked in vain of'} {one.asked_of}",
            one.part,
        )
        for one in written.questions
    )


def made_cases(corpus: Corpus) -> Iterator[Case]:
    """Yield questions made from papers of two collections that lie far apart; raises EvaluationError.

    What is asked in vain was not read by anybody: some of it may be answerable after all.
    """
    first, second = _far_apart(corpus)
    for own, other in ((first, second), (second, first)):
        for question in _made_questions(corpus, own):
            yield Case(question, (own,), answerable=True, direction=f"{own} of itself")
            yield Case(question, (other,), answerable=False, direction=f"{own} of {other}")


def _made_questions(corpus: Corpus, collection: str) -> list[str]:
    """Return a question on each of some papers, taken evenly from the whole collection."""
    papers = corpus.papers(Scope(collections=(collection,)))
    step = max(1, len(papers) // MADE_PER_DIRECTION)
    asked = (_question(paper, ask_title=number % 2 == 0) for number, paper in enumerate(papers[::step]))
    return list(dict.fromkeys(question for question in asked if question))[:MADE_PER_DIRECTION]


def _question(paper: Paper, *, ask_title: bool) -> str:
    """Return a question that a paper answers, from its title or its approach, "" where neither does."""
    approach = next((aspect.text for aspect in paper.aspects if aspect.name == "approach"), "")
    text = paper.title if ask_title or not approach else approach
    named = [phrase for phrase in phrases(text) if _says_enough(phrase)]
    if not named:
        return ""
    if len(named) == 1:
        return f"What is known about {named[0].text}?"
    return f"What is the role of {named[0].text} in {named[-1].text}?"


def _says_enough(phrase: Phrase) -> bool:
    return is_complete(phrase) and len(phrase.text.split()) > 1


def _far_apart(corpus: Corpus) -> tuple[str, str]:
    """Return the two collections whose papers' mean vectors are the least alike."""
    collections = corpus.collection_ids()
    if len(collections) < 2:
        raise EvaluationError(
            f"Questions that cannot be answered need two collections; the corpus holds {len(collections)}."
        )
    means = np.stack([_mean_vector(corpus, collection) for collection in collections])
    likeness = means @ means.T
    one, other = np.unravel_index(int(np.argmin(likeness)), likeness.shape)
    return collections[int(one)], collections[int(other)]


def _mean_vector(corpus: Corpus, collection: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    papers = corpus.papers(Scope(collections=(collection,)), limit=200)
    vectors = np.asarray(list(corpus.vectors([passage_id(paper.id, 0) for paper in papers]).values()))
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


def _is_refused(assistant: Assistant, case: Case) -> bool:
    asked = ask(assistant, case.question, (), Scope(collections=case.collections))
    return asked.turn.answer.refusal is not None


def _figures(source: Source, cases: Sequence[Case], refused: Sequence[bool]) -> RefusalFigures:
    judged = list(zip(cases, refused, strict=True))
    counts = _counts(judged)
    directions = dict.fromkeys(case.direction for case in cases)
    parts = dict.fromkeys(case.part for case in cases if case.part)
    return RefusalFigures(
        questions=source,
        refusal_recall=counts["refused_unanswerable"] / max(1, counts["unanswerable"]),
        false_refusals=counts["refused_answerable"] / max(1, counts["answerable"]),
        counts=counts,
        directions={
            name: _counts([one for one in judged if one[0].direction == name]) for name in directions
        },
        parts={name: _counts([one for one in judged if one[0].part == name]) for name in parts},
        wrong=[f"{case.question} ({case.direction})" for case, no in judged if no == case.answerable],
    )


def _counts(judged: Sequence[tuple[Case, bool]]) -> Counts:
    return Counts(
        answerable=sum(case.answerable for case, _ in judged),
        refused_answerable=sum(case.answerable and no for case, no in judged),
        unanswerable=sum(not case.answerable for case, _ in judged),
        refused_unanswerable=sum(not case.answerable and no for case, no in judged),
    )


def refusal_table(figures: RefusalFigures) -> Table:
    """Return what people read: questions asked and refused, and those that went wrong."""
    origin = "written for the purpose" if figures["questions"] == "written" else "made from the papers"
    title = (
        f"Questions {origin}:"
        f" refusal recall {figures['refusal_recall']:.3f}, false refusals {figures['false_refusals']:.3f}"
    )
    numbers = [Column(name, justify="right") for name in ("Asked", "Refused")]
    table = Table("Questions", *numbers, box=SIMPLE_HEAD, title=title)
    for name, counts in {**figures["directions"], **figures["parts"]}.items():
        for kind in ("answerable", "unanswerable"):
            asked, refused = counts[kind], counts[f"refused_{kind}"]  # type: ignore[literal-required]
            if asked:
                table.add_row(
                    f"{name}, {kind}" if name in figures["parts"] else name, str(asked), str(refused)
                )
    for question in figures["wrong"]:
        table.add_row(f"Wrong: {question}", "", "")
    return table
