"""Refusal of questions that a collection cannot answer, and answers to those that it can.

For the demonstration collections beside 2022.acl-long the questions were written beforehand. For other
collections they are made of the papers: phrases of a title or a sentence of approach are asked of their own
collection and of the collection that lies farthest from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from assistant.questions.phrases import is_complete, phrases
from corpus.records import Paper, Scope, passage_id
from corpus.store.corpus import Corpus
from evaluation.answers.asking import ask, open_assistant
from evaluation.harness import Figures, Report, command, table
from evaluation.input_files import EvaluationError

QUESTIONS = Path(__file__).parent / "data" / "refusal.json"
MADE_PER_DIRECTION = 20


class _Question(BaseModel, frozen=True, extra="forbid"):
    question: str
    asked_of: str
    answerable: bool
    part: str


class _Written(BaseModel, frozen=True, extra="forbid"):
    """The file of questions written for the purpose."""

    collections: dict[str, tuple[str, ...]]
    questions: tuple[_Question, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the collections it is asked of, and whether they can answer it."""

    question: str
    collections: tuple[str, ...]
    answerable: bool
    direction: str
    part: str = ""


def measure_refusal(path: Path, *, made: bool = False) -> Figures:
    """Measure refusal on a corpus; `made` makes questions even where written ones fit.

    Raises EvaluationError and CorpusError.
    """
    assistant = open_assistant(path)
    cases = () if made else written_cases(assistant.corpus.collection_ids())
    source = "written" if cases else "made"
    cases = cases or tuple(made_cases(assistant.corpus))
    judged = [
        (case, ask(assistant, case.question, (), Scope(collections=case.collections)).is_refused)
        for case in cases
    ]
    counts = _counts(judged)
    directions = dict.fromkeys(case.direction for case in cases)
    parts = dict.fromkeys(case.part for case in cases if case.part)
    return {
        "questions": source,
        "refusal_recall": counts["refused_unanswerable"] / max(1, counts["unanswerable"]),
        "false_refusals": counts["refused_answerable"] / max(1, counts["answerable"]),
        "counts": counts,
        "directions": {
            name: _counts([row for row in judged if row[0].direction == name]) for name in directions
        },
        "parts": {name: _counts([row for row in judged if row[0].part == name]) for name in parts},
        "wrong": [f"{case.question} ({case.direction})" for case, no in judged if no == case.answerable],
    }


def _counts(judged: Sequence[tuple[Case, bool]]) -> dict[str, int]:
    return {
        "answerable": sum(case.answerable for case, _ in judged),
        "refused_answerable": sum(case.answerable and no for case, no in judged),
        "unanswerable": sum(not case.answerable for case, _ in judged),
        "refused_unanswerable": sum(not case.answerable and no for case, no in judged),
    }


def written_cases(held: Sequence[str]) -> tuple[Case, ...]:
    """Read the questions written for the purpose, none unless all their collections are held."""
    written = _Written.model_validate_json(QUESTIONS.read_text(encoding="utf-8"))
    if not {name for group in written.collections.values() for name in group} <= set(held):
        return ()
    return tuple(
        Case(
            row.question,
            written.collections[row.asked_of],
            row.answerable,
            f"{'answerable by' if row.answerable else 'asked in vain of'} {row.asked_of}",
            row.part,
        )
        for row in written.questions
    )


def made_cases(corpus: Corpus) -> Iterator[Case]:
    """Yield questions made from papers of two collections that lie far apart; raises EvaluationError.

    Nobody read the questions asked in vain: some may be answerable after all.
    """
    first, second = _far_apart(corpus)
    for own, other in ((first, second), (second, first)):
        for question in _made_questions(corpus, own):
            yield Case(question, (own,), answerable=True, direction=f"{own} of itself")
            yield Case(question, (other,), answerable=False, direction=f"{own} of {other}")


def _made_questions(corpus: Corpus, collection: str) -> list[str]:
    """Make a question on each of some papers, taken evenly from the whole collection."""
    papers = corpus.papers(Scope(collections=(collection,)))
    step = max(1, len(papers) // MADE_PER_DIRECTION)
    asked = (_question(paper, ask_title=number % 2 == 0) for number, paper in enumerate(papers[::step]))
    return list(dict.fromkeys(question for question in asked if question))[:MADE_PER_DIRECTION]


def _question(paper: Paper, *, ask_title: bool) -> str:
    """Make a question that a paper answers, from its title or its approach, "" where neither does."""
    approach = next((aspect.text for aspect in paper.aspects if aspect.name == "approach"), "")
    text = paper.title if ask_title or not approach else approach
    named = [phrase.text for phrase in phrases(text) if is_complete(phrase) and " " in phrase.text.strip()]
    if len(named) < 2:
        return f"What is known about {named[0]}?" if named else ""
    return f"What is the role of {named[0]} in {named[-1]}?"


def _far_apart(corpus: Corpus) -> tuple[str, str]:
    """Find the two collections whose papers' mean vectors are the least alike."""
    collections = corpus.collection_ids()
    if len(collections) < 2:
        raise EvaluationError(
            f"Questions that cannot be answered need two collections; the corpus holds {len(collections)}."
        )
    means = np.stack([_mean_vector(corpus, collection) for collection in collections])
    likeness = means @ means.T
    first, second = np.unravel_index(int(np.argmin(likeness)), likeness.shape)
    return collections[int(first)], collections[int(second)]


def _mean_vector(corpus: Corpus, collection: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    papers = corpus.papers(Scope(collections=(collection,)), limit=200)
    vectors = np.asarray(list(corpus.vectors([passage_id(paper.id, 0) for paper in papers]).values()))
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


@command("refusal")
def refusal(corpus: Path, *, made: bool = False) -> Report:
    figures = measure_refusal(corpus, made=made)
    origin = "written for the purpose" if figures["questions"] == "written" else "made from the papers"
    title = (
        f"Questions {origin}:"
        f" refusal recall {figures['refusal_recall']:.3f}, false refusals {figures['false_refusals']:.3f}"
    )
    rows: list[tuple[object, ...]] = []
    for name, counts in {**figures["directions"], **figures["parts"]}.items():
        for kind in ("answerable", "unanswerable"):
            if counts[kind]:
                label = f"{name}, {kind}" if name in figures["parts"] else name
                rows.append((label, counts[kind], counts[f"refused_{kind}"]))
    rows += [(f"Wrong: {question}", "", "") for question in figures["wrong"]]
    return Report(figures, [table(("Questions", "Asked", "Refused"), rows, title=title)])
