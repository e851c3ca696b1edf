"""The progress of a comparison, as its events tell it."""

from dataclasses import dataclass, replace
from typing import Any, Self

from assistant.comparing.records import (
    Candidate,
    Compared,
    Comparison,
    ComparisonEvent,
    Extracted,
    KeyElements,
    Planned,
    Round,
    RoundFinished,
    Sampled,
    Vote,
    Voted,
    Working,
)
from assistant.records import LabelledPaper


@dataclass(frozen=True)  # without slots, so that a job's view can extend it
class ComparisonProgress:
    """The steps that a comparison has done; `candidates` and `votes` are those of the current round."""

    planned: Planned | None = None
    elements: tuple[KeyElements, ...] = ()
    rounds: tuple[Round, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    votes: tuple[Vote, ...] = ()
    working: Working | None = None
    comparison: Comparison | None = None

    @property
    def papers(self) -> tuple[LabelledPaper, ...]:
        return self.planned.papers if self.planned else ()

    @property
    def planned_rounds(self) -> int:
        return self.planned.rounds if self.planned else 0

    @property
    def has_begun(self) -> bool:
        """Return True if there are elements, rounds or candidates to show."""
        return bool(self.elements or self.rounds or self.candidates)

    def after(self, event: ComparisonEvent) -> Self:
        """Return the progress after an event."""
        changes: dict[str, Any] = {}
        match event:
            case Planned():
                changes = {"planned": event}
            case Extracted(elements):
                changes = {"elements": (*self.elements, elements)}
            case Sampled(_, candidate):
                changes = {"candidates": (*self.candidates, candidate)}
            case Voted(_, vote):
                changes = {"votes": (*self.votes, vote)}
            case RoundFinished(finished):
                changes = {"rounds": (*self.rounds, finished), "candidates": (), "votes": ()}
            case Working():
                changes = {"working": event}
            case Compared(comparison):
                changes = {"comparison": comparison}
        return replace(self, **changes)
