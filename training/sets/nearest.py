"""The texts nearest to a question by their words: what a search would put beside the right one."""

import math
from collections import Counter
from collections.abc import Sequence

from corpus.language import stem
from corpus.text import words

K1, B = 1.2, 0.75


class NearestTexts:
    """BM25 over some texts, by an inverted index (Robertson and Zaragoza, 2009)."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(map(stem, words(text))) for text in texts]
        mean = sum(one.total() for one in counts) / max(1, len(counts)) or 1.0
        self._long = [K1 * (1 - B + B * one.total() / mean) for one in counts]
        self._held: dict[str, list[tuple[int, int]]] = {}
        for index, one in enumerate(counts):
            for term, count in one.items():
                self._held.setdefault(term, []).append((index, count))

    def order(self, question: str, most: int | None = None) -> list[int]:
        """Return the indices of the texts, the nearest first."""
        scores = [0.0] * len(self._long)
        for term in dict.fromkeys(map(stem, words(question))):
            holding = self._held.get(term, [])
            rarity = math.log1p((len(scores) - len(holding) + 0.5) / (len(holding) + 0.5))
            for index, count in holding:
                scores[index] += rarity * count * (K1 + 1) / (count + self._long[index])
        return sorted(range(len(scores)), key=lambda index: -scores[index])[:most]
