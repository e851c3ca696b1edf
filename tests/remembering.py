"""The real networks, which read no text twice in a run of the tests: encoding is most of what tests wait for.

What depends on the rounding of texts that are read together is tested with a SentenceEncoder of its own.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pytest

from corpus import encoder_choice
from corpus.encoders.base import SentenceEncoder, Vectors
from corpus.encoders.pairs import Numbers, PairNetwork, TokenNumbers
from corpus.settings import BUNDLED_ENCODER

Pair = tuple[str, str]
Read = TypeVar("Read", Numbers, TokenNumbers)


class RememberingEncoder(SentenceEncoder):
    """Gives a text the vector that it was given first."""

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


def share(encoder: SentenceEncoder, patch: pytest.MonkeyPatch) -> None:
    """Have whatever opens the bundled encoder in this process get that one."""

    def opened(name: str = BUNDLED_ENCODER) -> SentenceEncoder:
        return encoder if name == BUNDLED_ENCODER else SentenceEncoder(name)

    patch.setattr(encoder_choice, "SentenceEncoder", opened)


def remember_pairs(patch: pytest.MonkeyPatch) -> None:
    """Have networks give a pair the numbers that they gave it first."""
    read, read_tokens = PairNetwork.read, PairNetwork.read_tokens

    def reading(network: PairNetwork, pairs: Sequence[Pair]) -> Numbers:
        known = _remembered(network, pairs, "_read", read)
        return np.stack(known) if known else read(network, [])

    def reading_tokens(network: PairNetwork, pairs: Sequence[Pair]) -> list[TokenNumbers]:
        return _remembered(network, pairs, "_read_tokens", read_tokens)

    patch.setattr(PairNetwork, "read", reading)
    patch.setattr(PairNetwork, "read_tokens", reading_tokens)


def _remembered(
    network: PairNetwork,
    pairs: Sequence[Pair],
    kept_as: str,
    read: Callable[[PairNetwork, Sequence[Pair]], Sequence[Read] | Numbers],
) -> list[Read]:
    known: dict[Pair, Read] = network.__dict__.setdefault(kept_as, {})
    asked = [(left, right) for left, right in pairs]
    new = [pair for pair in dict.fromkeys(asked) if pair not in known]
    if new:
        known.update(zip(new, read(network, new), strict=True))
    return [known[pair] for pair in asked]
