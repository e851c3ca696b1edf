"""The relevance of a text to a question, 0..1: calibrated, from a network and word features."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from assistant.learned.features import relevance_features
from assistant.learned.parts import LearnedError, LearnedPart, open_part
from corpus.encoders.base import Vectors

RELEVANCE = "relevance"
# The scales of a part's card beside that of single texts.
ANSWER, CHOICE, ANSWERABLE = "answer", "choice", "answerable"
# Features of a text that are the same whatever other texts there are.
ABSOLUTE = ("cosine", "together", "number", "reason", "network")
LONGEST_QUESTION, LONGEST_TITLE = 400, 160


class RelevanceScorer:
    """Scores how well texts answer a question, by words, cosines, and the part's network if it fits."""

    def __init__(self, part: LearnedPart) -> None:
        self._part = part

    @property
    def name(self) -> str:
        return self._part.name

    def numbers(self, question: str, texts: Sequence[str], titles: Sequence[str]) -> list[float]:
        """Return the network's score (a logit) of each text."""
        pairs = zip(titles, texts, strict=True)
        return self._part.numbers([(question[:LONGEST_QUESTION], with_title(*pair)) for pair in pairs])

    def chances(self, features: Mapping[str, Sequence[float]], *, read: bool) -> list[float]:
        """Return the probability of each sentence to belong to the answer, 0..1.

        A part without that scale returns the probability that it answers.
        """
        try:
            scale = self._part.scale(CHOICE, read=read)
        except LearnedError:
            scale = self._part.scale(read=read)
        return shares(features, scale)

    def answerable(self, features: Mapping[str, Sequence[float]]) -> float:
        """Return the probability that the passages found answer a question, 0..1, or 1 without that scale."""
        try:
            (share,) = shares(features, self._part.scale(ANSWERABLE, read="network" in features))
        except LearnedError:
            return 1.0
        return share

    def score(
        self, question: str, texts: Sequence[str], titles: Sequence[str], asked: Vectors, vectors: Vectors
    ) -> list[float]:
        """Return the probability of each text to answer the question, 0..1.

        `titles` are those of the texts' papers, "" if unknown; `asked` and `vectors` are the unit vectors of
        question and texts.
        """
        if not texts:
            return []
        features = relevance_features(question, texts, asked, vectors)
        if numbers := self.numbers(question, texts, titles):
            features |= network_features(numbers)
        return shares(features, self._part.scale())

    def of_answer(
        self, question: str, texts: Sequence[str], titles: Sequence[str], asked: Vectors, vectors: Vectors
    ) -> float:
        """Return the probability that an answer made of `texts` answers, 0..1; arguments as of `score`.

        Raises LearnedError if the card has no scale for it.
        """
        if not texts:
            return 0.0
        features = relevance_features(question, texts, asked, vectors)
        features |= {"network": self.numbers(question, texts, titles)}
        (share,) = shares(answer_features(features, range(len(texts))), self._part.scale(ANSWER))
        return share


def answer_features(features: Mapping[str, Sequence[float]], chosen: Sequence[int]) -> dict[str, list[float]]:
    """Return the maximum over the chosen texts of each feature that does not depend on other texts."""
    kept = {name: features[name] for name in ABSOLUTE if features.get(name)}
    return {name: [max(values[index] for index in chosen)] for name, values in kept.items()}


def with_title(title: str, text: str) -> str:
    """Return a text with its paper's title, if known, as input of the network."""
    return f"{title[:LONGEST_TITLE]}: {text}" if title else text


def network_features(numbers: Sequence[float]) -> dict[str, list[float]]:
    """Return a network's scores as features, absolute and relative to the best and the mean of the texts."""
    best, mean = max(numbers), float(np.mean(numbers))
    return {
        "network": list(numbers),
        "network_to_best": [number - best for number in numbers],
        "network_to_mean": [number - mean for number in numbers],
    }


def shares(features: Mapping[str, Sequence[float]], scale: Mapping[str, float]) -> list[float]:
    """Return the logistic regression's probability for each text, over the features that `scale` has."""
    totals = np.full(len(next(iter(features.values()))), scale["intercept"])
    for name, weight in scale.items():
        if name in features:
            totals = totals + weight * np.asarray(features[name])
    return [1 / (1 + math.exp(-total)) for total in np.clip(totals, -30, 30).tolist()]


def open_relevance() -> RelevanceScorer:
    """Open the relevance scorer; raises LearnedError if its card is missing or has no scales."""
    return RelevanceScorer(open_part(RELEVANCE))
