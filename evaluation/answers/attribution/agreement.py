"""Overlap and support score against human labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from assistant.checking.overlap import score_attribution
from assistant.checking.scorer import support_weights
from assistant.checking.thresholds import thresholds
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Runtime
from corpus.settings import read_settings
from evaluation.answers.attribution.fitting import Matrix, across_sets, compare_pairs, cross_validated, scores
from evaluation.answers.attribution.pairs import LabelledPair, Verdict, read_pairs
from evaluation.harness import Figures, Report, command, figures_table

BINS = 10


def measure_attribution(pairs: Sequence[LabelledPair], support: Matrix) -> Figures:
    """Measure support scores of pairs beside TruthReader's overlap, in all and under "sets" of each set."""
    overlap = np.array([score_attribution(pair.claim, "\n".join(pair.references)) for pair in pairs])
    names = np.array([pair.set for pair in pairs])
    verdicts = np.array([pair.verdict for pair in pairs])
    sets = {
        name: _figures(verdicts[names == name], overlap[names == name], support[names == name])
        for name in dict.fromkeys(pair.set for pair in pairs)
    }
    return {**_figures(verdicts, overlap, support), "sets": sets}


def _figures(verdicts: NDArray[np.str_], overlap: Matrix, support: Matrix) -> Figures:
    """Compute figures, None where a label that they need is missing."""
    labels = (verdicts == "supported").astype(np.int64)
    bars = thresholds()
    found: Figures = {"pairs": len(labels), "supported": int(labels.sum())}
    for name, scored, bar in (
        ("_overlap", overlap, bars.overlap.strong),
        ("", support, bars.support.supported),
    ):
        has_both = len(set(labels)) == 2
        auroc = float(roc_auc_score(labels, scored)) if has_both else None
        accuracy = float(balanced_accuracy_score(labels, scored >= bar)) if has_both else None
        found[f"auroc{name or '_support'}"] = auroc
        found[f"balanced_accuracy{name}"] = accuracy
        found[f"ece{name}"] = calibration_error(labels, scored)
    predicted = np.select(
        [support >= bars.support.supported, support >= bars.support.partial], ["supported", "partial"], "not"
    )
    has_all = len(set(verdicts)) == len(get_args(Verdict))
    macro = float(f1_score(verdicts, predicted, average="macro", zero_division=0)) if has_all else None
    return {**found, "macro_f1": macro}


def calibration_error(labels: NDArray[np.int64], scored: Matrix) -> float:
    """Compute the expected calibration error over ten bins of equal width (Guo et al., 2017)."""
    bins = np.minimum((scored * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, weights=labels - scored, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


@command("attribution")
def attribution(
    pairs: Path,
    *,
    cross_validate: bool = False,
    other_sets: bool = False,
    only_set: list[str] | None = None,
    split: list[str] | None = None,
    sample: int | None = None,
    runtime: Runtime | None = None,
) -> Report:
    chosen = read_pairs(pairs, only_set or (), split or (), sample)
    compared = compare_pairs(chosen, open_encoder(read_settings(), runtime))
    if cross_validate:
        weights, support = "cross-validated", cross_validated(compared)
    elif other_sets:
        weights, support = "other sets", across_sets(compared)
    else:
        weights = support_weights().name
        support = scores(support_weights(), compared.rows, compared.names)
    figures = {"weights": weights, **measure_attribution(chosen, support)}
    columns = {
        "pairs": "Pairs",
        "auroc_overlap": "Overlap auroc",
        "balanced_accuracy_overlap": "Overlap balanced accuracy",
        "ece_overlap": "Overlap ece",
        "auroc_support": "Support auroc",
        "balanced_accuracy": "Support balanced accuracy",
        "ece": "Support ece",
        "macro_f1": "Support macro F1, three labels",
    }
    table = figures_table("Set", {**figures["sets"], "in all": figures}, columns, title=weights)
    return Report(figures, [table])
