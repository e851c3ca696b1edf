"""Which sentences answer a question, as far as was learned from questions that people judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.generators.extractive.candidates import Candidate, stays_true
from assistant.generators.extractive.features import (
    Asking,
    Features,
    choice_features,
    read_features,
    share,
    with_kind,
)
from assistant.learned import open_relevance
from assistant.questions import Asked
from corpus.encoders import Vectors, cosine_scales
from corpus.language import holds, stem
from corpus.text import words

MOST_COMPARED = 90  # sentences whose meaning is compared with the question
MOST_READ = 32  # of them read by the network: those that are likeliest without it


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences with the chance of each that it belongs to the answer, (n,), 0..1.

    `near` holds the cosine of each with the question, (n,), `alike` those of each two, (n, n).
    """

    candidates: list[Candidate]
    chance: Vectors
    near: Vectors
    alike: Vectors

    def best_first(self, chosen: Iterable[int]) -> list[int]:
        return sorted(chosen, key=lambda index: -float(self.chance[index]))


@dataclass(frozen=True, slots=True)
class Compared:
    """The sentences whose meaning was compared with a question, (n,), and what tells of each."""

    candidates: list[Candidate]
    vectors: Vectors
    features: Features


def compare(asking: Asking, sentences: Sequence[Candidate]) -> Compared:
    """Return the sentences that share most with a question, with what words and meaning tell of them."""
    candidates = shortlist(sentences, asking.rarity)
    if not candidates:
        return Compared([], np.zeros((0, 0), np.float32), {})
    vectors = asking.encoder.encode_passages([one.text for one in candidates])
    return Compared(candidates, vectors, choice_features(asking, candidates, vectors))


def rank(asking: Asking, sentences: Sequence[Candidate]) -> Ranked:
    """Return the sentences that may answer, each with its chance; those far from it are left out."""
    compared = compare(asking, sentences)
    if not compared.candidates:
        return Ranked([], *(np.zeros(0, np.float32),) * 2, np.zeros((0, 0), np.float32))
    scorer = open_relevance()
    likely = scorer.chances(with_kind(compared.features, asking.kind), read=False)
    read = np.argsort(-np.asarray(likely), kind="stable")[:MOST_READ]
    candidates, vectors = [compared.candidates[at] for at in read], compared.vectors[read]
    features = {name: [values[at] for at in read] for name, values in compared.features.items()}
    chances = scorer.chances(with_kind(features | _read(asking, candidates), asking.kind), read=True)
    return Ranked(
        candidates,
        np.asarray(chances, dtype=np.float32),
        vectors @ asking.vector,
        cosine_scales(asking.encoder).alike(vectors @ vectors.T),
    )


def _read(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    """Return what the network makes of the candidates, nothing where there is none."""
    titles = [one.paper.paper.title for one in candidates]
    numbers = open_relevance().numbers(asking.query, [one.text for one in candidates], titles)
    return read_features(numbers, candidates) if numbers else {}


def shortlist(sentences: Sequence[Candidate], rarity: Mapping[str, float]) -> list[Candidate]:
    """Return the sentences worth encoding: those that share most with the question, then the best papers'."""
    ranked = sorted(sentences, key=lambda sentence: -share(rarity, sentence.stems))
    return [sentence for sentence in ranked[:MOST_COMPARED] if stays_true(sentence)]


def to_the_point(sentences: list[Candidate], asked: Asked) -> list[Candidate]:
    """Return what may answer: where a near miss would mislead, only sentences about the very thing asked.

    A question of yes or no or of a number that names something is not answered from other things' sentences.
    """
    sentences = [sentence for sentence in sentences if asked.may_be_answered_by(sentence.text)]
    if not asked.names:
        return sentences
    everything = frozenset().union(*(sentence.stems for sentence in sentences))
    if not all(holds(everything, name) for name in asked.names):
        return []
    return [sentence for sentence in sentences if not asked.counted or _counts(sentence, asked)]


def _counts(sentence: Candidate, asked: Asked) -> bool:
    """Return True if a sentence names what is asked about and then most of what is to be counted of it."""
    said = [stem(word) for word in words(sentence.text)]
    named = [
        at for at, word in enumerate(said) if any(holds(frozenset({word}), name) for name in asked.names)
    ]
    if not named:
        return False
    after = frozenset(said[named[0] + 1 :])
    return 2 * sum(holds(after, counted) for counted in asked.counted) >= len(asked.counted)
