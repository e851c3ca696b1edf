"""BM25 over a few texts without an index, such as the sentences of a paper or candidates of an answer."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from corpus.language.stemming import stem, stop_words
from corpus.text import words

K1, B = 1.2, 0.75
_TEXTS_KEPT = 65_536


class Bm25:
    """An in-memory BM25 index of stems without stop words (Robertson and Zaragoza, 2009, section 3)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.terms = [terms_of(text) for text in texts]
        lengths = [len(terms) for terms in self.terms]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self._long = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holding: dict[str, list[tuple[int, int]]] = {}
        for index, terms in enumerate(self.terms):
            for term, count in Counter(terms).items():
                self._holding.setdefault(term, []).append((index, count))

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term, at least 0, as in Lucene."""
        holding = len(self._holding.get(term, ()))
        return math.log1p((len(self.terms) - holding + 0.5) / (holding + 0.5))

    def scores(self, question: str) -> list[float]:
        """Return the score of each text, in order."""
        scores = [0.0] * len(self.terms)
        for term in dict.fromkeys(terms_of(question)):
            rarity = self.rarity(term)
            for index, count in self._holding.get(term, ()):
                scores[index] += rarity * count * (K1 + 1) / (count + self._long[index])
        return scores

    def order(self, question: str, most: int | None = None) -> list[int]:
        """Return the indices of the texts, highest score first."""
        scores = self.scores(question)
        return sorted(range(len(scores)), key=lambda index: -scores[index])[:most]


@lru_cache(maxsize=_TEXTS_KEPT)
def terms_of(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, without stop words."""
    return tuple(stem(word) for word in words(text) if word not in stop_words())
