"""Does the support score agree with people? Measured on labelled pairs and on claims made wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from assistant.checking import score_attribution, support_weights, thresholds
from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.settings import read_settings
from evaluation.answers.attribution.contrast import KINDS
from evaluation.answers.attribution.fitting import (
    Compared,
    Matrix,
    across_sets,
    compare_pairs,
    cross_validated,
    scores,
)
from evaluation.answers.attribution.pairs import LabelledPair, Selection, Verdict, read_pairs
from evaluation.harness import Figures, Report, command, decimals, table

BINS = 10


@dataclass(frozen=True, slots=True)
class AttributionFigures:
    """The figures of overlap and support: in all, per set, and per kind of contrast."""

    weights: str
    all: Figures
    sets: Mapping[str, Figures]
    contrast: Mapping[str, Figures]

    def to_json(self) -> Figures:
        return {**self.all, **{name: part for name, part in asdict(self).items() if name != "all"}}


def overlaps(pairs: Sequence[LabelledPair], compared: Compared) -> tuple[Matrix, Matrix]:
    """Return TruthReader's overlap for every pair and every contrast."""
    evidence = ["\n".join(pair.references) for pair in pairs]
    return (
        np.array([score_attribution(pair.claim, text) for pair, text in zip(pairs, evidence, strict=True)]),
        np.array([score_attribution(one.claim, evidence[one.pair]) for one in compared.contrasts]),
    )


def shipped(compared: Compared) -> tuple[Matrix, Matrix]:
    """Return the support of every pair and every contrast by the weights of the product."""
    rows = (compared.rows, compared.contrast_rows)
    own, changed = (scores(support_weights(), one, compared.names) for one in rows)
    return own, changed


def measure_attribution(
    pairs: Sequence[LabelledPair], compared: Compared, support: tuple[Matrix, Matrix], weights: str
) -> AttributionFigures:
    """Return the figures of the given support scores, of pairs and of contrasts, beside overlap's."""
    overlap = overlaps(pairs, compared)
    names = np.array(compared.sets)
    verdicts = np.array([pair.verdict for pair in pairs])
    kinds = np.array([contrast.kind for contrast in compared.contrasts])
    below = [changed < own[compared.contrast_pairs] for own, changed in (overlap, support)]
    return AttributionFigures(
        weights=weights,
        all=_figures(verdicts, overlap[0], support[0]),
        sets={
            name: _figures(verdicts[names == name], overlap[0][names == name], support[0][names == name])
            for name in dict.fromkeys(compared.sets)
        },
        contrast={
            kind: {
                "claims": int((kinds == kind).sum()),
                "below_overlap": float(below[0][kinds == kind].mean()),
                "below_support": float(below[1][kinds == kind].mean()),
            }
            for kind in KINDS
            if (kinds == kind).any()
        },
    )


def _figures(verdicts: NDArray[np.str_], overlap: Matrix, support: Matrix) -> Figures:
    """Return figures, None where a label that they need is missing."""
    labels = (verdicts == "supported").astype(np.int64)
    has_both, has_all = len(set(labels)) == 2, len(set(verdicts)) == len(get_args(Verdict))
    bars = thresholds()

    def auroc(found: Matrix) -> float | None:
        return float(roc_auc_score(labels, found)) if has_both else None

    def accuracy(found: NDArray[np.bool_]) -> float | None:
        return float(balanced_accuracy_score(labels, found.astype(np.int64))) if has_both else None

    said = np.select(
        [support >= bars.support.supported, support >= bars.support.partial], ["supported", "partial"], "not"
    )
    return {
        "pairs": len(labels),
        "supported": int(labels.sum()),
        "auroc_overlap": auroc(overlap),
        "auroc_support": auroc(support),
        "balanced_accuracy_overlap": accuracy(overlap >= bars.overlap.strong),
        "balanced_accuracy": accuracy(support >= bars.support.supported),
        "ece_overlap": calibration_error(labels, overlap),
        "ece": calibration_error(labels, support),
        "macro_f1": float(f1_score(verdicts, said, average="macro", zero_division=0)) if has_all else None,
    }


def calibration_error(labels: NDArray[np.int64], found: Matrix) -> float:
    """Return the expected calibration error over ten bins of equal width (Guo et al., 2017)."""
    bins = np.minimum((found * BINS).astype(np.int64), BINS - 1)
    gaps = (abs(float((labels[bins == one] - found[bins == one]).sum())) for one in range(BINS))
    return sum(gaps) / len(labels)


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
    chosen = read_pairs(pairs, Selection(tuple(only_set or ()), tuple(split or ()), sample))
    compared = compare_pairs(chosen, open_encoder(read_settings(), runtime))
    if cross_validate:
        weights, support = "cross-validated", cross_validated(compared)
    elif other_sets:
        weights, support = "other sets", across_sets(compared)
    else:
        weights, support = support_weights().name, shipped(compared)
    figures = measure_attribution(chosen, compared, support, weights)
    keys = (
        *("auroc_overlap", "balanced_accuracy_overlap", "ece_overlap"),
        *("auroc_support", "balanced_accuracy", "ece", "macro_f1"),
    )
    columns = [
        f"{score} {what}"
        for score in ("Overlap", "Support")
        for what in ("auroc", "balanced accuracy", "ece")
    ]
    sets = [
        (name, row["pairs"], *(decimals(row[key]) for key in keys))
        for name, row in {**figures.sets, "in all": figures.all}.items()
    ]
    changes = [
        (kind, one["claims"], f"{one['below_overlap']:.1%}", f"{one['below_support']:.1%}")
        for kind, one in figures.contrast.items()
    ]
    head = ("Set", "Pairs", *columns, "Support macro F1, three labels")
    shown = [
        table(head, sets, title=weights),
        table(("Changed", "Claims", "Below the original in overlap", "in support"), changes),
    ]
    return Report(figures.to_json(), shown)
