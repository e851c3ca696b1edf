"""The counts of a trial; all but those of attempts have to be zero."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, get_args

Wrong = Literal["lost", "doubled", "corrupted", "leaked", "foreign", "frozen", "unexplained"]
WRONGS: tuple[Wrong, ...] = get_args(Wrong)


@dataclass(slots=True)
class Counts:
    """So many faults befell, and this went wrong; `examples` say what, a few of each trial.

    `frozen` is what took more of a server's time or memory than others can spare, `unexplained` an end that
    no error of ours names; `told` counts those that one did.
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

    def look_for(self, secrets: Iterable[str], text: str, where: str) -> None:
        """Count the secrets that stand in a text."""
        for secret in secrets:
            if secret in text:
                self.note("leaked", f"{secret[:12]}… in {where}")


@contextmanager
def same_environment() -> Iterator[None]:
    """Take back what a trial sets in the environment, which the libraries below Python read too."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
