"""Text to vectors: the seam, the runtimes, and which one a corpus has."""

from corpus.encoders.base import (
    BUNDLED_SHA256,
    Encoder,
    Runtime,
    SentenceEncoder,
    Vectors,
    bundled_path,
    is_here_or_nowhere,
    is_hub_out_of_reach,
    ordinary_words,
)
from corpus.encoders.batching import cores, token_batches
from corpus.encoders.known import encode_known, keep_vectors
from corpus.encoders.languages import encoder_languages, reads_language
from corpus.encoders.onnx import OnnxEncoder
from corpus.encoders.pairs import PairNetwork, TokenNumbers, bundled_weights, token_starts
from corpus.encoders.scale import Scale, cosine_scales

__all__ = [
    "BUNDLED_SHA256", "Encoder", "OnnxEncoder", "PairNetwork", "Runtime", "Scale", "SentenceEncoder",
    "TokenNumbers", "Vectors", "bundled_path", "bundled_weights", "cores", "cosine_scales",
    "encode_known", "encoder_languages", "is_here_or_nowhere", "is_hub_out_of_reach", "keep_vectors",
    "ordinary_words", "reads_language", "token_batches", "token_starts"
]  # fmt: skip
