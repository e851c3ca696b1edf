"""The real encoder, which encodes no text twice in a run of the tests."""

from collections.abc import Sequence

import numpy as np

from corpus.encoders.base import SentenceEncoder, Vectors


class RememberingEncoder(SentenceEncoder):
    """Gives a text the vector that it was given first.

    What depends on the rounding of texts encoded together is tested with a SentenceEncoder.
    """

    def __init__(self) -> None:
        super().__init__()
        self._passages: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._passages]
        encoded = super().encode_passages(new)
        self._passages.update(zip(new, encoded, strict=True))
        return np.stack([self._passages[text] for text in texts]) if texts else encoded

    def encode_query(self, text: str) -> Vectors:
        if text not in self._queries:
            self._queries[text] = super().encode_query(text)
        return self._queries[text].copy()
