"""The numbers that decide what readers see, read from thresholds.toml."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bars(_Table):
    """Where a score counts as partial and as strong."""

    partial: float
    strong: float


class OverlapBars(Bars):
    marked: float


class SupportBars(Bars):
    """The bars of the support score, from where on it counts as support, and as a citation found."""

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
    answerable_untrained: float
    answerable_by_model: float
    nearest: int
    topics: int
    unsupported: float


class KindLimits(_Table):
    """Thresholds of a kind of answer: the chances of its first and further sentences, and their number.

    `share` is what a further sentence has of the first one's chance at least, `beside` the same for one that
    stands next to it.
    """

    first: float
    more: float
    share: float
    beside: float
    most: int


class ExtractiveLimits(_Table):
    """Thresholds of the writer without a model, for each kind of answer.

    `alike` is the cosine of two sentences that say the same, `side` the chance of a sentence from which it is
    told whether it says yes or no.
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
