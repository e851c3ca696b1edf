"""Exports a sentence-transformers model to an ONNX file in eight-bit integers, and compares the two."""

import contextlib
import logging
import tempfile
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock

from corpus.durable import replace_durably
from corpus.encoders.base import BUNDLED_SHA256, SentenceEncoder, bundled_path
from corpus.encoders.bert import INPUTS, Pooling, Shape, bert_encoder
from corpus.encoders.onnx import COMPANION_KEY, Companion, OnnxEncoder
from corpus.encoders.pairs import EPSILON, HEADS, LAYERS, bundled_weights
from corpus.errors import CorpusError
from corpus.settings import BUNDLED_ENCODER

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from torch.nn import Module

# The tokens of a text that the bundled encoder reads, from its configuration.
BUNDLED_LONGEST = 256
# The bundled encoder reaches 0.99; with one scale per matrix instead of one per column it is 0.94.
LOWEST_COSINE = 0.98
SAMPLES = (
    "Sparse attention",
    "Which methods make retrieval faster?",
    "We compare dense and lexical retrieval on four collections and find that their sum beats either.",
    "Annotators agreed on 82.4% of 1,200 pairs (kappa = .71), far more than in earlier work [12].",
    "The encoder maps each passage to a vector; at query time the nearest passages are found by an index. "
    "Training uses in-batch negatives and hard negatives mined with BM25. On held-out domains the model "
    "loses most of its advantage, which a small amount of synthetic data restores. " * 3,
)

logger = logging.getLogger(__name__)


class ExportError(CorpusError):
    """A model cannot be run outside torch, or not accurately enough; the message says why."""


def export(encoder: SentenceEncoder, path: Path) -> None:
    """Write the accelerated form of `encoder` to `path`, unless another process just has.

    Raises CorpusError if the encoder cannot be loaded, and ExportError if it must stay in torch.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            if not path.exists():
                logger.info("preparing the accelerated encoder %s", path)
                _export(encoder, path)
    except OSError as error:
        raise ExportError(f"The folder {path.parent} cannot be written: {error.strerror}.") from error


def _export(encoder: SentenceEncoder, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        exported = Path(folder) / path.name
        try:
            companion, network = _bundled() if encoder.name == BUNDLED_ENCODER else _of_model(encoder)
            _save(companion, network, exported)
        except ImportError as error:
            raise ExportError(f"A package that exports models cannot be imported: {error}.") from error
        except (RuntimeError, ValueError) as error:
            raise ExportError(f"The encoder {encoder.name!r} could not be exported: {error}") from error
        if encoder.name != BUNDLED_ENCODER:  # compared in a test, so that users need no torch
            _compare(encoder, OnnxEncoder(encoder.name, companion.sha256, exported))
        replace_durably(exported, path)


def _save(companion: Companion, network: bytes, path: Path) -> None:
    """Write a network and its companion to one file."""
    import onnx  # noqa: PLC0415 - needed once

    model = onnx.load_from_string(network)
    model.metadata_props.add(key=COMPANION_KEY, value=companion.to_json())
    onnx.save(model, path)


def _bundled() -> tuple[Companion, bytes]:
    """Return the bundled encoder's companion and network, made without torch."""
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(bundled_path() / "tokenizer.json"))
    weights = bundled_weights()
    dimension = len(weights["embeddings.LayerNorm.bias"])
    companion = _companion(tokenizer, BUNDLED_LONGEST, BUNDLED_SHA256, dimension)
    return companion, bert_encoder(weights, Shape(LAYERS, HEADS, EPSILON), "mean")


