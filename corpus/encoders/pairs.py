"""A network over pairs of texts, such as a question and a candidate answer."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import bundled_path
from corpus.encoders.batching import core_threads, token_batches
from corpus.encoders.bert import PAIR_INPUTS, Shape, Weights, bert_network
from corpus.encoders.onnx import open_session
from corpus.errors import CorpusError

if TYPE_CHECKING:
    from tokenizers import Encoding

TOKENS_AT_ONCE = 512
# From the configuration of the bundled encoder.
LAYERS, HEADS, EPSILON = 6, 12, 1e-12

Numbers = NDArray[np.float32]


def bundled_weights() -> dict[str, NDArray[np.float32]]:
    """Return the bundled encoder's matrices by name; raises CorpusError."""
    from safetensors.numpy import load_file  # noqa: PLC0415 - only where a network is put together

    return dict(load_file(bundled_path() / "model.safetensors"))


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    """The outputs for each token of a pair, (tokens, outputs), and the tokens by their start in each text."""

    numbers: Numbers
    starts: tuple[dict[int, int], dict[int, int]]

    def token_at(self, side: int, place: int) -> int | None:
        """Return the token that begins at an offset of the first text (0) or the second (1), else None."""
        return self.starts[side].get(place)


class PairNetwork:
    """The bundled encoder's network with other weights and a head; thread-safe.

    In a pair of more than `longest` tokens the longer text is cut. The network computes outputs for each
    pair, or `per_token` for each token.
    """

    def __init__(self, weights: Weights, longest: int, *, per_token: bool = False) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where text is read

        unusable = CorpusError("The learned network cannot be run by the installed onnxruntime.")
        self._session = open_session(
            bert_network(weights, Shape(LAYERS, HEADS, EPSILON), per_token=per_token), unusable
        )
        self._tokenizer = Tokenizer.from_file(str(bundled_path() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest, strategy="longest_first")
        self._outputs = len(weights["head.bias"])

    def read(self, pairs: Sequence[tuple[str, str]]) -> Numbers:
        """Return the outputs for each pair: (pairs, outputs)."""
        numbers = np.empty((len(pairs), self._outputs), dtype=np.float32)
        encoded = self._tokenizer.encode_batch_fast(list(pairs))

        def read_batch(batch: list[int]) -> None:
            columns = ([encoded[index].ids for index in batch], [encoded[index].type_ids for index in batch])
            numbers[batch] = self._run(*columns)

        batches = list(token_batches([len(encoding.ids) for encoding in encoded], TOKENS_AT_ONCE))
        deque(core_threads().map(read_batch, batches), maxlen=0)
        return numbers

    def read_tokens(self, pairs: Sequence[tuple[str, str]]) -> list[TokenNumbers]:
        """Return the outputs for each token of each pair."""

        def read_one(encoding: "Encoding") -> TokenNumbers:
            return TokenNumbers(self._run([encoding.ids], [encoding.type_ids])[0], token_starts(encoding))

        return list(core_threads().map(read_one, self._tokenizer.encode_batch(list(pairs))))

    def _run(self, ids: Sequence[Sequence[int]], sides: Sequence[Sequence[int]]) -> Numbers:
        shape = (len(ids), max(map(len, ids)))
        padded, mask, side = (np.zeros(shape, np.int64) for _ in PAIR_INPUTS)
        for row, (tokens, token_sides) in enumerate(zip(ids, sides, strict=True)):
            size = len(tokens)
            padded[row, :size], mask[row, :size], side[row, :size] = tokens, 1, token_sides
        inputs = dict(zip(PAIR_INPUTS, (padded, mask, side), strict=True))
        return cast(Numbers, self._session.run(None, inputs)[0])


def token_starts(encoding: "Encoding") -> tuple[dict[int, int], dict[int, int]]:
    """Map the start of each token in the first text, and in the second, to its position."""
    starts: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for position, (side, (start, end)) in enumerate(
        zip(encoding.sequence_ids, encoding.offsets, strict=True)
    ):
        if side is not None and end > start:
            starts[side][start] = position
    return starts
