"""The description of a score of an answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from assistant.records import Answer

Basis = TypeVar("Basis")


@dataclass(frozen=True, slots=True)
class Score(Generic[Basis]):
    """A score of an answer, 0..1: its measurement, None if there is nothing to measure, and its phrases.

    `describe` words it for files and the terminal, `show` for a screen, "" to show nothing.
    """

    measure: Callable[[Basis], float | None]
    describe: Callable[[float], str]
    show: Callable[[Answer, float], str]
