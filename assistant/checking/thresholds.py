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
    """The bars of the support score, and from where on it counts as support at all."""

    supported: float


class RefusalThresholds(_Table):
    relevant: float
    words: float
    named: float
    missing: float
    unnamed: float
    enough: float
    part_word: float
    nearest: int
    topics: int
    unsupported: float


class KindLimits(_Table):
    """What a kind of request changes in how sentences are chosen."""

    min_sentences: int
    max_sentences: int
    relative_floor: float
    alike: float


class ExtractiveWeights(_Table):
    dense: float
    lexical: float
    passage: float
    finding: float
    definition: float
    background: float
    unclear_start: float
    redundancy: float
    floor: float
    fill_floor: float
    relative_floor: float
    min_sentences: int
    max_sentences: int
    per_paper: int
    candidates: int
    alike: float
    fill_share: float
    fact: KindLimits


class Thresholds(_Table):
    overlap: OverlapBars
    support: SupportBars
    relevance: Bars
    refusal: RefusalThresholds
    extractive: ExtractiveWeights


@cache
def thresholds() -> Thresholds:
    text = Path(__file__).with_name("thresholds.toml").read_text(encoding="utf-8")
    return Thresholds.model_validate(tomllib.loads(text))
