"""Vectors of sentences that are known from a corpus, so that a question need not encode them again."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from corpus.encoders.base import Encoder, Vectors

MOST_KNOWN = 8192  # sentences of an encoder, those met last: of 384 numbers each, 12 MiB

_known: WeakKeyDictionary[Encoder, OrderedDict[str, Vectors]] = WeakKeyDictionary()
_lock = threading.Lock()


def keep_vectors(encoder: Encoder, vectors: Mapping[str, Vectors]) -> None:
    """Keep unit vectors of texts, (d,), that this encoder made, for `encode_known`; safe between threads."""
    with _lock:
        known = _known.setdefault(encoder, OrderedDict())
        for text, vector in vectors.items():
            known[text] = vector
            known.move_to_end(text)
        while len(known) > MOST_KNOWN:
            known.popitem(last=False)


def encode_known(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return unit vectors of texts, (n, d): those that were kept, and of the other texts new ones."""
    with _lock:
        known: Mapping[str, Vectors] = _known.get(encoder, {})
        held = {text: known[text] for text in texts if text in known}
    new = [text for text in dict.fromkeys(texts) if text not in held]
    if len(new) == len(texts):
        return encoder.encode_passages(texts)
    if new:
        held.update(zip(new, encoder.encode_passages(new), strict=True))
    return np.stack([held[text] for text in texts])
