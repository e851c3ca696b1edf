"""The records of readers' feedback on answers."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["good", "bad"]


@dataclass(frozen=True, slots=True)
class WrongCitation:
    """A citation that a reader marked as not supporting its claim, with the fields of `Citation`, and why."""

    label: int
    claim: str
    passage_id: str
    sentence: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A reader's judgement of an answer; `given` is its time, ISO 8601 in UTC.

    It has no effect on answers, scores or replays.
    """

    verdict: Verdict | None = None
    wrong_citations: tuple[WrongCitation, ...] = ()
    given: str = ""

    @property
    def says_anything(self) -> bool:
        return self.verdict is not None or bool(self.wrong_citations)
