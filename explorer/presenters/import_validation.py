"""Validation of imported files: values of the right types that could not be drawn."""

from collections.abc import Iterator
from dataclasses import replace

from assistant.bounds import OF_TRAILS
from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.records import Comparison
from assistant.records import Conversation, Turn
from corpus.records import parse_passage_id


def drawable(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
    """Return a conversation without the turns that cannot be drawn, and a note on each of these."""
    faults = [next(_faults(turn), "") for turn in conversation.turns]
    turns = tuple(turn for turn, fault in zip(conversation.turns, faults, strict=True) if not fault)
    notes = (
        f"Turn {place} cannot be shown: {fault}." for place, fault in enumerate(faults, start=1) if fault
    )
    return replace(conversation, turns=turns), tuple(notes)


def _faults(turn: Turn) -> Iterator[str]:
    """Yield the faults of an imported turn, as clauses of an error message."""
    if fault := OF_TRAILS.fault_in(turn):
        yield fault
    if any(not paper.passages for paper in turn.evidence.papers):
        yield "it names a paper without a passage"
    if not all(_is_passage(identifier) for identifier in _passage_ids(turn)):
        yield "it names a passage by a malformed id"


def fault_of(comparison: Comparison) -> str:
    """Return the reason why a comparison cannot be drawn, "" if it can."""
    if len(comparison.evidence.papers) > MOST_PAPERS:
        return "it has more papers than can be compared"
    return OF_TRAILS.fault_in(comparison)


def _passage_ids(turn: Turn) -> Iterator[str]:
    yield from (hit.passage_id for hit in turn.all_hits)
    if turn.answer.refusal:
        yield from (nearest.passage_id for nearest in turn.answer.refusal.nearest)


def _is_passage(identifier: str) -> bool:
    try:
        parse_passage_id(identifier)
    except ValueError:
        return False
    return True
