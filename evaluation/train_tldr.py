"""Fits the weights that choose and shorten the one sentence on a paper, on SciTLDR's training papers."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.feature_extraction import DictVectorizer

from evaluation.harness import Report, command
from evaluation.paper_summaries import TldrItem, read_tldr_items
from evaluation.rouge import highest_rouge1
from indexer.enrich.tldr import TLDR_WEIGHTS, TldrCandidate, tldr_candidates

Matrix = NDArray[np.float64]

# A paper's candidates with the ROUGE-1 of each against people's sentences.
Rewarded = tuple[list[TldrCandidate], Matrix]

# The penalty on squared weights; chosen by cross-validation among .003, .01, .03 and .06.
SHRINK = 0.03
FOLDS, ITERATIONS = 5, 200
# Features that fewer candidates have, and smaller weights, are dropped.
_FEWEST, _SMALLEST = 20, 0.02
_HEAD = """\
# Coefficients of a linear model over the forms of the sentences of an abstract: "sentence ..." is of the
# whole sentence, the rest of the form. Made by `paper-trail eval train-tldr`; not to be edited.
"""


@command("train-tldr")
def train_tldr(data: Path, out_file: Path = TLDR_WEIGHTS, split: str = "train") -> Report:
    items = [item for item in read_tldr_items(data, split)[1] if item.source]
    papers = [_rewarded(item) for item in items]
    # The figures are cross-validated by paper; the weights are fitted on all papers.
    provenance: dict[str, str | int | float] = {
        "trained_on": f"SciTLDR, {split} (Apache-2.0)",
        "papers": len(papers),
        "sentences_and_forms": sum(len(candidates) for candidates, _ in papers),
        "trained": datetime.now(UTC).date().isoformat(),
        "shrink": SHRINK,
        **cross_validate(items, papers),
    }
    weights = {name: round(weight, 2) for name, weight in fit(papers).items() if abs(weight) >= _SMALLEST}
    out_file.write_text(_written(provenance, weights), encoding="utf-8")
    return Report(provenance)


def _rewarded(item: TldrItem) -> Rewarded:
    candidates = tldr_candidates(item.title, item.source)
    return candidates, np.array([highest_rouge1(own.text, item.targets) for own in candidates])


def cross_validate(items: Sequence[TldrItem], papers: Sequence[Rewarded]) -> dict[str, float]:
    """Compute ROUGE-1 of the choice by weights fitted without the paper, of the lead, of the best form."""
    folds = [(paper, zlib.crc32(item.id.encode()) % FOLDS) for paper, item in zip(papers, items, strict=True)]
    chosen: list[float] = []
    for fold in range(FOLDS):
        weights = fit([paper for paper, own in folds if own != fold])
        for candidates, rewards in (paper for paper, own in folds if own == fold):
            best = int(np.argmax([candidate.score(weights) for candidate in candidates]))
            chosen.append(float(rewards[best]))
    figures = {
        "cross_validated_rouge1": fmean(chosen),
        "lead_rouge1": fmean(highest_rouge1(item.source[0], item.targets) for item in items),
        "best_form_rouge1": fmean(float(rewards.max()) for _, rewards in papers),
    }
    return {name: round(figure, 2) for name, figure in figures.items()}


def fit(papers: Sequence[Rewarded]) -> dict[str, float]:
    """Fit the weights under which a form drawn by its softmax score has the highest expected ROUGE-1."""
    rows = [candidate.features for candidates, _ in papers for candidate in candidates]
    counts = Counter(name for features in rows for name, value in features.items() if value)
    kept = {name for name, count in counts.items() if count >= _FEWEST}
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(
        [{name: value for name, value in features.items() if name in kept} for features in rows]
    )
    starts = np.cumsum([0, *(len(candidates) for candidates, _ in papers)])[:-1]
    rewards = np.concatenate([own for _, own in papers])
    paper_of = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rewards)]))

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        scores = matrix @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[paper_of])
        shares = raised / np.add.reduceat(raised, starts)[paper_of]
        expected = np.add.reduceat(shares * rewards, starts)
        slope = matrix.T @ (shares * (rewards - expected[paper_of])) / len(starts)
        return SHRINK * float(weights @ weights) - float(expected.mean()), 2 * SHRINK * weights - slope

    start = np.zeros(matrix.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return dict(zip(vectorizer.get_feature_names_out(), map(float, found.x), strict=True))


def _written(provenance: Mapping[str, object], weights: Mapping[str, float]) -> str:
    """Write TOML, which reads numbers and quoted strings as JSON writes them."""
    tables = {"provenance": provenance, "weights": dict(sorted(weights.items()))}
    lines = [
        f"\n[{name}]\n" + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in rows.items())
        for name, rows in tables.items()
    ]
    return _HEAD + "".join(lines)
