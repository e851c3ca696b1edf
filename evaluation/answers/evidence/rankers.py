"""Rankers of the candidates of a question, all registered in `open_rankers`."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assistant.learned.parts import LearnedPart, folder, read_part
from assistant.learned.relevance import RELEVANCE, RelevanceScorer
from corpus.encoders.base import Encoder
from corpus.language.bm25 import Bm25
from evaluation.answers.evidence.rows import EvidenceRow

# Scores each candidate of a row, the higher the better; it does not look at `relevant`.
Ranker = Callable[[EvidenceRow], Sequence[float]]

_DOCUMENTS_KEPT = 64


def open_rankers(encoder: Encoder) -> dict[str, Ranker]:
    """Open every ranker under its name, in the order in which they are listed.

    The learned relevance is measured by its features alone, by its network alone ("head"), and by both as the
    product has it ("ours").
    """
    # Rows of one document are encoded once.
    question = lru_cache(maxsize=1)(encoder.encode_query)
    candidates = lru_cache(maxsize=_DOCUMENTS_KEPT)(encoder.encode_passages)
    card, reader = read_part(RELEVANCE, folder(RELEVANCE))
    features, network = RelevanceScorer(LearnedPart(card, None)), RelevanceScorer(LearnedPart(card, reader))

    def cosine(row: EvidenceRow) -> list[float]:
        return [float(score) for score in candidates(row.candidates) @ question(row.question)]

    def both(row: EvidenceRow) -> list[float]:
        return [float(score) for score in (_standardise(bm25(row)) + _standardise(cosine(row))) / 2]

    def learned(scorer: RelevanceScorer) -> Ranker:
        return lambda row: scorer.score(
            row.question,
            row.candidates,
            row.candidate_titles,
            question(row.question),
            candidates(row.candidates),
        )

    def head(row: EvidenceRow) -> list[float]:
        return network.numbers(row.question, row.candidates, row.candidate_titles)

    return {
        "bm25": bm25,
        "cosine": cosine,
        "both": both,
        "features": learned(features),
        "head": head,
        "ours": learned(network),
    }


def bm25(row: EvidenceRow) -> list[float]:
    """Score candidates by BM25, words being counted among the row's own (Robertson et al., 1994)."""
    return Bm25(row.candidates).scores(row.question)


def _standardise(scores: Sequence[float]) -> NDArray[np.float64]:
    """Scale scores to mean 0 and deviation 1, all of them to 0 where they are the same."""
    found = np.asarray(scores, dtype=np.float64)
    return np.asarray((found - found.mean()) / (found.std() or 1.0))
