"""The thresholds of scores, read from thresholds.toml."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bars(_Table):
    """The least scores that count as partial and as strong."""

    partial: float
    strong: float


class OverlapBars(Bars):
    marked: float


class SupportBars(Bars):
    """The least support scores that count as support, and for a citation found by the check."""

    supported: float
    found: float


class UnsaidBars(_Table):
    """The bars of phrases that are named as unsaid."""

    context: float
    scope: float
    alone: float
    least: int
    share: float
    runs: int
    alike: float


class RefusalThresholds(_Table):
    relevant: float
    answerable: float
    answerable_strict: float
    answerable_untrained: float
    answerable_by_model: float
    nearest: int
    topics: int
    unsupported: float


class KindLimits(_Table):
    """Least probabilities of the first and further sentences of a kind of answer, and their greatest number.

    `share` is the least ratio of a further sentence's probability to the first one's, `beside` the same for a
    neighbour of the first.
    """

    first: float
    more: float
    share: float
    beside: float
    most: int


class ExtractiveLimits(_Table):
    """Thresholds of the extractive writer, for each kind of answer.

    `alike` is the cosine of near duplicates, `side` the least probability of a sentence that says yes or no.
    """

    alike: float
    side: float
    synthesis: KindLimits
    how: KindLimits
    summary: KindLimits
    fact: KindLimits
    definition: KindLimits
    list: KindLimits
    comparison: KindLimits


class Thresholds(_Table):
    overlap: OverlapBars
    support: SupportBars
    relevance: Bars
    unsaid: UnsaidBars
    refusal: RefusalThresholds
    extractive: ExtractiveLimits


@cache
def thresholds() -> Thresholds:
    text = Path(__file__).with_name("thresholds.toml").read_text(encoding="utf-8")
    return Thresholds.model_validate(tomllib.loads(text))
