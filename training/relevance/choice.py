"""How likely a sentence belongs to an answer: scales of the choice, fitted on judged questions."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.generators import MOST_READ, answerable_features, read_features, with_kind
from assistant.learned import ANSWERABLE, CHOICE, RelevanceScorer, shares
from evaluation.judged import FULL, JudgedQuestion
from training.errors import TrainingError
from training.relevance.judged import JudgedCandidates, JudgedData, foreign_candidates, judged_candidates
from training.scales import fitted_scale

FREEDOM = 0.01
FOREIGN = 0.25  # of a near miss: how much a question counts that is asked of a foreign corpus


@dataclass(frozen=True, slots=True)
class _Rows:
    """The candidates of a question with what tells of them, and their grades."""

    question: JudgedQuestion
    features: Mapping[str, Sequence[float]]
    grades: NDArray[np.float64]


def choice_scales(data: JudgedData, network: RelevanceScorer, seed: int) -> dict[str, dict[str, float]]:
    """Return the scales by name: of the choice, and of whether anything found answers at all.

    Each with the network's numbers and without: the likeliest without are those that the network reads. What
    nothing answers is learned from near misses and, as they are few, from questions to a foreign corpus.
    """
    asked = [one for one in judged_candidates(data) if one.compared.candidates]
    foreign = [one for one in foreign_candidates(data) if one.compared.candidates]
    unread, far = [*map(_unread_rows, asked)], [*map(_unread_rows, foreign)]
    _check_enough(unread)
    first = _scale(unread, seed)
    read = [_read_rows(one, first, network) for one in asked]
    far_read = [_read_rows(one, first, network) for one in foreign]
    return {
        f"{CHOICE}_features": first,
        f"{CHOICE}_all": _scale(read, seed),
        f"{ANSWERABLE}_features": _answerable_scale(unread, far, seed),
        f"{ANSWERABLE}_all": _answerable_scale(read, far_read, seed),
    }


def _unread_rows(one: JudgedCandidates) -> _Rows:
    return _Rows(one.question, with_kind(one.compared.features, one.asking.kind), one.grades)


def _read_rows(one: JudgedCandidates, unread: Mapping[str, float], network: RelevanceScorer) -> _Rows:
    """Return the candidates that the network reads, with what it makes of them."""
    features, kind = one.compared.features, one.asking.kind
    likely = shares(with_kind(features, kind), unread)
    kept = np.argsort(-np.asarray(likely), kind="stable")[:MOST_READ]
    candidates = [one.compared.candidates[at] for at in kept]
    titles = [item.paper.paper.title for item in candidates]
    numbers = network.numbers(one.asking.query, [item.text for item in candidates], titles)
    few = {name: [values[at] for at in kept] for name, values in features.items()}
    read = with_kind(few | read_features(numbers, candidates), kind)
    return _Rows(one.question, read, one.grades[kept])


def _answerable_scale(rows: Sequence[_Rows], foreign: Sequence[_Rows], seed: int) -> dict[str, float]:
    """Return the regression of whether a question can be answered on the best that was found for it.

    The chances of each half of the questions are those of a scale fitted on the other half.
    """
    features: dict[str, list[float]] = defaultdict(list)
    answers: list[bool] = []
    weights: list[float] = []
    for half in (0, 1):
        scale = _scale([row for row in rows if _half(row) != half], seed)
        counted = [(row, 1.0) for row in rows] + [(row, FOREIGN) for row in foreign]
        for row, weight in ((row, weight) for row, weight in counted if _half(row) == half):
            for name, (value,) in answerable_features(row.features, shares(row.features, scale)).items():
                features[name].append(value)
            answers.append(row.question.answerable)
            weights.append(weight)
    return fitted_scale(features, answers, seed, weights=weights)


def _check_enough(rows: Sequence[_Rows]) -> None:
    """Raise TrainingError unless both halves of the questions hold some that are answered and some not."""
    for half in (0, 1):
        own = [row for row in rows if _half(row) == half]
        graded = {grade for row in own for grade in row.grades[~np.isnan(row.grades)].tolist()}
        if len({row.question.answerable for row in own}) < 2 or not {FULL, 0.0} <= graded:
            raise TrainingError(
                "The judged questions are too few: each half needs answered and unanswered ones."
            )


def _half(row: _Rows) -> int:
    return hashlib.sha256(row.question.id.encode()).digest()[0] % 2


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
