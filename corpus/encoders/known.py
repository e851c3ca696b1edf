"""Encoding of texts with reuse of vectors that are stored in a corpus."""

from collections.abc import Mapping, Sequence

import numpy as np

from corpus.encoders.base import Encoder, Vectors


def encode_known(encoder: Encoder, texts: Sequence[str], known: Mapping[str, Vectors]) -> Vectors:
    """Return the unit vectors of texts, (n, d): the `known` ones, (d,), and new ones for the other texts."""
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if len(new) == len(texts):
        return encoder.encode_passages(texts)
    made = dict(zip(new, encoder.encode_passages(new), strict=True)) if new else {}
    return np.stack([made[text] if text in made else known[text] for text in texts])
