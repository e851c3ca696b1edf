"""How well evidence carries a claim, 0..1: calibrated, from words, meaning, numbers, names and negations.

What is compared is in features.py; what each counts is in weights.json, which
`python -m evaluation train-support` writes and which says what it was trained on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict

from assistant.checking.features import TOGETHER, Reading, best_first, compare, in_reading_order, read_closely, said
from corpus.encoders import Encoder, Vectors, cosine_scales

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
# Of evidence beyond this, only the beginning is read: a paper as it is given has some dozens of sentences.
MOST_SENTENCES = 2000
LONGEST_TEXT = 1000


class SupportWeights(BaseModel):
    """The trained weights: a logistic regression over the features, and what it was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    intercept: float
    weights: Mapping[str, float]
    provenance: Mapping[str, object]

    def score(self, features: Mapping[str, float]) -> float:
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


class Entailment(Protocol):
    """What tells how likely a text entails a claim, 0..1."""

    @property
    def name(self) -> str: ...

    def probabilities(self, claims: Sequence[str], texts: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class Support:
    """How well a claim is carried, 0..1, and which of the sentences carries it best; None of no sentences."""

    score: float
    sentence: int | None


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim that has been compared with its sentences: the features, and the close sentences best first."""

    features: Mapping[str, float]
    order: tuple[int, ...]


@cache
def support_weights() -> SupportWeights:
    return SupportWeights.model_validate_json(WEIGHTS_FILE.read_text(encoding="utf-8"))


class SupportScorer:
    """Scores claims against the sentences that may carry them.

    With an entailment model, the score is the mean of both. Without words in common or evidence it is low,
    never an error.
    """

    def __init__(self, encoder: Encoder, entailment: Entailment | None = None) -> None:
        self.encoder = encoder
        self.entailment = entailment

    @property
    def name(self) -> str:
        own = support_weights().name
        return f"{own} + {self.entailment.name}" if self.entailment else own

    def score(self, claims: Sequence[str], evidence: Sequence[Sequence[str]]) -> list[float]:
        """Return for each claim how well its sentences together carry it, 0..1."""
        return [support.score for support in self.reader().weigh(claims, evidence)]

    def reader(self) -> "SupportReader":
        """Return what reads one answer: within it each text is encoded once."""
        return SupportReader(self.encoder, self.entailment)


class SupportReader:
    """Reads the claims and sentences of one answer, each text encoded once."""

    def __init__(self, encoder: Encoder, entailment: Entailment | None = None) -> None:
        self._encoder = encoder
        self._entailment = entailment
        self._vectors: dict[str, Vectors] = {}

    def weigh(self, claims: Sequence[str], evidence: Sequence[Sequence[str]]) -> list[Support]:
        """Return for each claim how well its sentences carry it, and which of them does best."""
        compared = self.compare(claims, evidence)
        scores = [support_weights().score(one.features) if one else 0.0 for one in compared]
        if self._entailment:
            scores = self._with_entailment(self._entailment, scores, claims, evidence, compared)
        return [
            Support(score, one.order[0] if one else None) for score, one in zip(scores, compared, strict=True)
        ]

    def compare(self, claims: Sequence[str], evidence: Sequence[Sequence[str]]) -> list[Compared | None]:
        """Return what the score is made of, None for a claim or evidence without words."""
        readings = [
            read_closely(claim, sentences[:MOST_SENTENCES])
            for claim, sentences in zip(claims, evidence, strict=True)
        ]
        taken = list(zip(claims, evidence, readings, strict=True))
        self._encode([
            text
            for claim, sentences, reading in taken
            if _is_comparable(reading)
            for text in (claim, *(sentences[index] for index in reading.close))
        ])  # fmt: skip
        return [
            self._compared(claim, sentences, reading) if _is_comparable(reading) else None
            for claim, sentences, reading in taken
        ]

    def _compared(self, claim: str, sentences: Sequence[str], reading: Reading) -> Compared:
        vectors = np.stack([self._vector(text) for text in (claim, *(sentences[at] for at in reading.close))])
        cosines = cosine_scales(self._encoder).alike(vectors @ vectors.T)
        likeness = cosines[0, 1:].tolist()
        order = best_first(reading, likeness)
        few = [1 + reading.close.index(index) for index in order[:TOGETHER]]
        # The cosine of the claim with the sum of the best, from those of each two.
        length = math.sqrt(max(0.0, float(cosines[np.ix_(few, few)].sum())))
        pooled = float(cosines[0, few].sum()) / (length or 1.0)
        return Compared(compare(reading, order, likeness, pooled), order)

    def _encode(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(map(_encodable, texts)) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._encoder.encode_passages(new), strict=True))

    def _vector(self, text: str) -> Vectors:
        return self._vectors[_encodable(text)]

    def _with_entailment(
        self,
        entailment: Entailment,
        scores: Sequence[float],
        claims: Sequence[str],
        evidence: Sequence[Sequence[str]],
        compared: Sequence[Compared | None],
    ) -> list[float]:
        asked = [index for index, one in enumerate(compared) if one]
        texts = [in_reading_order(evidence[index], one.order) for index, one in enumerate(compared) if one]
        found = entailment.probabilities([said(claims[index]) for index in asked], texts)
        joined = dict(zip(asked, found, strict=True))
        return [
            (score + joined[index]) / 2 if index in joined else score for index, score in enumerate(scores)
        ]


def _is_comparable(reading: Reading) -> bool:
    return bool(reading.claim.words and reading.close)


def _encodable(text: str) -> str:
    return said(text)[:LONGEST_TEXT]

