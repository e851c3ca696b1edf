"""The support score, 0..1: calibrated, from words, meaning, numbers, names and negations.

What is compared is in features.py, beside it the number of a network that reads claim and evidence together;
what each counts stands on the card of the learned part (`assistant/learned/support.py`), which
`paper-trail train support` writes and which says what it was trained on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict

from assistant.checking.absent import is_absent
from assistant.checking.features import (
    LONGEST_TEXT,
    SURE_NUMBER,
    TOGETHER,
    Reading,
    best_first,
    compare,
    in_reading_order,
    is_quotation,
    network_feature,
    read_closely,
    strip_references,
)
from assistant.checking.thresholds import thresholds
from assistant.learned.parts import LearnedPart
from assistant.learned.support import open_support
from corpus.encoders.base import Encoder, Vectors
from corpus.encoders.scale import cosine_scales

# Of evidence beyond this, only the beginning is read: a paper as it is given has some dozens of sentences.
MOST_SENTENCES = 2000
INTERCEPT, NOWHERE = "intercept", "nowhere"
CAP_FROM, CAP_TO = 0.1, 0.01  # below the bar of support: what a cap squeezes scores into


class SupportWeights(BaseModel):
    """The trained weights: a logistic regression over the features, and what it was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    intercept: float
    weights: Mapping[str, float]
    provenance: Mapping[str, object]

    def score(self, features: Mapping[str, float]) -> float:
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return capped(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), features)


def capped(score: float, features: Mapping[str, float]) -> float:
    """Return a score, below the bar of support where a number or name of the claim stands nowhere.

    Of two such claims the likelier one still scores higher.
    """
    bar = thresholds().support.supported
    start, end = bar - CAP_FROM, bar - CAP_TO
    if not features[NOWHERE] or score <= start:
        return score
    return start + (end - start) * (score - start) / (1 - start)


