"""Sentences of a corpus are not encoded again for a question."""

import gc
import weakref
from collections.abc import Sequence

import numpy as np

from corpus.encoders.base import SentenceEncoder, Vectors
from corpus.encoders.known import MOST_KNOWN, encode_known, keep_vectors
from corpus.store.corpus import Corpus


class Counting(SentenceEncoder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.ones((len(texts), 2), np.float32)


def test_what_is_known_is_not_encoded_again_until_it_is_forgotten() -> None:
    encoder = Counting()
    keep_vectors(encoder, {"a": np.array([1, 0], np.float32)})
    assert encode_known(encoder, ["b", "a", "b"]).tolist() == [[1, 1], [1, 0], [1, 1]]
    assert encoder.asked == ["b"]
    assert encode_known(Counting(), ["a"]).tolist() == [[1, 1]], "another encoder's"
    assert encode_known(encoder, []).shape == (0, 2)
    encoder = Counting()
    keep_vectors(encoder, {"first": np.zeros(2, np.float32)})
    keep_vectors(encoder, {str(at): np.zeros(2, np.float32) for at in range(MOST_KNOWN)})
    encode_known(encoder, ["first", "0"])
    assert encoder.asked == ["first"]
    kept = weakref.ref(encoder)
    del encoder
    gc.collect()
    assert kept() is None


def test_corpus_vectors_are_those_of_its_sentences(demo_corpus: Corpus, encoder: SentenceEncoder) -> None:
    passages = demo_corpus.passages("field-notes-retrieval/bm25")[:3]
    known = demo_corpus.sentence_vectors(passages)
    texts = [passage.sentence_text(at) for passage in passages for at in range(len(passage.sentences))]
    assert list(known) == list(dict.fromkeys(texts))
    assert np.abs(np.stack([known[text] for text in texts]) - encoder.encode_passages(texts)).max() < 0.03
    assert demo_corpus.sentence_vectors([]) == {}
