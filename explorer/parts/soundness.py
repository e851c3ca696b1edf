"""Whether a turn that came from a file can be drawn: it may hold anything that has the right types."""

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

from assistant.records import Conversation, Turn
from corpus.records import parse_passage_id

LONGEST_ANSWER = 200_000


def sound(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
    """Return a conversation without the turns that cannot be drawn, and what is wrong with each of these."""
    faults = [next(_faults(turn), "") for turn in conversation.turns]
    turns = tuple(turn for turn, fault in zip(conversation.turns, faults, strict=True) if not fault)
    said = (f"Turn {place} cannot be shown: {fault}." for place, fault in enumerate(faults, start=1) if fault)
    return replace(conversation, turns=turns), tuple(said)


def _faults(turn: Turn) -> Iterator[str]:
    if any(not paper.passages for paper in turn.evidence.papers):
        yield "it names a paper without a passage"
    if not all(_is_passage(identifier) for identifier in _passage_ids(turn)):
        yield "it names a passage that no collection can have"
    if not all(score is None or isfinite(score) for score in _scores(turn)):
        yield "it holds a score that is no number"
    if len(turn.answer.text) > LONGEST_ANSWER:
        yield "its answer is longer than any that is written"


def _passage_ids(turn: Turn) -> Iterator[str]:
    yield from (hit.passage_id for hit in turn.hits)
    if turn.answer.refusal:
        yield from (nearest.passage_id for nearest in turn.answer.refusal.nearest)


def _scores(turn: Turn) -> Iterator[float | None]:
    yield turn.answer.citation_recall
    yield turn.answer.citation_precision
    for sentence in turn.answer.sentences:
        yield sentence.support
        for citation in sentence.citations:
            yield citation.overlap
            yield citation.support


def _is_passage(identifier: str) -> bool:
    try:
        parse_passage_id(identifier)
    except ValueError:
        return False
    return True
