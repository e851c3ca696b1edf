"""Text to vectors: the seam, the runtimes, and which one a corpus has."""

from corpus.encoders.base import (
    BUNDLED_SHA256,
    Encoder,
    Runtime,
    SentenceEncoder,
    Vectors,
    bundled_path,
    is_here_or_nowhere,
)
from corpus.encoders.batching import cores
from corpus.encoders.onnx import OnnxEncoder
from corpus.encoders.scale import Scale, cosine_scales

__all__ = [
    "BUNDLED_SHA256", "Encoder", "OnnxEncoder", "Runtime", "Scale", "SentenceEncoder", "Vectors",
    "bundled_path", "cores", "cosine_scales", "is_here_or_nowhere"
]  # fmt: skip