class Entailment(Protocol):
    """A model that scores how likely a text entails a claim, 0..1."""

    @property
    def name(self) -> str: ...

    def probabilities(self, claims: Sequence[str], texts: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class Support:
    """The support of a claim, 0..1, and the index of the best sentence; None without sentences."""

    score: float
    sentence: int | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim, the sentences that may carry it, and whose they are."""

    claim: str
    sentences: Sequence[str]
    about: str

    def nowhere(self) -> dict[str, float]:
        """Return as a feature whether a number or name of the claim stands nowhere in what is cited."""
        evidence = (*map(strip_references, self.sentences), self.about)
        return {NOWHERE: float(is_absent(strip_references(self.claim), evidence))}


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim that has been compared with its sentences: the features, and the close sentences best first."""

    features: Mapping[str, float]
    order: tuple[int, ...]


def support_weights(learned: LearnedPart | None = None) -> SupportWeights:
    """Return the weights of a learned part, by default the product's; raises LearnedError."""
    part = learned or open_support()
    weights = dict(part.scale())
    return SupportWeights(
        name=part.name,
        intercept=weights.pop(INTERCEPT),
        weights=weights,
        provenance=part.card.provenance,
    )


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
        own = open_support().name
        return f"{own} + {self.entailment.name}" if self.entailment else own

    def score(self, claims: Sequence[str], evidence: Sequence[Sequence[str]]) -> list[float]:
        """Return for each claim how well its sentences together carry it, 0..1."""
        return [support.score for support in self.reader().weigh(claims, evidence)]

    def reader(self) -> "SupportReader":
        """Return a reader for one answer, which encodes each text once."""
        return SupportReader(self.encoder, self.entailment)


class SupportReader:
    """Reads the claims and sentences of one answer, each text encoded once and each pair read once."""

    def __init__(
        self,
        encoder: Encoder,
        entailment: Entailment | None = None,
        learned: LearnedPart | None = None,
    ) -> None:
        self._encoder = encoder
        self._entailment = entailment
        self._learned = learned or open_support()
        self._vectors: dict[str, Vectors] = {}
        self._numbers: dict[tuple[str, str], float] = {}

    def weigh(
        self,
        claims: Sequence[str],
        evidence: Sequence[Sequence[str]],
        about: Sequence[str] | None = None,
    ) -> list[Support]:
        """Return for each claim how well its sentences carry it, and which of them does best.

        `about` tells of each evidence whose it is: names and years that stand there come from somewhere.
        """
        compared = self.compare(claims, evidence, about)
        weights = support_weights(self._learned)
        scores = [weights.score(one.features) if one else 0.0 for one in compared]
        if self._entailment:
            scores = self._with_entailment(self._entailment, scores, claims, evidence, compared)
        return [
            Support(score, one.order[0] if one else None) for score, one in zip(scores, compared, strict=True)
        ]

    def compare(
        self,
        claims: Sequence[str],
        evidence: Sequence[Sequence[str]],
        about: Sequence[str] | None = None,
    ) -> list[Compared | None]:
        """Compute the parts of each support score, None for a claim or evidence without words."""
        asked = [
            _Asked(claim, few[:MOST_SENTENCES], whose)
            for claim, few, whose in zip(claims, evidence, about or [""] * len(claims), strict=True)
        ]
        read = [read_closely(one.claim, one.sentences) for one in asked]
        taken = [pair for pair in zip(asked, read, strict=True) if _is_comparable(pair[1])]
        self._encode([
            text
            for one, reading in taken
            for text in (one.claim, *(one.sentences[index] for index in reading.close))
        ])  # fmt: skip
        numbers = iter(self._read(taken))
        return [
            self._compared(one, reading, next(numbers)) if _is_comparable(reading) else None
            for one, reading in zip(asked, read, strict=True)
        ]

    def _compared(self, asked: "_Asked", reading: Reading, number: float) -> Compared:
        texts = (asked.claim, *(asked.sentences[at] for at in reading.close))
        vectors = np.stack([self._vector(text) for text in texts])
        cosines = cosine_scales(self._encoder).alike(vectors @ vectors.T)
        likeness = cosines[0, 1:].tolist()
        order = best_first(reading, likeness)
        few = [1 + reading.close.index(index) for index in order[:TOGETHER]]
        # The cosine of the claim with the sum of the best, from those of each two.
        length = math.sqrt(max(0.0, float(cosines[np.ix_(few, few)].sum())))
        pooled = float(cosines[0, few].sum()) / (length or 1.0)
        features = compare(reading, order, likeness, pooled) | asked.nowhere()
        if self._learned.network:
            features |= network_feature(number, reading)
        return Compared(features, order)

    def _read(self, taken: Sequence[tuple["_Asked", Reading]]) -> list[float]:
        """Return the network's number for each claim, of all that it has not read at once.

        What a sentence says word for word it need not read.
        """
        if self._learned.network is None:
            return [0.0] * len(taken)
        pairs = [None if is_quotation(reading) else _pair(one, reading) for one, reading in taken]
        new = [pair for pair in dict.fromkeys(pairs) if pair and pair not in self._numbers]
        self._numbers.update(zip(new, self._learned.numbers(new), strict=True))
        return [self._numbers[pair] if pair else SURE_NUMBER for pair in pairs]

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
        found = entailment.probabilities([strip_references(claims[index]) for index in asked], texts)
        joined = dict(zip(asked, found, strict=True))
        return [
            capped((score + joined[index]) / 2, one.features) if one else score
            for index, (score, one) in enumerate(zip(scores, compared, strict=True))
        ]


def _is_comparable(reading: Reading) -> bool:
    return bool(reading.claim.words and reading.close)


def _encodable(text: str) -> str:
    return strip_references(text)[:LONGEST_TEXT]


def _pair(asked: _Asked, reading: Reading) -> tuple[str, str]:
    return _encodable(asked.claim), in_reading_order(asked.sentences, reading.close)
