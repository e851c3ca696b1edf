"""Passages of own documents encoded all at once, where a library is made searchable anew."""

from collections.abc import Iterable

from corpus.encoders.base import Encoder
from corpus.records import Paper, Passage
from indexer.build.encode import EncodedPassages, encode_passages


def encode_texts(passages: Iterable[tuple[Paper, Passage]], encoder: Encoder) -> EncodedPassages:
    return encode_passages(passages, encoder.encode_passages)
