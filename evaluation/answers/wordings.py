"""Answers that should be steady: the same papers in other words, every paper told, what is unsaid refused.

Questions are made of the papers of a corpus by the forms of `data/wordings.toml`; nobody judges the answers.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import TypedDict

from pydantic import BaseModel, ConfigDict
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.chat import Assistant
from assistant.records import Turn
from corpus.records import AspectName, Paper, Scope, parse_topic_key
from corpus.store import Corpus
from evaluation.answers.asking import ask, open_assistant
from evaluation.input_files import EvaluationError
from evaluation.known_items import system_name

FORMS = Path(__file__).parents[1] / "data" / "wordings.toml"
# A topic that fewer papers share cannot be listed, one that more share is none.
FEWEST_SHARING, MOST_SHARING = 4, 25


class _Attribute(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    said: tuple[str, ...]


class Forms(BaseModel):
    """The forms of questions, as the file says what they are for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    which_papers: tuple[str, ...]
    one_paper: tuple[str, ...]
    highlights: dict[AspectName, tuple[str, ...]]
    near_misses: dict[str, _Attribute]


class WordingFigures(TypedDict):
    """Shares 0..1 with what they are of.

    `same_papers` is the mean Jaccard of the papers cited for two wordings of one topic, `best_cited` the
    share of the answers that cite the paper found first. `refused` counts by question the full texts that
    did not tell it, `near_misses_refused` is the share of what no paper says.
    """

    topics: int
    same_papers: float
    best_cited: float
    full_texts: int
    one_paper_refused: float
    refused: dict[str, int]
    near_misses: int
    near_misses_refused: float
    answered: list[str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question of one topic or paper, and what became of it."""

    question: str
    turn: Turn
    found: tuple[str, ...]

    @property
    def is_refused(self) -> bool:
        return self.turn.answer.refusal is not None

    @property
    def cited(self) -> frozenset[str]:
        told = self.turn.answer.sentences
        return frozenset(citation.passage_id.rpartition("#")[0] for one in told for citation in one.citations)


@cache
def forms() -> Forms:
    return Forms.model_validate(tomllib.loads(FORMS.read_text(encoding="utf-8")))


def measure_wordings(home: Path, most: int) -> WordingFigures:
    """Return the figures of a corpus, of at most so many topics, full texts and systems.

    Raises EvaluationError where there is nothing to ask about, and CorpusError.
    """
    assistant = open_assistant(home)
    corpus = assistant.corpus
    topics = _topics(corpus)[:most]
    told = [paper for paper in corpus.papers() if len(corpus.passages(paper.id)) > 1][:most]
    missed = [*_near_misses(corpus, most)]
    if not topics and not told and not missed:
        raise EvaluationError("The corpus has no topic that papers share, no full text and no named system.")
    worded = [_worded(assistant, topic) for topic in topics]
    of_one = [_ask(assistant, question, paper) for paper in told for question in forms().one_paper]
    near = [_ask(assistant, question, None) for question in missed]
    given = [one for group in worded for one in group if not one.is_refused and one.found]
    return {
        "topics": len(topics),
        "same_papers": _mean([_agreement(group) for group in worded]),
        "best_cited": _mean([one.found[0] in one.cited for one in given]),
        "full_texts": len(told),
        "one_paper_refused": _mean([one.is_refused for one in of_one]),
        "refused": {
            question: sum(one.is_refused for one in of_one if one.question == question)
            for question in forms().one_paper
        },
        "near_misses": len(near),
        "near_misses_refused": _mean([one.is_refused for one in near]),
        "answered": [one.question for one in near if not one.is_refused],
    }


def wordings_table(figures: WordingFigures) -> Table:
    """Return the figures as a table for people."""
    table = Table("Asked", Column("Of", justify="right"), Column("Share", justify="right"), box=SIMPLE_HEAD)
    topics, told = f"{figures['topics']} topics", f"{figures['full_texts']} full texts"
    table.add_row("the same papers in other words", topics, f"{figures['same_papers']:.3f}")
    table.add_row("the paper found first is cited", topics, f"{figures['best_cited']:.3f}")
    table.add_row("of one paper, refused", told, f"{figures['one_paper_refused']:.3f}")
    for question, count in figures["refused"].items():
        table.add_row(f"  {question}", told, str(count))
    table.add_row(
        "near misses, refused", f"{figures['near_misses']} questions", f"{figures['near_misses_refused']:.3f}"
    )
    return table


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _topics(corpus: Corpus) -> list[str]:
    """Return the names of topics that a few papers share, those of most papers first."""
    counts = corpus.statistics.topic_counts()
    return [parse_topic_key(key)[1] for key, n in counts.items() if FEWEST_SHARING <= n <= MOST_SHARING]


def _worded(assistant: Assistant, topic: str) -> list[_Asked]:
    return [_ask(assistant, form.format(topic), None) for form in forms().which_papers]


def _ask(assistant: Assistant, question: str, paper: Paper | None) -> _Asked:
    asked = ask(assistant, question, (), Scope(papers=(paper.id,) if paper else ()))
    return _Asked(question, asked.turn, asked.found)


def _agreement(worded: Sequence[_Asked]) -> float:
    """Return the mean Jaccard of what two of several answers cite; two that cite nothing agree."""

    def jaccard(one: _Asked, other: _Asked) -> float:
        together = one.cited | other.cited
        return len(one.cited & other.cited) / len(together) if together else 1.0

    return fmean(jaccard(one, other) for one, other in combinations(worded, 2))


def _near_misses(corpus: Corpus, most: int) -> Iterator[str]:
    """Yield questions for what the paper of a system does not say, of so many systems."""
    named = ((system_name(paper.title), paper) for paper in corpus.papers())
    for name, paper in [(name, paper) for name, paper in named if name][:most]:
        said = " ".join(passage.text for passage in corpus.passages(paper.id)).lower()
        for attribute in forms().near_misses.values():
            if not any(word in said for word in attribute.said):
                yield attribute.question.format(name)
