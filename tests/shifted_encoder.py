"""A second encoder whose cosines are a known map of the first one's, as those of other models lie higher."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from corpus.encoders.base import Encoder, Runtime, Vectors


class ShiftedEncoder:
    """Encodes as `encoder` does, and gives all texts one thing in common: cosines are s + (1 - s) cosine."""

    name, sha256 = "shifted", "5" * 64
    runtime: Runtime = "torch"

    def __init__(self, encoder: Encoder, shift: float) -> None:
        self._encoder, self._shift = encoder, shift

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        own = self._encoder.encode_passages(texts) * np.float32((1 - self._shift) ** 0.5)
        common = np.full((len(texts), 1), self._shift**0.5, dtype=np.float32)
        return np.hstack([own, common])

    def encode_query(self, text: str) -> Vectors:
        return cast(Vectors, self.encode_passages([text])[0])
