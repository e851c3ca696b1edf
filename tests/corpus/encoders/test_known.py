"""Sentences of a corpus are not encoded again for a question."""

from collections.abc import Sequence

import numpy as np

from corpus.encoders.base import SentenceEncoder, Vectors
from corpus.encoders.known import encode_known
from corpus.store.corpus import Corpus


class Counting(SentenceEncoder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.ones((len(texts), 2), np.float32)


def test_what_is_known_is_not_encoded_again() -> None:
    encoder = Counting()
    known = {"a": np.array([1, 0], np.float32)}
    assert encode_known(encoder, ["b", "a", "b"], known).tolist() == [[1, 1], [1, 0], [1, 1]]
    assert encoder.asked == ["b"]
    assert encode_known(Counting(), ["a"], {}).tolist() == [[1, 1]]
    assert encode_known(encoder, [], known).shape == (0, 2)


def test_corpus_vectors_are_those_of_its_sentences(demo_corpus: Corpus, encoder: SentenceEncoder) -> None:
    passages = demo_corpus.passages("field-notes-retrieval/bm25")[:3]
    known = demo_corpus.sentence_vectors(passages)
    texts = [passage.sentence_text(at) for passage in passages for at in range(len(passage.sentences))]
    assert list(known) == list(dict.fromkeys(texts))
    assert np.abs(np.stack([known[text] for text in texts]) - encoder.encode_passages(texts)).max() < 0.03
    assert demo_corpus.sentence_vectors([]) == {}
