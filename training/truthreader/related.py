"""Which passages are related by their words; the one file here that counts them with scikit-learn."""

from collections.abc import Collection, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from corpus.records import Passage

NEAR = 40


class RelatedPassages:
    """Passages by the cosine of their weighted words; the same passages always give the same order."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english")
        try:
            self._matrix = self._vectors.fit_transform([passage.text for passage in self.passages])
        except ValueError:  # not a word in any of them
            self._matrix = None

    def nearest(
        self, text: str, count: int = NEAR, without: Collection[str] = frozenset()
    ) -> tuple[Passage, ...]:
        """Return the passages nearest to a text that share a word with it, best first, but some by id."""
        if self._matrix is None:
            return ()
        scores = (self._matrix @ self._vectors.transform([text]).T).toarray().ravel()
        order = np.argsort(-scores, kind="stable")[: count + len(without)]
        near = (self.passages[index] for index in order if scores[index] > 0)
        return tuple(one for one in near if one.id not in without)[:count]
