"""The records of what readers say of answers; `feedback.py` makes them."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["good", "bad"]


@dataclass(frozen=True, slots=True)
class WrongCitation:
    """A citation that a reader found not to carry its claim, named as `Citation` names it, and why."""

    label: int
    claim: str
    passage_id: str
    sentence: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A reader's judgement of an answer; `given` is the time of the last one, ISO 8601 in UTC.

    It is the reader's word alone: nothing is written, scored or replayed by it.
    """

    verdict: Verdict | None = None
    wrong_citations: tuple[WrongCitation, ...] = ()
    given: str = ""

    @property
    def says_anything(self) -> bool:
        return self.verdict is not None or bool(self.wrong_citations)
