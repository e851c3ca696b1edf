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
    """Scores how well texts answer a question, by words, cosines, and the part's network where it fits."""

    def __init__(self, part: LearnedPart) -> None:
        self._part = part

    @property
    def name(self) -> str:
        return self._part.name

    def numbers(self, question: str, texts: Sequence[str], titles: Sequence[str]) -> list[float]:
        """Return the network's own number for each text: above 0, it answers rather than not."""
        asked = question[:LONGEST_QUESTION]
        return self._part.numbers(
            [(asked, with_title(title, text)) for title, text in zip(titles, texts, strict=True)]
        )

    def chances(self, features: Mapping[str, Sequence[float]], *, read: bool) -> list[float]:
        """Return the chance of each sentence to belong to the answer, 0..1.

        A part that was not fitted to such choices tells how likely it answers.
        """
        try:
            scale = self._part.scale(CHOICE, read=read)
        except LearnedError:
            scale = self._part.scale(read=read)
        return shares(features, scale)

    def answerable(self, features: Mapping[str, Sequence[float]]) -> float:
        """Return the chance that the passages found answer a question, 0..1.

        A part that was not fitted to that takes all to be answerable.
        """
        try:
            (share,) = shares(features, self._part.scale(ANSWERABLE, read="network" in features))
        except LearnedError:
            return 1.0
        return share

    def score(
        self, question: str, texts: Sequence[str], titles: Sequence[str], asked: Vectors, vectors: Vectors
    ) -> list[float]:
        """Return for each text how likely it answers the question, 0..1.

        `titles` are those of the papers the texts stand in, "" where unknown; `asked` and `vectors` the unit
        vectors of question and texts.
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
        """Return the chance that an answer made of `texts` answers, 0..1; arguments as of `score`.

        Raises LearnedError where the card has no scale for it.
        """
        if not texts:
            return 0.0
        features = relevance_features(question, texts, asked, vectors)
        features |= {"network": self.numbers(question, texts, titles)}
        (share,) = shares(answer_features(features, range(len(texts))), self._part.scale(ANSWER))
        return share


def answer_features(features: Mapping[str, Sequence[float]], chosen: Sequence[int]) -> dict[str, list[float]]:
    """Return the best of what some texts have of each feature that does not depend on the others."""
    kept = {name: features[name] for name in ABSOLUTE if features.get(name)}
    return {name: [max(values[at] for at in chosen)] for name, values in kept.items()}


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
    """Open the relevance scorer; raises LearnedError where its card is missing or has no scales."""
    return RelevanceScorer(open_part(RELEVANCE))
