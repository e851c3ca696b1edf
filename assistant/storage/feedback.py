"""Readers' feedback on an answer: given, changed and taken back."""

from dataclasses import replace
from datetime import UTC, datetime

from assistant.records import Citation, Turn
from assistant.verdicts import Feedback, Verdict, WrongCitation
from corpus.text import storable

LONGEST_NOTE = 500


def with_verdict(turn: Turn, verdict: Verdict | None) -> Turn:
    """Return a turn with the reader's verdict, None to withdraw it."""
    return _with_feedback(turn, replace(turn.feedback, verdict=verdict))


def with_wrong_citation(turn: Turn, citation: Citation, note: str = "") -> Turn:
    """Return a turn with one of its citations marked as wrong, once, with the reader's reason."""
    reason = " ".join(storable(note).split())[:LONGEST_NOTE]
    wrong = WrongCitation(citation.label, citation.claim, citation.passage_id, citation.sentence, reason)
    return _with_feedback(turn, replace(turn.feedback, wrong_citations=(*_others(turn, citation), wrong)))


def without_wrong_citation(turn: Turn, citation: Citation) -> Turn:
    """Return a turn with a citation no longer marked as wrong."""
    return _with_feedback(turn, replace(turn.feedback, wrong_citations=_others(turn, citation)))


def mark_of(turn: Turn, citation: Citation | None) -> WrongCitation | None:
    """Return the mark of a citation that a reader found wrong, None for no mark."""
    marks = turn.feedback.wrong_citations if citation else ()
    return next((mark for mark in marks if citation and is_mark_of(mark, citation)), None)


def is_mark_of(mark: WrongCitation, citation: Citation) -> bool:
    return (mark.label, mark.claim, mark.passage_id, mark.sentence) == (
        citation.label,
        citation.claim,
        citation.passage_id,
        citation.sentence,
    )


def _others(turn: Turn, citation: Citation) -> tuple[WrongCitation, ...]:
    return tuple(mark for mark in turn.feedback.wrong_citations if not is_mark_of(mark, citation))


def _with_feedback(turn: Turn, feedback: Feedback) -> Turn:
    """Return a turn with that feedback and its time, "" if the feedback is empty."""
    time = datetime.now(UTC).isoformat(timespec="seconds") if feedback.says_anything else ""
    return replace(turn, feedback=replace(feedback, given=time))
