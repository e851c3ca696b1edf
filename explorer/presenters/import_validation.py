"""What of a file can be drawn: it may hold anything that has the right types."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite

from assistant.comparing import MOST_PAPERS, Comparison
from assistant.records import Answer, Conversation, Turn
from corpus.records import parse_passage_id

LONGEST_ANSWER = 200_000
_LAST_YEAR = 9999


def drawable(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
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
    if not _are_numbers(_scores(turn.answer)):
        yield "it holds a score that is no number"
    if len(turn.answer.text) > LONGEST_ANSWER:
        yield "its answer is longer than any that is written"


def fault_of(comparison: Comparison) -> str:
    """Return why a comparison cannot be drawn, "" where it can."""
    return next(_faults_of(comparison), "")


def _faults_of(comparison: Comparison) -> Iterator[str]:
    papers = comparison.evidence.papers
    if len(papers) > MOST_PAPERS:
        yield "it has more papers than can be compared"
    if not all(0 <= (one.paper.year or 0) <= _LAST_YEAR for one in papers):
        yield "it names a year that there cannot be"
    if not _are_numbers(_scores_of(comparison)):
        yield "it holds a score that is no number"
    if len(comparison.answer.text) > LONGEST_ANSWER:
        yield "its summary is longer than any that is written"


def _scores_of(comparison: Comparison) -> Iterator[float | None]:
    yield from _scores(comparison.answer)
    for elements in comparison.elements:
        for element in elements.elements:
            yield element.support
            yield from (found.support for found in element.evidence)
    for one in comparison.rounds:
        for candidate in one.candidates:
            yield candidate.citation_recall
            yield candidate.citation_precision


def _are_numbers(scores: Iterable[float | None]) -> bool:
    return all(score is None or isfinite(score) for score in scores)


def _passage_ids(turn: Turn) -> Iterator[str]:
    yield from (hit.passage_id for hit in turn.hits)
    if turn.answer.refusal:
        yield from (nearest.passage_id for nearest in turn.answer.refusal.nearest)


def _scores(answer: Answer) -> Iterator[float | None]:
    yield answer.relevance
    yield answer.citation_recall
    yield answer.citation_precision
    for sentence in answer.sentences:
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
