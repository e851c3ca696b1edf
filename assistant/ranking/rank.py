"""Ranking of the sentences that may answer, learned from judged questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.learned.relevance import open_relevance
from assistant.questions.vocabulary import stems
from assistant.ranking.candidates import Candidate, stays_true
from assistant.ranking.features import (
    Asking,
    Features,
    answerable_features,
    choice_features,
    read_features,
    share,
    with_kind,
)
from corpus.encoders.base import Vectors
from corpus.encoders.known import encode_known
from corpus.encoders.languages import reads_language
from corpus.encoders.scale import cosine_scales

MOST_ENCODED = 400  # sentences whose vectors are compared with the question: most are stored in the corpus
MOST_COMPARED = 100  # of them with all features
MOST_READ = 48  # of them read by the network


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences with the probability of each that it belongs to the answer, `chance`, (n,), 0..1.

    `alike` holds their pairwise scaled cosines, (n, n), `answerable` the probability that any answers.
    """

    candidates: list[Candidate]
    chance: Vectors
    alike: Vectors
    answerable: float

    def best_first(self, chosen: Iterable[int]) -> list[int]:
        return sorted(chosen, key=lambda index: -float(self.chance[index]))


@dataclass(frozen=True, slots=True)
class Compared:
    """The shortlisted sentences of a question with their vectors, (n, d), and features."""

    candidates: list[Candidate]
    vectors: Vectors
    features: Features


def compare(asking: Asking, sentences: Sequence[Candidate]) -> Compared:
    """Return the shortlist of sentences for a question with their vectors and features."""
    candidates = shortlist(sentences, asking)
    if not candidates:
        return Compared([], np.zeros((0, 0), np.float32), {})
    vectors = encode_known(asking.encoder, [candidate.text for candidate in candidates], asking.known)
    return Compared(candidates, vectors, choice_features(asking, candidates, vectors))


def rank(asking: Asking, sentences: Sequence[Candidate], most_read: int = MOST_READ) -> Ranked:
    """Return the `most_read` sentences that are likeliest without the network, ranked with it."""
    compared = compare(asking, sentences)
    if not compared.candidates:
        return Ranked([], np.zeros(0, np.float32), np.zeros((0, 0), np.float32), 0.0)
    if asking.plan.language:
        return _untrained(asking, compared)
    scorer = open_relevance()
    likely = scorer.chances(with_kind(compared.features, asking.kind), read=False)
    read = np.argsort(-np.asarray(likely), kind="stable")[:most_read]
    candidates, vectors = [compared.candidates[index] for index in read], compared.vectors[read]
    features = {name: [values[index] for index in read] for name, values in compared.features.items()}
    features |= _read(asking, candidates)
    chances = scorer.chances(with_kind(features, asking.kind), read=True)
    return Ranked(
        candidates,
        np.asarray(chances, dtype=np.float32),
        cosine_scales(asking.encoder).alike(vectors @ vectors.T),
        scorer.answerable(answerable_features(features, chances)),
    )


def _untrained(asking: Asking, compared: Compared) -> Ranked:
    """Rank sentences for a question in a language without training data.

    The score is the share of the question's words in the sentence and its passage, or the cosine if higher
    and the encoder reads the language.
    """
    passages = {
        candidate.passage.id: candidate.stems | stems(candidate.passage.text)
        for candidate in compared.candidates
    }
    words = [
        (share(asking.rarity, candidate.stems) + share(asking.rarity, passages[candidate.passage.id])) / 2
        for candidate in compared.candidates
    ]
    chance = np.asarray(words, dtype=np.float32)
    scales = cosine_scales(asking.encoder)
    if reads_language(asking.encoder.name, asking.plan.language):
        chance = np.maximum(chance, scales.asked(compared.vectors @ asking.vector))
    return Ranked(
        compared.candidates,
        chance,
        scales.alike(compared.vectors @ compared.vectors.T),
        float(chance.max()),
    )


def _read(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    """Return the network's features for the candidates, none without a network."""
    titles = [candidate.paper.paper.title for candidate in candidates]
    numbers = open_relevance().numbers(asking.query, [candidate.text for candidate in candidates], titles)
    return read_features(numbers, candidates) if numbers else {}


def shortlist(sentences: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    """Return the sentences nearest to the question by shared words plus cosine."""
    first = sorted(sentences, key=lambda sentence: -share(asking.rarity, sentence.stems))[:MOST_ENCODED]
    if not first:
        return []
    meant = encode_known(asking.encoder, [sentence.text for sentence in first], asking.known) @ asking.vector
    near = [
        share(asking.rarity, sentence.stems) + float(meant[index]) for index, sentence in enumerate(first)
    ]
    ranked = sorted(range(len(first)), key=lambda index: -near[index])
    return [first[index] for index in ranked[:MOST_COMPARED] if stays_true(first[index])]
