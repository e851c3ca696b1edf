"""The accelerated encoder: weights in eight-bit integers, run by ONNX Runtime without torch.

`corpus/encoders/export.py` makes its file, once; this is the only file that runs one.
"""

import json
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from pydantic import TypeAdapter, ValidationError

from corpus.encoders.base import Runtime, Vectors
from corpus.encoders.batching import core_threads, token_batches
from corpus.encoders.bert import INPUTS
from corpus.errors import CorpusError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]

# The key of the companion in the file's metadata.
COMPANION_KEY = "paper_trail"
# Tokens encoded at a time: per second of CPU, 512 on a core were a tenth better than 1,024.
TOKENS_PER_CORE = 512
# This fusion of a sum with its normalisation is four times as slow as the two operations.
SLOW_FUSIONS = ("SkipLayerNormFusion",)


@dataclass(frozen=True, slots=True)
class Companion:
    """The data that goes with a network; `tokenizer` is JSON of the tokenizers library."""

    sha256: str
    dimension: int
    padding_id: int
    query_prompt: str
    document_prompt: str
    tokenizer: str

    def to_json(self) -> str:
        return json.dumps(asdict(self))


_COMPANION = TypeAdapter(Companion)


class OnnxEncoder:
    """An exported encoder, loaded when first used; `sha256` is the hash of the original weights."""

    runtime: Runtime = "onnx-int8"

    def __init__(self, name: str, sha256: str, path: Path) -> None:
        self.name, self.sha256, self.path = name, sha256, path
        self._lock = threading.Lock()

    def load(self) -> None:
        with self._lock:  # only to avoid loading it twice
            _ = self._network

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.load()
        return self._network.encode(texts, self._network.companion.document_prompt)

    def encode_query(self, text: str) -> Vectors:
        self.load()
        return cast(Vectors, self._network.encode([text], self._network.companion.query_prompt)[0])

    @cached_property
    def _network(self) -> "_Network":
        session = open_session(self.path, _unusable(self.path))
        try:
            companion = _COMPANION.validate_json(session.get_modelmeta().custom_metadata_map[COMPANION_KEY])
        except (KeyError, ValidationError) as error:
            raise _unusable(self.path) from error
        if companion.sha256 != self.sha256:
            raise _unusable(self.path)
        return _Network(session, companion)


class _Network:
    def __init__(self, session: "InferenceSession", companion: Companion) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where text is encoded

        self.companion = companion
        self._session = session
        self._tokenizer = Tokenizer.from_str(companion.tokenizer)

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        vectors = np.empty((len(texts), self.companion.dimension), dtype=np.float32)
        encodings = self._tokenizer.encode_batch_fast([prompt + text for text in texts])
        tokens = [encoding.ids for encoding in encodings]

        def encode_batch(batch: list[int]) -> None:
            vectors[batch] = self._run([tokens[index] for index in batch])

        batches = list(token_batches([len(ids) for ids in tokens], TOKENS_PER_CORE))
        # A single batch, such as a query, needs no other thread.
        done = map(encode_batch, batches) if len(batches) == 1 else core_threads().map(encode_batch, batches)
        deque(done, maxlen=0)
        return vectors

    def _run(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        shape = (len(tokens), max(len(ids) for ids in tokens))
        padded, mask = np.full(shape, self.companion.padding_id, np.int64), np.zeros(shape, np.int64)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)], mask[row, : len(ids)] = ids, 1
        return cast(Vectors, self._session.run(None, dict(zip(INPUTS, (padded, mask), strict=True)))[0])


def open_session(network: Path | bytes, unusable: CorpusError) -> "InferenceSession":
    """Open a network from a file or from bytes; raises `unusable` if it cannot be run."""
    try:
        import onnxruntime  # noqa: PLC0415 - only where text is encoded
        from onnxruntime.capi import (  # type: ignore[import-untyped]  # noqa: PLC0415
            onnxruntime_pybind11_state as onnx_errors,
        )
    except ImportError as error:
        raise CorpusError(
            "The package onnxruntime, which runs the encoder, cannot be imported. Install it with: "
            "pip install -r requirements.txt"
        ) from error
    options = onnxruntime.SessionOptions()
    # One thread per run; concurrent runs keep all cores busy.
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            network, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOW_FUSIONS
        )
    except (
        OSError,
        onnx_errors.Fail,
        onnx_errors.InvalidArgument,
        onnx_errors.InvalidGraph,
        onnx_errors.InvalidProtobuf,
        onnx_errors.NoSuchFile,
    ) as error:
        raise unusable from error


def _unusable(path: Path) -> CorpusError:
    return CorpusError(
        f"The accelerated encoder {path} cannot be used. Delete the file; the next command makes it again."
    )
