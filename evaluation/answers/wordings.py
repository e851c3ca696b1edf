"""Answers that should be steady: the same papers in other words, every paper told, what is unsaid refused.

Questions are made of the papers of a corpus by the forms of `data/wordings.toml`; nobody judges the answers.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel

from corpus.records import AspectName, Scope, parse_topic_key
from corpus.store import Corpus
from evaluation.answers.asking import AskedQuestion, ask, open_assistant
from evaluation.harness import Figures, Report, command, table
from evaluation.input_files import DATA, EvaluationError
from evaluation.known_items import system_name

# A topic that fewer papers share cannot be listed; one that more share is none.
FEWEST_SHARING, MOST_SHARING = 4, 25


class _Attribute(BaseModel, frozen=True, extra="forbid"):
    question: str
    said: tuple[str, ...]


class Forms(BaseModel, frozen=True, extra="forbid"):
    """The forms of questions by their purpose."""

    which_papers: tuple[str, ...]
    one_paper: tuple[str, ...]
    highlights: dict[AspectName, tuple[str, ...]]
    near_misses: dict[str, _Attribute]


@cache
def forms() -> Forms:
    return Forms.model_validate(tomllib.loads((DATA / "wordings.toml").read_text(encoding="utf-8")))


def measure_wordings(home: Path, most: int) -> Figures:
    """Return shares 0..1 with what they are of, for at most `most` topics, full texts and systems.

    `same_papers` is the mean Jaccard of the papers cited for two wordings of a topic. Raises EvaluationError
    where there is nothing to ask about, and CorpusError.
    """
    assistant = open_assistant(home)
    corpus = assistant.corpus
    counts = corpus.statistics.topic_counts()
    topics = [parse_topic_key(key)[1] for key, n in counts.items() if FEWEST_SHARING <= n <= MOST_SHARING][
        :most
    ]
    told = [paper for paper in corpus.papers() if len(corpus.passages(paper.id)) > 1][:most]
    missed = [*_near_misses(corpus, most)]
    if not topics and not told and not missed:
        raise EvaluationError("The corpus has no topic that papers share, no full text and no named system.")
    worded = [[ask(assistant, form.format(topic)) for form in forms().which_papers] for topic in topics]
    given = [asked for group in worded for asked in group if not asked.is_refused and asked.found]
    refusals = {
        question: [ask(assistant, question, (), Scope(papers=(paper.id,))).is_refused for paper in told]
        for question in forms().one_paper
    }
    near = {question: ask(assistant, question).is_refused for question in missed}
    return {
        "topics": len(topics),
        "same_papers": _mean([_agreement(group) for group in worded]),
        "best_cited": _mean([asked.found[0] in _cited(asked) for asked in given]),
        "full_texts": len(told),
        "one_paper_refused": _mean([refused for own in refusals.values() for refused in own]),
        "refused": {question: sum(own) for question, own in refusals.items()},
        "near_misses": len(missed),
        "near_misses_refused": _mean([near[question] for question in missed]),
        "answered": [question for question in missed if not near[question]],
    }


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _cited(asked: AskedQuestion) -> frozenset[str]:
    citations = (one for sentence in asked.turn.answer.sentences for one in sentence.citations)
    return frozenset(citation.passage_id.rpartition("#")[0] for citation in citations)


def _agreement(worded: Sequence[AskedQuestion]) -> float:
    """Return the mean Jaccard of what two of several answers cite; two that cite nothing agree."""

    def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
        return len(one & other) / len(one | other) if one | other else 1.0

    return fmean(jaccard(one, other) for one, other in combinations(map(_cited, worded), 2))


def _near_misses(corpus: Corpus, most: int) -> Iterator[str]:
    """Yield questions for what the paper of a system does not say, of so many systems."""
    named = [(name, paper) for paper in corpus.papers() if (name := system_name(paper.title))]
    for name, paper in named[:most]:
        said = " ".join(passage.text for passage in corpus.passages(paper.id)).lower()
        for attribute in forms().near_misses.values():
            if not any(word in said for word in attribute.said):
                yield attribute.question.format(name)


@command("wordings")
def wordings(corpus: Path, most: int = 30) -> Report:
    figures = measure_wordings(corpus, most)
    topics, told = f"{figures['topics']} topics", f"{figures['full_texts']} full texts"
    asked = f"{figures['near_misses']} questions"
    rows = [
        ("the same papers in other words", topics, f"{figures['same_papers']:.3f}"),
        ("the paper found first is cited", topics, f"{figures['best_cited']:.3f}"),
        ("of one paper, refused", told, f"{figures['one_paper_refused']:.3f}"),
        *((f"  {question}", told, count) for question, count in figures["refused"].items()),
        ("near misses, refused", asked, f"{figures['near_misses_refused']:.3f}"),
    ]
    return Report(figures, [table(("Asked", "Of", "Share"), rows)])
