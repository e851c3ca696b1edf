"""The real networks, which read no text twice in a run of the tests: encoding is most of what tests wait for.

What depends on the rounding of texts that are read together is tested with an encoder of its own.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from corpus import encoder_choice
from corpus.encoders.base import BUNDLED_SHA256, Vectors
from corpus.encoders.onnx import OnnxEncoder
from corpus.encoders.pairs import Numbers, PairNetwork, TokenNumbers
from corpus.settings import BUNDLED_ENCODER, Settings

Pair = tuple[str, str]
Read = TypeVar("Read", Numbers, TokenNumbers)


class RememberingEncoder(OnnxEncoder):
    """The bundled encoder, which returns the vector it computed first for a text."""

    def __init__(self, path: Path) -> None:
        super().__init__(BUNDLED_ENCODER, BUNDLED_SHA256, path)
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


def share(encoder: RememberingEncoder, patch: pytest.MonkeyPatch) -> None:
    """Let every home in this process use `encoder` and its file instead of exporting its own."""
    export, exported_path = encoder_choice.OnnxEncoder, encoder_choice.exported_path

    def open_exported(name: str, sha256: str, path: Path) -> OnnxEncoder:
        return encoder if path == encoder.path else export(name, sha256, path)

    def path_of(settings: Settings, sha256: str) -> Path:
        return encoder.path if sha256 == BUNDLED_SHA256 else exported_path(settings, sha256)

    patch.setattr(encoder_choice, "OnnxEncoder", open_exported)
    patch.setattr(encoder_choice, "exported_path", path_of)


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
