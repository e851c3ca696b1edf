"""How likely a sentence belongs to an answer: scales of the choice, fitted on judged questions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.generators import MOST_READ, read_features, with_kind
from assistant.learned import RelevanceScorer, shares
from training.relevance.judged import JudgedCandidates
from training.scales import fitted_scale

FREEDOM = 0.1


@dataclass(frozen=True, slots=True)
class _Rows:
    """The candidates of a question with what tells of them, and their grades."""

    features: Mapping[str, Sequence[float]]
    grades: NDArray[np.float64]


def choice_scales(
    asked: Sequence[JudgedCandidates], network: RelevanceScorer, seed: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scale of what no network has read, and of what it has read: the likeliest by the first."""
    rows = [
        _Rows(with_kind(one.compared.features, one.asking.kind), one.grades)
        for one in asked
        if one.compared.candidates
    ]
    unread = _scale(rows, seed)
    return unread, _scale([read_rows(one, unread, network) for one in asked if one.compared.candidates], seed)


def read_rows(one: JudgedCandidates, unread: Mapping[str, float], network: RelevanceScorer) -> _Rows:
    """Return the candidates that the network reads, with what it makes of them."""
    features, kind = one.compared.features, one.asking.kind
    likely = shares(with_kind(features, kind), unread)
    kept = np.argsort(-np.asarray(likely), kind="stable")[:MOST_READ]
    candidates = [one.compared.candidates[at] for at in kept]
    titles = [item.paper.paper.title for item in candidates]
    numbers = network.numbers(one.asking.query, [item.text for item in candidates], titles)
    few = {name: [values[at] for at in kept] for name, values in features.items()}
    return _Rows(with_kind(few | read_features(numbers, candidates), kind), one.grades[kept])


def _scale(rows: Sequence[_Rows], seed: int) -> dict[str, float]:
    """Return the regression of grades on features: what answers half counts half as answering, half as not.

    A question with many sentences that answer counts more than one with few, but not as many times.
    """
    names = sorted({name for row in rows for name in row.features})
    features: dict[str, list[float]] = {name: [] for name in names}
    answers: list[bool] = []
    weights: list[float] = []
    for row in rows:
        known = np.flatnonzero(~np.isnan(row.grades))
        own = 1 / math.sqrt(1 + np.count_nonzero(row.grades[known]))
        for at in known.tolist():
            for answer, counts in ((True, row.grades[at]), (False, 1 - row.grades[at])):
                if counts:
                    answers.append(answer)
                    weights.append(own * counts)
                    for name in names:
                        features[name].append(row.features[name][at] if name in row.features else 0.0)
    return fitted_scale(features, answers, seed, weights=weights, freedom=FREEDOM)
