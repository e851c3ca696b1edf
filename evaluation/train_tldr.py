"""Fits the weights that choose and shorten the one sentence on a paper, on SciTLDR's training papers."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from evaluation.rouge import highest_rouge1
from evaluation.tldr import TldrItem, read_tldr_items
from indexer.enrich import TLDR_WEIGHTS, TldrCandidate, tldr_candidates

Matrix = NDArray[np.float64]
Provenance = dict[str, str | int | float]

# How strongly weights are held down; chosen by cross-validation, like all else, among .003, .01, .03 and .06.
SHRINK = 0.03
FOLDS = 5
ITERATIONS = 200
# A feature of fewer candidates tells nothing.
_FEWEST = 20
# Smaller weights change no choice.
_SMALLEST = 0.02
_HEAD = """\
# Coefficients of a linear model over the forms of the sentences of an abstract: "sentence ..." is of the
# whole sentence, the rest of the form. Made by `paper-trail eval train-tldr`; not to be edited.
"""


@dataclass(frozen=True, slots=True)
class Rewarded:
    """A paper's candidates with the ROUGE-1 of each against what people wrote."""

    candidates: list[TldrCandidate]
    rewards: Matrix


def train_tldr(data: Path, out: Path = TLDR_WEIGHTS, split: str = "train") -> Provenance:
    """Fit the weights, write them and return where they come from; raises EvaluationError.

    The figures are those of cross-validation by paper; what is kept is fitted on all papers.
    """
    _, items = read_tldr_items(data, split)
    papers = [_rewarded(item) for item in items if item.source]
    provenance: Provenance = {
        "trained_on": f"SciTLDR, {split} (Apache-2.0)",
        "papers": len(papers),
        "sentences_and_forms": sum(len(paper.candidates) for paper in papers),
        "trained": datetime.now(UTC).date().isoformat(),
        "shrink": SHRINK,
        **cross_validate(items, papers),
    }
    weights = {name: round(weight, 2) for name, weight in fit(papers).items() if abs(weight) >= _SMALLEST}
    out.write_text(_written(provenance, weights), encoding="utf-8")
    return provenance


def _rewarded(item: TldrItem) -> Rewarded:
    candidates = tldr_candidates(item.title, item.source)
    rewards = [highest_rouge1(candidate.text, item.targets) for candidate in candidates]
    return Rewarded(candidates, np.array(rewards))


def cross_validate(items: Sequence[TldrItem], papers: Sequence[Rewarded]) -> dict[str, float]:
    """Return the ROUGE-1 of what weights choose that did not see the paper, of the lead, and of the best."""
    folds = [zlib.crc32(item.id.encode()) % FOLDS for item in items if item.source]
    chosen: list[float] = []
    for fold in range(FOLDS):
        weights = fit([paper for paper, own in zip(papers, folds, strict=True) if own != fold])
        chosen += [_reward(weights, paper) for paper, own in zip(papers, folds, strict=True) if own == fold]
    lead = fmean(highest_rouge1(item.source[0], item.targets) for item in items if item.source)
    oracle = fmean(float(paper.rewards.max()) for paper in papers)
    figures = {"cross_validated_rouge1": fmean(chosen), "lead_rouge1": lead, "best_form_rouge1": oracle}
    return {name: round(figure, 2) for name, figure in figures.items()}


def _reward(weights: dict[str, float], paper: Rewarded) -> float:
    scores = [candidate.score(weights) for candidate in paper.candidates]
    return float(paper.rewards[int(np.argmax(scores))])


def fit(papers: Sequence[Rewarded]) -> dict[str, float]:
    """Return the weights under which a form drawn by its likelihood has the highest expected ROUGE-1."""
    rows = [candidate.features for paper in papers for candidate in paper.candidates]
    counts = Counter(name for features in rows for name, value in features.items() if value)
    names = sorted(name for name, count in counts.items() if count >= _FEWEST)
    places = {name: place for place, name in enumerate(names)}
    cells = [
        (row, places[name], value)
        for row, features in enumerate(rows)
        for name, value in features.items()
        if name in places
    ]
    at_row, at_name, values = zip(*cells, strict=True)
    matrix = csr_matrix((values, (at_row, at_name)), shape=(len(rows), len(names)))
    starts = np.cumsum([0, *(len(paper.candidates) for paper in papers)])[:-1]
    fitted = _fit_rows(matrix, starts, np.concatenate([paper.rewards for paper in papers]))
    return dict(zip(names, map(float, fitted), strict=True))


def _fit_rows(rows: csr_matrix, starts: NDArray[np.int64], rewards: Matrix) -> Matrix:
    """Maximise the mean expected reward, less a penalty on the squares; a paper's forms stand together."""
    paper_of = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rewards)]))

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        scores = rows @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[paper_of])
        shares = raised / np.add.reduceat(raised, starts)[paper_of]
        expected = np.add.reduceat(shares * rewards, starts)
        slope = rows.T @ (shares * (rewards - expected[paper_of])) / len(starts)
        return SHRINK * float(weights @ weights) - float(expected.mean()), 2 * SHRINK * weights - slope

    start = np.zeros(rows.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return np.asarray(found.x, dtype=np.float64)


def _written(provenance: Provenance, weights: dict[str, float]) -> str:
    """Return the file as TOML, which reads numbers and quoted strings as JSON writes them."""
    tables: dict[str, Mapping[str, str | int | float]] = {
        "provenance": provenance,
        "weights": dict(sorted(weights.items())),
    }
    lines = [
        f"\n[{table}]\n"
        + "".join(f"{json.dumps(name)} = {json.dumps(value)}\n" for name, value in rows.items())
        for table, rows in tables.items()
    ]
    return _HEAD + "".join(lines)