def _of_model(encoder: SentenceEncoder) -> tuple[Companion, bytes]:
    """Return a model's companion and network; raises ExportError for an unsupported architecture."""
    model = encoder.model
    transformer: Any = model[0]
    tokenizer = getattr(transformer.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        raise ExportError(f"The encoder {encoder.name!r} has no tokenizer that runs outside torch.")
    prompts = model.prompts
    documents = (prompts[key] for key in ("document", "passage", "corpus") if key in prompts)
    companion = _companion(
        type(tokenizer).from_str(tokenizer.to_str()),  # a copy, as it is changed below
        model.max_seq_length,
        encoder.sha256,
        model.get_embedding_dimension() or 0,
        padding_id=transformer.tokenizer.pad_token_id or 0,
        prompts=(prompts.get("query") or "", next(documents, "") or ""),
    )
    pooling = _pooling(model)
    config = transformer.model.config
    is_bert = type(transformer.model).__name__ == "BertModel"
    if not is_bert or config.hidden_act != "gelu" or config.is_decoder:
        return companion, _traced(transformer.model, pooling, model.max_seq_length)
    weights = {name: value.float().cpu().numpy() for name, value in transformer.model.state_dict().items()}
    shape = Shape(config.num_hidden_layers, config.num_attention_heads, config.layer_norm_eps)
    return companion, bert_encoder(weights, shape, pooling)


def _companion(
    tokenizer: "Tokenizer",
    longest: int | None,
    sha256: str,
    dimension: int,
    *,
    padding_id: int = 0,
    prompts: tuple[str, str] = ("", ""),
) -> Companion:
    """Return the companion of a network, with a tokenizer that truncates and does not pad."""
    tokenizer.no_padding()
    if longest is not None:
        tokenizer.enable_truncation(longest)
    return Companion(sha256, dimension, padding_id, *prompts, tokenizer.to_str())


def _pooling(model: "SentenceTransformer") -> Pooling:
    """Return the pooling of a model of a transformer and a pooling layer; raises ExportError for others."""
    from sentence_transformers.sentence_transformer import modules  # noqa: PLC0415

    kinds = [type(module) for module in model]
    if kinds[:2] != [modules.Transformer, modules.Pooling] or kinds[2:] not in ([], [modules.Normalize]):
        raise ExportError(f"This encoder is built of {', '.join(kind.__name__ for kind in kinds)}.")
    pooling: Any = model[1]
    if pooling.pooling_mode not in ("mean", "cls") or not pooling.include_prompt:
        raise ExportError(f"This encoder pools its states by {pooling.pooling_mode!r}.")
    mode: Pooling = pooling.pooling_mode
    return mode


def _traced(network: "Module", pooling: Pooling, longest: int | None) -> bytes:
    """Export a network with torch and quantise it."""
    import torch  # noqa: PLC0415 - seconds to import
    from onnxruntime.quantization import (  # type: ignore[import-untyped]  # noqa: PLC0415
        QuantType,
        quantize_dynamic,
    )

    example = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 0]])
    dynamic = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens", max=longest)}
    with tempfile.TemporaryDirectory() as folder, _quiet(), torch.no_grad():
        whole, quantised = Path(folder, "float.onnx"), Path(folder, "int8.onnx")
        torch.onnx.export(
            _pooled(network, pooling),
            (example, (example > 0).long()),
            whole,
            input_names=INPUTS,
            dynamic_shapes=(dynamic, dynamic),
            external_data=False,
            dynamo=True,
        )
        # `reduce_range`: processors without VNNI saturate with eight bits.
        quantize_dynamic(
            whole,
            quantised,
            ["MatMul", "Gemm"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        return quantised.read_bytes()


def _pooled(network: "Module", pooling: Pooling) -> "Module":
    """Return a network with its pooling as one module."""
    import torch  # noqa: PLC0415

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = network

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            states = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            if pooling == "cls":
                return torch.nn.functional.normalize(states[:, 0], dim=1)
            weights = attention_mask.unsqueeze(-1).to(states.dtype)
            return torch.nn.functional.normalize((states * weights).sum(1), dim=1)

    return Network().eval()


def _compare(encoder: SentenceEncoder, accelerated: OnnxEncoder) -> None:
    """Raise ExportError unless both encoders give nearly the same vectors."""
    pairs = (
        (encoder.encode_passages(SAMPLES), accelerated.encode_passages(SAMPLES)),
        (encoder.encode_query(SAMPLES[1])[None], accelerated.encode_query(SAMPLES[1])[None]),
    )
    lowest = min(float(np.sum(ours * theirs, axis=1).min()) for theirs, ours in pairs)
    if not lowest >= LOWEST_COSINE:  # also for NaN
        raise ExportError(
            f"The accelerated vectors of {encoder.name!r} are too far from its own (cosine {lowest:.3f})."
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's output, warnings and log."""
    disabled, silent = logging.root.manager.disable, logging.NullHandler()
    logging.disable(logging.ERROR)
    logging.root.addHandler(
        silent
    )  # without a handler, the quantiser's first message would configure logging
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.root.removeHandler(silent)
        logging.disable(disabled)
