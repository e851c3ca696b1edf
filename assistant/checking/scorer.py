"""The support score, 0..1: calibrated, from words, meaning, numbers, names and negations.

Its features are those of features.py and the score of a network that reads claim and evidence together. The
weights and their training data are on the card of the learned part (`assistant/learned/support.py`), which
`paper-trail train support` writes.
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

# Longer evidence is cut; usually there are some dozens of sentences.
MOST_SENTENCES = 2000
INTERCEPT, NOWHERE = "intercept", "nowhere"
CAP_FROM, CAP_TO = 0.1, 0.01  # distances below the bar of support: the range of capped scores


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
    """Return a score, squeezed below the bar of support if the evidence lacks a number or name of the claim.

    The order of such scores is kept.
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
        """Return the feature that the evidence lacks a number or name of the claim."""
        evidence = (*map(strip_references, self.sentences), self.about)
        return {NOWHERE: float(is_absent(strip_references(self.claim), evidence))}


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim compared with its sentences: the features, and the closest sentences, best first."""

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
    """Scores claims against the sentences that may support them.

    With an entailment model, the score is the mean of both. It is low without shared words or evidence.
    """

    def __init__(self, encoder: Encoder, entailment: Entailment | None = None) -> None:
        self.encoder = encoder
        self.entailment = entailment

    @property
    def name(self) -> str:
        name = open_support().name
        return f"{name} + {self.entailment.name}" if self.entailment else name

    def score(self, claims: Sequence[str], evidence: Sequence[Sequence[str]]) -> list[float]:
        """Return the support of each claim by its sentences together, 0..1."""
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
        """Return the support of each claim by its sentences.

        `about` holds for each evidence the names and years of its papers, which a claim may mention too.
        """
        compared = self.compare(claims, evidence, about)
        weights = support_weights(self._learned)
        scores = [weights.score(item.features) if item else 0.0 for item in compared]
        if self._entailment:
            scores = self._with_entailment(self._entailment, scores, claims, evidence, compared)
        return [
            Support(score, item.order[0] if item else None)
            for score, item in zip(scores, compared, strict=True)
        ]

    def compare(
        self,
        claims: Sequence[str],
        evidence: Sequence[Sequence[str]],
        about: Sequence[str] | None = None,
    ) -> list[Compared | None]:
        """Compute the parts of each support score, None for a claim or evidence without words."""
        claims_read = [
            _Asked(claim, few[:MOST_SENTENCES], whose)
            for claim, few, whose in zip(claims, evidence, about or [""] * len(claims), strict=True)
        ]
        read = [read_closely(item.claim, item.sentences) for item in claims_read]
        taken = [pair for pair in zip(claims_read, read, strict=True) if _is_comparable(pair[1])]
        self._encode([
            text
            for item, reading in taken
            for text in (item.claim, *(item.sentences[index] for index in reading.close))
        ])  # fmt: skip
        numbers = iter(self._read(taken))
        return [
            self._compared(item, reading, next(numbers)) if _is_comparable(reading) else None
            for item, reading in zip(claims_read, read, strict=True)
        ]

    def _compared(self, asked: "_Asked", reading: Reading, number: float) -> Compared:
        texts = (asked.claim, *(asked.sentences[index] for index in reading.close))
        vectors = np.stack([self._vector(text) for text in texts])
        cosines = cosine_scales(self._encoder).alike(vectors @ vectors.T)
        likeness = cosines[0, 1:].tolist()
        order = best_first(reading, likeness)
        best = [1 + reading.close.index(index) for index in order[:TOGETHER]]
        # The cosine of the claim with the sum of the best vectors, from scaled pairwise cosines.
        length = math.sqrt(max(0.0, float(cosines[np.ix_(best, best)].sum())))
        pooled = float(cosines[0, best].sum()) / (length or 1.0)
        features = compare(reading, order, likeness, pooled) | asked.nowhere()
        if self._learned.network:
            features |= network_feature(number, reading)
        return Compared(features, order)

    def _read(self, taken: Sequence[tuple["_Asked", Reading]]) -> list[float]:
        """Return the network's score of each claim, SURE_NUMBER for quotations; new pairs go in one batch."""
        if self._learned.network is None:
            return [0.0] * len(taken)
        pairs = [
            None
            if is_quotation(reading)
            else (_encodable(asked.claim), in_reading_order(asked.sentences, reading.close))
            for asked, reading in taken
        ]
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
        indices = [index for index, item in enumerate(compared) if item]
        texts = [in_reading_order(evidence[index], item.order) for index, item in enumerate(compared) if item]
        compared_claims = [strip_references(claims[index]) for index in indices]
        joined = dict(zip(indices, entailment.probabilities(compared_claims, texts), strict=True))
        return [
            capped((score + joined[index]) / 2, item.features) if item else score
            for index, (score, item) in enumerate(zip(scores, compared, strict=True))
        ]


def _is_comparable(reading: Reading) -> bool:
    return bool(reading.claim.words and reading.close)


def _encodable(text: str) -> str:
    return strip_references(text)[:LONGEST_TEXT]
