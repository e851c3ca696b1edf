"""Answers, turns, trails and comparisons over small papers, made without a generator."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assistant.checking.citations import check_sentences
from assistant.comparing.records import Comparison, ComparisonOptions
from assistant.records import (
    Answer,
    Conversation,
    Evidence,
    LabelledPaper,
    Provenance,
    Refusal,
    Rewrite,
    Turn,
)
from assistant.trail.transcript import to_json
from corpus.records import Scope
from evaluation.summaries.summary import System
from tests.small_corpus import make_paper, make_passages


def answered(
    text: str, papers: Mapping[str, Sequence[str]], generator: str = "extractive", **of_answer: Any
) -> dict[str, Any]:
    """Return evidence of papers with these passages, an answer that says `text`, and the rest."""
    labelled = []
    for label, (key, passages) in enumerate(papers.items(), start=1):
        paper = replace(make_paper("shelf", key, title=f"On {key}"), abstract=" ".join(passages))
        labelled.append(LabelledPaper(label, paper, tuple(make_passages(paper, list(passages)))))
    evidence = Evidence(tuple(labelled))
    return {
        "asked": "2026-11-22T00:00:00.000+00:00",
        "evidence": evidence,
        "answer": Answer(text, check_sentences(text, evidence), **of_answer),
        "calls": (),
        "seconds": (),
        "provenance": Provenance("Paper Trail", generator, "encoder", "0", ()),
    }


PASSAGES = {
    "dense": ("Dense retrieval finds most of the answers.", "It costs much to encode a corpus."),
    "words": ("Ranking passages by their words is quick.", "It misses what is said in other words."),
    "fusion": ("Fusion of both rankings is better than either.",),
}


def turn_of(question: str, text: str) -> Turn:
    """Return a turn whose answer says `text`; "" is refused."""
    refusal = None if text else Refusal("not_about", "The papers do not tell.")
    return Turn(
        question=question,
        scope=Scope(),
        papers_wanted=10,
        rewrite=Rewrite(question, question),
        hits=(),
        **answered(text, PASSAGES, refusal=refusal),
    )


def write_trail(file: Path, *turns: Turn) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(to_json(Conversation("c1", "A conversation", turns)), encoding="utf-8")
    return file


ABOUT = "We want retrieval that helps readers check what a model wrote."
ABSTRACTS = {
    "dense": "Dense retrieval with a small encoder finds most of the answers.",
    "words": "Ranking passages by their words is quick, but it misses paraphrases.",
    "fusion": "Word search and dense search in one ranking are better than both.",
}
SUMMARY = (
    "Dense retrieval finds most of the answers [1], while ranking by words is quick [2].\n\n"
    "Fusion joins both in one ranking [3]. Unlike these papers, the proposed work helps readers check."
)


def comparison_of(text: str = SUMMARY, generator: str = "extractive") -> Comparison:
    """Return a comparison with a summary that says `text`."""
    passages = {key: (abstract,) for key, abstract in ABSTRACTS.items()}
    shares = {"citation_recall": 0.75, "citation_precision": 0.5 if text else None}
    told = answered(text, passages, generator, **shares)
    return Comparison(
        id="c1",
        about=ABOUT,
        options=ComparisonOptions(),
        paper_ids=tuple(labelled.paper.id for labelled in told["evidence"].papers),
        elements=(),
        rounds=(),
        **told,
    )


def system_of(name: str, text: str = SUMMARY) -> System:
    return System(name, comparison_of(text))
