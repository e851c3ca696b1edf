"""Turns and trails of systems that were asked the same, made without a generator."""

from collections.abc import Sequence
from pathlib import Path

from assistant.checking.citations import check_sentences
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
from tests.small_corpus import make_paper, make_passages

PASSAGES = {
    "dense": ("Dense retrieval finds most of the answers.", "It costs much to encode a corpus."),
    "words": ("Ranking passages by their words is quick.", "It misses what is said in other words."),
    "fusion": ("Fusion of both rankings is better than either.",),
}


def turn_of(
    question: str,
    text: str = "Dense retrieval finds most of the answers [1].",
    *,
    papers: Sequence[str] = ("dense", "words", "fusion"),
    scope: Scope | None = None,
    query: str = "",
    generator: str = "extractive",
) -> Turn:
    """Return a turn over papers in an order whose answer says `text`; "" is refused."""
    evidence = Evidence(tuple(_labelled(label, key) for label, key in enumerate(papers, start=1)))
    refusal = None if text else Refusal("not_about", "The papers do not tell.")
    return Turn(
        question=question,
        asked="2026-11-22T00:00:00.000+00:00",
        scope=scope or Scope(),
        papers_wanted=10,
        rewrite=Rewrite(question, query or question),
        hits=(),
        evidence=evidence,
        answer=Answer(text, check_sentences(text, evidence), refusal=refusal),
        calls=(),
        seconds=(),
        provenance=Provenance("Paper Trail", generator, "encoder", "0", ()),
    )


def _labelled(label: int, key: str) -> LabelledPaper:
    paper = make_paper("shelf", key, title=f"On {key}")
    return LabelledPaper(label, paper, tuple(make_passages(paper, PASSAGES[key])))


def write_trail(file: Path, *turns: Turn) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(to_json(Conversation("c1", "A conversation", turns)), encoding="utf-8")
    return file
