"""From numbers to shares: a logistic regression over features, standardised and folded into plain weights."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

Features = Mapping[str, Sequence[float]]


def fitted_scale(
    features: Features,
    answers: Sequence[bool],
    seed: int,
    *,
    weights: Sequence[float] | None = None,
    freedom: float = 1.0,
) -> dict[str, float]:
    """Return weights by name and the intercept of the regression of `answers` on features.

    `weights` says how much each answer counts, the same by default; the less `freedom`, the smaller weights.
    """
    names = sorted(features)
    matrix = np.column_stack([np.asarray(features[name], dtype=np.float64) for name in names])
    middle, spread = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-6)
    model = LogisticRegression(C=freedom, max_iter=2000, random_state=seed)
    model.fit((matrix - middle) / spread, np.asarray(answers), sample_weight=weights)
    own: NDArray[np.float64] = model.coef_[0] / spread
    intercept = float(model.intercept_[0] - own @ middle)
    return {"intercept": round(intercept, 5)} | {
        name: round(float(weight), 5) for name, weight in zip(names, own, strict=True)
    }
