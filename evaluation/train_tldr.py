"""Fits the weights that choose and shorten a paper's one-sentence summary, on SciTLDR's training papers."""

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

# A paper's candidate sentences, and the ROUGE-1 of each against the sentences that people wrote.
ScoredCandidates = tuple[list[TldrCandidate], Matrix]

# L2 penalty on the weights; chosen by cross-validation among .003, .01, .03 and .06.
SHRINK = 0.03
FOLDS, ITERATIONS = 5, 200
# Features of fewer candidates, and weights of a smaller size, are dropped.
_FEWEST_CANDIDATES, _SMALLEST_WEIGHT = 20, 0.02
_HEAD = """\
# Coefficients of a linear model over the forms of the sentences of an abstract: "sentence ..." is of the
# whole sentence, the rest of the form. Made by `paper-trail eval train-tldr`; not to be edited.
"""


@command("train-tldr")
def train_tldr(data: Path, out_file: Path = TLDR_WEIGHTS, split: str = "train") -> Report:
    items = [item for item in read_tldr_items(data, split)[1] if item.source]
    papers = [_score_candidates(item) for item in items]
    # The figures are cross-validated by paper; the weights are fitted on all papers.
    provenance: dict[str, str | int | float] = {
        "trained_on": f"SciTLDR, {split} (Apache-2.0)",
        "papers": len(papers),
        "sentences_and_forms": sum(len(candidates) for candidates, _ in papers),
        "trained": datetime.now(UTC).date().isoformat(),
        "shrink": SHRINK,
        **cross_validate(items, papers),
    }
    weights = {
        name: round(weight, 2) for name, weight in fit(papers).items() if abs(weight) >= _SMALLEST_WEIGHT
    }
    out_file.write_text(_to_toml(provenance, weights), encoding="utf-8")
    return Report(provenance)


def _score_candidates(item: TldrItem) -> ScoredCandidates:
    candidates = tldr_candidates(item.title, item.source)
    return candidates, np.array([highest_rouge1(candidate.text, item.targets) for candidate in candidates])


def cross_validate(items: Sequence[TldrItem], papers: Sequence[ScoredCandidates]) -> dict[str, float]:
    """Compute the mean ROUGE-1 of the chosen (cross-validated), the first and the best candidates."""
    folds = [(paper, zlib.crc32(item.id.encode()) % FOLDS) for paper, item in zip(papers, items, strict=True)]
    chosen: list[float] = []
    for fold in range(FOLDS):
        weights = fit([paper for paper, paper_fold in folds if paper_fold != fold])
        for candidates, rewards in (paper for paper, paper_fold in folds if paper_fold == fold):
            best = int(np.argmax([candidate.score(weights) for candidate in candidates]))
            chosen.append(float(rewards[best]))
    figures = {
        "cross_validated_rouge1": fmean(chosen),
        "lead_rouge1": fmean(highest_rouge1(item.source[0], item.targets) for item in items),
        "best_form_rouge1": fmean(float(rewards.max()) for _, rewards in papers),
    }
    return {name: round(figure, 2) for name, figure in figures.items()}


def fit(papers: Sequence[ScoredCandidates]) -> dict[str, float]:
    """Fit weights that maximise the expected ROUGE-1 of a candidate drawn by the softmax of the scores."""
    rows = [candidate.features for candidates, _ in papers for candidate in candidates]
    counts = Counter(name for features in rows for name, value in features.items() if value)
    frequent = {name for name, count in counts.items() if count >= _FEWEST_CANDIDATES}
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(
        [{name: value for name, value in features.items() if name in frequent} for features in rows]
    )
    starts = np.cumsum([0, *(len(candidates) for candidates, _ in papers)])[:-1]
    rewards = np.concatenate([paper_rewards for _, paper_rewards in papers])
    paper_of = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rewards)]))

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        scores = matrix @ weights
        exponentials = np.exp(scores - np.maximum.reduceat(scores, starts)[paper_of])
        shares = exponentials / np.add.reduceat(exponentials, starts)[paper_of]
        expected = np.add.reduceat(shares * rewards, starts)
        gradient = matrix.T @ (shares * (rewards - expected[paper_of])) / len(starts)
        return SHRINK * float(weights @ weights) - float(expected.mean()), 2 * SHRINK * weights - gradient

    start = np.zeros(matrix.shape[1])
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return dict(zip(vectorizer.get_feature_names_out(), map(float, optimum.x), strict=True))


def _to_toml(provenance: Mapping[str, object], weights: Mapping[str, float]) -> str:
    """Format the weights as TOML, whose numbers and quoted strings are those of JSON."""
    tables = {"provenance": provenance, "weights": dict(sorted(weights.items()))}
    lines = [
        f"\n[{name}]\n" + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in rows.items())
        for name, rows in tables.items()
    ]
    return _HEAD + "".join(lines)
