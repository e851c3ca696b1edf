"""How well a text answers a question, 0..1: calibrated, from what a network reads and what words tell."""

import logging
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from assistant.learned.features import relevance_features
from assistant.learned.parts import Card, LearnedError, LearnedNetwork, folder, read_card
from corpus.encoders import Vectors

logger = logging.getLogger(__name__)

RELEVANCE = "relevance"
LONGEST_QUESTION, LONGEST_TITLE = 400, 160


class RelevanceScorer(Protocol):
    """What tells how well texts answer a question."""

    @property
    def name(self) -> str: ...

    def score(
        self, question: str, texts: Sequence[str], titles: Sequence[str], asked: Vectors, vectors: Vectors
    ) -> list[float]:
        """Return for each text how likely it answers the question, 0..1.

        `titles` are those of the papers the texts stand in, "" where unknown; `asked` and `vectors` the unit
        vectors of question and texts.
        """
        ...


class FeatureRelevance:
    """Relevance by words and cosines alone: at once, and where the network does not fit."""

    def __init__(self, card: Card) -> None:
        self._scale = card.scales["features"]
        self.name = f"{card.name} without its network"

    def score(
        self,
        question: str,
        texts: Sequence[str],
        titles: Sequence[str],  # noqa: ARG002 - the network reads them
        asked: Vectors,
        vectors: Vectors,
    ) -> list[float]:
        if not texts:
            return []
        return shares(relevance_features(question, texts, asked, vectors), self._scale)


class NetworkRelevance:
    """Relevance by a network that reads each text beside the question, and by words and cosines."""

    def __init__(self, card: Card, weights: Path | None = None) -> None:
        self._scale, self.name = card.scales.get("all", {}), card.name
        self.network = LearnedNetwork(RELEVANCE, card, weights or folder(RELEVANCE))

    def numbers(self, question: str, texts: Sequence[str], titles: Sequence[str]) -> list[float]:
        """Return the network's own number for each text: above 0, it answers rather than not."""
        asked = question[:LONGEST_QUESTION]
        pairs = [(asked, with_title(title, text)) for title, text in zip(titles, texts, strict=True)]
        return [float(number) for number in self.network.load().read(pairs)[:, 0]]

    def score(
        self, question: str, texts: Sequence[str], titles: Sequence[str], asked: Vectors, vectors: Vectors
    ) -> list[float]:
        if not texts:
            return []
        features = relevance_features(question, texts, asked, vectors)
        features |= network_features(self.numbers(question, texts, titles))
        return shares(features, self._scale)


def with_title(title: str, text: str) -> str:
    """Return a text as the network reads it where the title of its paper is known."""
    return f"{title[:LONGEST_TITLE]}: {text}" if title else text


def network_features(numbers: Sequence[float]) -> dict[str, list[float]]:
    """Return a network's numbers as features: as they are, and beside the best and the mean of the texts."""
    best, mean = max(numbers), float(np.mean(numbers))
    return {
        "network": list(numbers),
        "network_to_best": [number - best for number in numbers],
        "network_to_mean": [number - mean for number in numbers],
    }


def shares(features: Mapping[str, Sequence[float]], scale: Mapping[str, float]) -> list[float]:
    """Return a logistic regression's share for each text; what only one of the two has counts nothing."""
    totals = np.full(len(next(iter(features.values()))), scale["intercept"])
    for name, weight in scale.items():
        if name in features:
            totals = totals + weight * np.asarray(features[name])
    return [1 / (1 + math.exp(-total)) for total in np.clip(totals, -30, 30).tolist()]


def open_relevance() -> RelevanceScorer:
    """Return what scores relevance: the learned part, or its features alone where it does not fit.

    Raises LearnedError where there is no card.
    """
    return _opened(folder(RELEVANCE))


@cache
def _opened(weights: Path) -> RelevanceScorer:
    card = read_card(RELEVANCE, weights)
    if not {"all", "features"} <= card.scales.keys():
        raise LearnedError(f"The card of {card.name} has no scales for relevance.")
    learned = NetworkRelevance(card, weights)
    try:
        learned.network.load()
    except LearnedError as error:
        logger.warning("relevance is told without its network: %s", error)
        return FeatureRelevance(card)
    return learned
