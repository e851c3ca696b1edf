"""Vectors of texts, each encoded once and by itself."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from corpus.encoder import Encoder, Runtime, Vectors

MOST_KEPT = 20_000


class EachAlone:
    """An encoder that gives a text the same vector whatever else is encoded beside it, and keeps it.

    What is encoded together is rounded together, by as much as some hundredths of a cosine: choices would
    depend on which thread came first. Of very many texts those used last are kept.
    """

    def __init__(self, encoder: Encoder, most: int = MOST_KEPT) -> None:
        self._encoder = encoder
        self._most = most
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def runtime(self) -> Runtime:
        return self._encoder.runtime

    @property
    def sha256(self) -> str:
        return self._encoder.sha256

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text: (len(texts), dimension); there must be a text."""
        return np.stack([self._vector(text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)

    def _vector(self, text: str) -> Vectors:
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        vector: Vectors = self._encoder.encode_passages([text])[0]
        with self._lock:
            self._kept[text] = vector
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return vector
