"""Turns and trails of systems that were asked the same, made without a generator."""

from pathlib import Path

from assistant.records import Conversation, Refusal, Rewrite, Turn
from assistant.trail.transcript import to_json
from corpus.records import Scope
from tests.evaluation.labelled import answered

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
