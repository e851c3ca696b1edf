"""The numbers that decide what readers see, read from thresholds.toml."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OverlapBars(_Table):
    """Where an overlap score counts as partial and as strong."""

    partial: float
    strong: float
    marked: float


class RefusalThresholds(_Table):
    relevant: float
    related: float
    shared_words: float
    nearest: int


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


class Thresholds(_Table):
    overlap: OverlapBars
    refusal: RefusalThresholds
    extractive: ExtractiveWeights


@cache
def thresholds() -> Thresholds:
    text = Path(__file__).with_name("thresholds.toml").read_text(encoding="utf-8")
    return Thresholds.model_validate(tomllib.loads(text))
