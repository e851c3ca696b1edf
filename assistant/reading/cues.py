"""The cues of cues.toml by which sentences that state a key element are found."""

import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from assistant.records import ElementName
from corpus.records import AspectName

CUES_FILE = Path(__file__).with_name("cues.toml")
# Increase it when a change of the code changes which sentences are chosen.
CODE_VERSION = "5"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


Role = Literal[
    "abstract",
    "introduction",
    "related",
    "method",
    "experiments",
    "discussion",
    "conclusion",
    "advice",
    "future",
    "limitations",
    "back",
]
Patterns = tuple[Annotated[re.Pattern[str], BeforeValidator(_compiled)], ...]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChoiceWeights(_Table):
    """Weights for choosing sentences; cues.toml describes each."""

    strong: float
    second_strong: float
    weak: float
    against: float
    meaning: float
    central: float
    aspect: float
    pointing: float
    leaning: float
    foreign: float
    before: float
    general: float
    long: float
    short_words: int
    candidates: int
    alike: float
    second: float
    second_words: int
    lead: float
    order: tuple[ElementName, ...]
    share_order: tuple[ElementName, ...]


class ElementCues(_Table):
    """One of the seven questions: its phrasings, and the cues of sentences that answer it."""

    questions: tuple[str, ...]
    aspects: tuple[AspectName, ...]
    floor: float
    roles: dict[Role, float]
    strong: Patterns
    weak: Patterns
    against: Patterns
    needs_strong: bool = True
    may_have_second: bool = False
    shared_with: tuple[ElementName, ...] = ()
    shared: Patterns = ()

    def worded(self, text: str, weights: ChoiceWeights) -> tuple[float, bool]:
        """Return the score of a sentence's wording, and whether it has a strong cue."""
        strong = sum(pattern.search(text) is not None for pattern in self.strong)
        weak = sum(pattern.search(text) is not None for pattern in self.weak)
        score = weights.weak * min(weak, 2)
        if strong:
            score += weights.strong + weights.second_strong * min(strong - 1, 2)
        if any(pattern.search(text) for pattern in self.against):
            score -= weights.against
        return score, strong > 0

    def shares(self, text: str) -> bool:
        """Return True if a sentence chosen for another element clearly states this one too."""
        return any(pattern.search(text) for pattern in self.shared)


class Cues(_Table):
    """The weights, and the cues of every element."""

    choice: ChoiceWeights
    elements: dict[ElementName, ElementCues]


@cache
def cues() -> Cues:
    file: dict[str, Any] = tomllib.loads(CUES_FILE.read_text(encoding="utf-8"))
    known = file.pop("words")
    for element in file["elements"].values():
        for name in {"strong", "weak", "against", "shared"} & element.keys():
            element[name] = [_filled(pattern, known) for pattern in element[name]]
    return Cues.model_validate(file)


@cache
def version() -> str:
    """Return a short hash of the cues and code on which the choice of sentences depends."""
    digest = hashlib.sha256(CUES_FILE.read_bytes() + CODE_VERSION.encode())
    return digest.hexdigest()[:12]


def _filled(pattern: str, known: dict[str, str]) -> str:
    for name, alternatives in known.items():
        pattern = pattern.replace(f"{{{name}}}", alternatives)
    return pattern
