"""What can rank the candidates of a question, by name: `open_rankers` is where all are registered."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assistant.learned import RELEVANCE, LearnedPart, RelevanceScorer, folder, read_part
from corpus.encoders import Encoder
from corpus.language import Bm25
from evaluation.answers.evidence.rows import EvidenceRow

# Returns a score for each candidate of a row, the higher the better; it does not look at `relevant`.
Ranker = Callable[[EvidenceRow], Sequence[float]]

_DOCUMENTS_KEPT = 64


def open_rankers(encoder: Encoder) -> dict[str, Ranker]:
    """Return every ranker under its name, in the order in which they are listed."""
    vectors = CandidateVectors(encoder)
    cosine = cosine_ranker(vectors)
    return {
        "bm25": bm25,
        "cosine": cosine,
        "both": mean_of(bm25, cosine),
        **learned_rankers(folder(RELEVANCE), vectors),
    }


def bm25(row: EvidenceRow) -> list[float]:
    """Return BM25 of each candidate, words being counted among the row's own (Robertson et al., 1994)."""
    return Bm25(row.candidates).scores(row.question)


class CandidateVectors:
    """Vectors of questions and candidates; rows of one document are encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self.question = lru_cache(maxsize=1)(encoder.encode_query)
        self.candidates = lru_cache(maxsize=_DOCUMENTS_KEPT)(encoder.encode_passages)


def cosine_ranker(vectors: CandidateVectors) -> Ranker:
    """Return what scores by the cosine of question and candidate."""

    def cosine(row: EvidenceRow) -> list[float]:
        return [float(found) for found in vectors.candidates(row.candidates) @ vectors.question(row.question)]

    return cosine


def learned_rankers(weights: Path, vectors: CandidateVectors) -> dict[str, Ranker]:
    """Return the learned relevance: its features alone, its network alone, and both as the product has it."""
    card, reader = read_part(RELEVANCE, weights)
    features, network = RelevanceScorer(LearnedPart(card, None)), RelevanceScorer(LearnedPart(card, reader))

    def by(scorer: RelevanceScorer) -> Ranker:
        return lambda row: scorer.score(
            row.question,
            row.candidates,
            [row.title] * len(row.candidates),
            vectors.question(row.question),
            vectors.candidates(row.candidates),
        )

    def head(row: EvidenceRow) -> list[float]:
        return network.numbers(row.question, row.candidates, [row.title] * len(row.candidates))

    return {"features": by(features), "head": head, "ours": by(network)}


def mean_of(*rankers: Ranker) -> Ranker:
    """Return what scores by the mean of several rankers' standard scores within the row."""

    def mean(row: EvidenceRow) -> list[float]:
        scores = [_standardised(ranker(row)) for ranker in rankers]
        return [float(found) for found in np.mean(scores, axis=0)]

    return mean


def _standardised(scores: Sequence[float]) -> NDArray[np.float64]:
    """Return scores with mean 0 and deviation 1, all of them 0 where they are the same."""
    found = np.asarray(scores, dtype=np.float64)
    return np.asarray((found - found.mean()) / (found.std() or 1.0))
