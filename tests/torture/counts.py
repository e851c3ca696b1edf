"""What is counted of a trial; all but what was tried has to be zero."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Wrong = Literal["lost", "doubled", "corrupted", "unexplained"]
WRONGS: tuple[Wrong, ...] = ("lost", "doubled", "corrupted", "unexplained")


@dataclass(slots=True)
class Counts:
    """So many faults befell, and this went wrong; `examples` say what, a few of each trial.

    `unexplained` is an end that no error of ours names; `told` counts those that one did.
    """

    name: str
    tried: int = 0
    told: int = 0
    wrong: Counter[Wrong] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, what: Wrong, example: str, times: int = 1) -> None:
        self.wrong[what] += times
        if len(self.examples) < 5:
            self.examples.append(f"{what}: {example}")
