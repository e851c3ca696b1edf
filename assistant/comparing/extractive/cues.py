"""What a sentence that answers a question looks like: the tables of cues.toml, read and compiled."""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from assistant.comparing.extractive.sections import Role
from assistant.comparing.records import ElementName
from corpus.records import AspectName

CUES_FILE = Path(__file__).with_name("cues.toml")
# Counted up where the code that chooses sentences changes what it chooses.
CODE_VERSION = "3"
Patterns = tuple[re.Pattern[str], ...]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChoiceWeights(_Table):
    """What counts for a sentence and against it; cues.toml says what each number is."""

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


class _Element(_Table):
    questions: tuple[str, ...]
    aspects: tuple[AspectName, ...]
    floor: float
    roles: dict[Role, float]
    strong: tuple[str, ...]
    weak: tuple[str, ...]
    against: tuple[str, ...]
    needs_strong: bool = True
    may_have_second: bool = False
    shared_with: tuple[ElementName, ...] = ()
    shared: tuple[str, ...] = ()


class _File(_Table):
    choice: ChoiceWeights
    words: dict[str, str]
    elements: dict[ElementName, _Element]


@dataclass(frozen=True, slots=True)
class ElementCues:
    """One of the seven questions: how it may be put, and what a sentence that answers it shows."""

    questions: tuple[str, ...]
    aspects: tuple[AspectName, ...]
    floor: float
    roles: Mapping[Role, float]
    strong: Patterns
    weak: Patterns
    against: Patterns
    needs_strong: bool
    may_have_second: bool
    shared_with: tuple[ElementName, ...]
    shared: Patterns

    def worded(self, text: str, weights: ChoiceWeights) -> tuple[float, bool]:
        """Return what the wording of a sentence says for it, and whether there was a strong cue."""
        strong = sum(pattern.search(text) is not None for pattern in self.strong)
        weak = sum(pattern.search(text) is not None for pattern in self.weak)
        score = weights.weak * min(weak, 2)
        if strong:
            score += weights.strong + weights.second_strong * min(strong - 1, 2)
        if any(pattern.search(text) for pattern in self.against):
            score -= weights.against
        return score, strong > 0

    def shares(self, text: str) -> bool:
        """Tell whether a sentence that answers another question surely answers this one too."""
        return any(pattern.search(text) for pattern in self.shared)


@dataclass(frozen=True, slots=True)
class Cues:
    weights: ChoiceWeights
    elements: Mapping[ElementName, ElementCues]


@cache
def cues() -> Cues:
    file = _File.model_validate(tomllib.loads(CUES_FILE.read_text(encoding="utf-8")))

    def compiled(patterns: Sequence[str]) -> Patterns:
        return tuple(re.compile(_filled(pattern, file.words), re.IGNORECASE) for pattern in patterns)

    return Cues(
        file.choice,
        {
            name: ElementCues(
                one.questions,
                one.aspects,
                one.floor,
                one.roles,
                compiled(one.strong),
                compiled(one.weak),
                compiled(one.against),
                one.needs_strong,
                one.may_have_second,
                one.shared_with,
                compiled(one.shared),
            )
            for name, one in file.elements.items()
        },
    )


@cache
def version() -> str:
    """Return what the choice of sentences depends on besides the text, in a few characters."""
    digest = hashlib.sha256(CUES_FILE.read_bytes() + CODE_VERSION.encode())
    return digest.hexdigest()[:12]


def _filled(pattern: str, known: Mapping[str, str]) -> str:
    for name, alternatives in known.items():
        pattern = pattern.replace(f"{{{name}}}", alternatives)
    return pattern
