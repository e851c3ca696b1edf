"""Fits the weights of the support score: a logistic regression whose signs are fixed beforehand.

Some features are too rare in human labels to be fitted: `AT_LEAST` sets their least weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from assistant.checking.scorer import NOWHERE, SupportReader, SupportWeights
from assistant.learned.parts import LearnedPart
from corpus.encoders.base import Encoder
from evaluation.answers.attribution.pairs import LabelledPair, evidence_sentences, groups
from evaluation.input_files import EvaluationError

Matrix = NDArray[np.float64]

FOLDS, REPEATS, SEED = 5, 3, 0
SHRINK = 0.002
# Features that count against support; all others count for it, the claim's length either way.
AGAINST = frozenset(
    "words_scattered number_missing numbers_missing numbers_missing_near names_missing names_missing_near "
    "negation_added negation_lost direction_missing direction_reversed sentences".split()
)
EITHER = frozenset({"claim_length"})
AT_LEAST = {
    "negation_added": 1.0,
    "negation_lost": 1.5,
    "numbers_missing_near": 0.8,
    "names_missing_near": 0.6,
    "network": 0.45,
}


@dataclass(frozen=True, slots=True)
class Compared:
    """All pairs as features: a row for each pair, columns by `names`."""

    names: tuple[str, ...]
    rows: Matrix
    labels: NDArray[np.int64]
    sets: tuple[str, ...]
    groups: NDArray[np.int64]


def compare_pairs(
    pairs: Sequence[LabelledPair], encoder: Encoder, learned: LearnedPart | None = None
) -> Compared:
    """Compare every pair with its evidence, by default with the product's learned part."""
    features: list[Mapping[str, float]] = []
    for pair in pairs:
        reader = SupportReader(encoder, learned=learned)
        (found,) = reader.compare([pair.claim], [evidence_sentences(pair.references)])
        features.append(found.features if found else {})
    names = tuple(next(own for own in features if own))
    return Compared(
        names=names,
        rows=np.array([[own.get(name, 0.0) for name in names] for own in features]),
        labels=np.array([pair.label for pair in pairs], dtype=np.int64),
        sets=tuple(pair.set for pair in pairs),
        groups=np.array(groups(pairs), dtype=np.int64),
    )


def fit(compared: Compared, chosen: NDArray[np.bool_], *, with_network: bool = True) -> SupportWeights:
    """Fit the weights to the chosen pairs, and calibrate their scores (Platt)."""
    columns = [
        index
        for index, name in enumerate(compared.names)
        if name != NOWHERE and (with_network or not name.startswith("network"))
    ]
    names = [compared.names[index] for index in columns]
    rows, labels = compared.rows[chosen][:, columns], compared.labels[chosen]
    scale = rows.std(axis=0) + 1e-6
    weights = _fit_signed((rows - rows.mean(axis=0)) / scale, labels, names, scale) / scale
    curve = LogisticRegression(C=1e6).fit((rows @ weights)[:, None], labels)
    weights = weights * float(curve.coef_[0, 0])
    return SupportWeights(
        name="fitted",
        intercept=round(float(curve.intercept_[0]), 4),
        weights={name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)},
        provenance={},
    )


def _fit_signed(rows: Matrix, labels: NDArray[np.int64], names: Sequence[str], scale: Matrix) -> Matrix:
    """Fit the weights of standardised rows, each on its own side of zero."""
    signs = 2.0 * labels - 1

    def loss(point: Matrix) -> tuple[float, Matrix]:
        weights = point[:-1]
        margins = signs * (rows @ weights + point[-1])
        pull = -signs / (1 + np.exp(margins)) / len(rows)
        value = np.logaddexp(0, -margins).mean() + SHRINK * (weights**2).sum()
        return float(value), np.append(rows.T @ pull + 2 * SHRINK * weights, pull.sum())

    bounds = [_bounds(name, float(own)) for name, own in zip(names, scale, strict=True)]
    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B")
    return np.asarray(found.x[:-1], dtype=np.float64)


def _bounds(name: str, scale: float) -> tuple[float | None, float | None]:
    if name in EITHER:
        return None, None
    least = AT_LEAST.get(name, 0.0) * scale
    return (None, -least) if name in AGAINST else (least, None)


def scores(weights: SupportWeights, rows: Matrix, names: Sequence[str]) -> Matrix:
    return np.array([weights.score(dict(zip(names, row, strict=True))) for row in rows])


def cross_validated(compared: Compared, *, with_network: bool = True) -> Matrix:
    """Score pairs by weights fitted without their groups: means of several divisions into folds."""
    if len(set(compared.groups.tolist())) < FOLDS:
        raise EvaluationError(
            f"To hold some pairs back takes at least {FOLDS} groups of pairs that share nothing."
        )
    folds = [
        np.isin(np.arange(len(compared.rows)), held)
        for repeat in range(REPEATS)
        for _, held in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED + repeat).split(
            compared.rows, compared.labels, compared.groups
        )
    ]
    return _held_out_scores(compared, folds, with_network=with_network) / REPEATS


def across_sets(compared: Compared, *, with_network: bool = True) -> Matrix:
    """Score the pairs of each set by weights fitted to the other sets."""
    names = np.array(compared.sets)
    if len(set(compared.sets)) < 2:
        raise EvaluationError("To train on other sets takes at least two sets of pairs.")
    folds = [names == name for name in dict.fromkeys(compared.sets)]
    return _held_out_scores(compared, folds, with_network=with_network)


def _held_out_scores(compared: Compared, folds: Sequence[NDArray[np.bool_]], *, with_network: bool) -> Matrix:
    """Add up the scores of the pairs of each fold by weights fitted without it."""
    found = np.zeros(len(compared.rows))
    for held in folds:
        weights = fit(compared, ~held, with_network=with_network)
        found[held] += scores(weights, compared.rows[held], compared.names)
    return found
