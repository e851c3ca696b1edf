"""Steady answers: the same papers in other words, an answer on every full text, refusal of the unsaid.

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
from corpus.store.corpus import Corpus
from evaluation.answers.asking import AskedQuestion, ask, open_assistant
from evaluation.harness import Figures, Report, command, mean, table
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
    """Measure shares 0..1 and the numbers they are of, for at most `most` topics, full texts and systems.

    `same_papers` is the mean Jaccard of the papers cited for two wordings of a topic. Raises EvaluationError
    where there is nothing to ask about, and CorpusError.
    """
    assistant = open_assistant(home)
    corpus = assistant.corpus
    counts = corpus.statistics.topic_counts()
    topics = [parse_topic_key(key)[1] for key, n in counts.items() if FEWEST_SHARING <= n <= MOST_SHARING][
        :most
    ]
    whole = [paper for paper in corpus.papers() if len(corpus.passages(paper.id)) > 1][:most]
    missed = [*_near_misses(corpus, most)]
    if not topics and not whole and not missed:
        raise EvaluationError("The corpus has no topic that papers share, no full text and no named system.")
    worded = [[ask(assistant, form.format(topic)) for form in forms().which_papers] for topic in topics]
    given = [asked for group in worded for asked in group if not asked.is_refused and asked.found]
    refusals = {
        question: [ask(assistant, question, (), Scope(papers=(paper.id,))).is_refused for paper in whole]
        for question in forms().one_paper
    }
    near = {question: ask(assistant, question).is_refused for question in missed}
    return {
        "topics": len(topics),
        "same_papers": mean(map(_agreement, worded)) or 0.0,
        "best_cited": mean(asked.found[0] in _cited(asked) for asked in given) or 0.0,
        "full_texts": len(whole),
        "one_paper_refused": mean(refused for own in refusals.values() for refused in own) or 0.0,
        "refused": {question: sum(own) for question, own in refusals.items()},
        "near_misses": len(missed),
        "near_misses_refused": mean(near.values()) or 0.0,
        "answered": [question for question in missed if not near[question]],
    }


def _cited(asked: AskedQuestion) -> frozenset[str]:
    sentences = asked.turn.answer.sentences
    return frozenset(
        citation.passage_id.rpartition("#")[0] for sentence in sentences for citation in sentence.citations
    )


def _agreement(worded: Sequence[AskedQuestion]) -> float:
    """Average the Jaccard of the papers that two answers cite; two that cite nothing agree."""
    pairs = combinations(map(_cited, worded), 2)
    return fmean(len(left & right) / len(left | right) if left | right else 1.0 for left, right in pairs)


def _near_misses(corpus: Corpus, most: int) -> Iterator[str]:
    """Yield questions about at most `most` systems for an attribute that the paper does not give."""
    named = [(name, paper) for paper in corpus.papers() if (name := system_name(paper.title))]
    for name, paper in named[:most]:
        said = " ".join(passage.text for passage in corpus.passages(paper.id)).lower()
        for attribute in forms().near_misses.values():
            if not any(word in said for word in attribute.said):
                yield attribute.question.format(name)


@command("wordings")
def wordings(corpus: Path, most: int = 30) -> Report:
    figures = measure_wordings(corpus, most)
    topics, papers = f"{figures['topics']} topics", f"{figures['full_texts']} full texts"
    asked = f"{figures['near_misses']} questions"
    rows = [
        ("the same papers in other words", topics, f"{figures['same_papers']:.3f}"),
        ("the paper found first is cited", topics, f"{figures['best_cited']:.3f}"),
        ("of one paper, refused", papers, f"{figures['one_paper_refused']:.3f}"),
        *((f"  {question}", papers, count) for question, count in figures["refused"].items()),
        ("near misses, refused", asked, f"{figures['near_misses_refused']:.3f}"),
    ]
    return Report(figures, [table(("Asked", "Of", "Share"), rows)])
