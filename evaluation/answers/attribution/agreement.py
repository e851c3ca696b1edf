"""Does the support score say what people say? Measured on labelled pairs and on claims made wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from assistant.checking import score_attribution, support_weights, thresholds
from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.settings import read_settings
from evaluation.answers.attribution.contrast import KINDS, Contrast
from evaluation.answers.attribution.fitting import (
    Compared,
    Matrix,
    across_sets,
    compare_pairs,
    cross_validated,
    scores,
)
from evaluation.answers.attribution.pairs import EVERYTHING, LabelledPair, Selection, Verdict, read_pairs

BINS = 10

Figures = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class ContrastFigures:
    """How often a claim made wrong scores below the one it was made from."""

    claims: int
    below_overlap: float
    below_support: float


@dataclass(frozen=True, slots=True)
class AttributionFigures:
    """What a file of pairs says of overlap and support: in all, per set, and per kind of contrast."""

    weights: str
    all: Figures
    sets: Mapping[str, Figures]
    contrast: Mapping[str, ContrastFigures]

    def to_json(self) -> dict[str, object]:
        return {
            **self.all,
            "weights": self.weights,
            "sets": dict(self.sets),
            "contrast": {kind: asdict(found) for kind, found in self.contrast.items()},
        }


def overlaps(pairs: Sequence[LabelledPair], changed: Sequence[Contrast]) -> tuple[Matrix, Matrix]:
    """Return TruthReader's overlap for every pair and every contrast."""
    return (
        np.array([_overlap(pair.claim, pair) for pair in pairs]),
        np.array([_overlap(contrast.claim, pairs[contrast.pair]) for contrast in changed]),
    )


def _overlap(claim: str, pair: LabelledPair) -> float:
    return score_attribution(claim, "\n".join(pair.references))


def shipped(compared: Compared) -> tuple[Matrix, Matrix]:
    """Return the support of every pair and every contrast by the weights of the product."""
    weights = support_weights()
    return (
        scores(weights, compared.rows, compared.names),
        scores(weights, compared.contrast_rows, compared.names),
    )


def measure_attribution(
    pairs: Sequence[LabelledPair],
    compared: Compared,
    support: tuple[Matrix, Matrix],
    weights: str,
) -> AttributionFigures:
    """Return the figures of the given support scores, of pairs and of contrasts, beside overlap's."""
    overlap = overlaps(pairs, compared.contrasts)
    names = np.array(compared.sets)
    verdicts = np.array([pair.verdict for pair in pairs])
    every = np.ones(len(pairs), dtype=bool)
    return AttributionFigures(
        weights=weights,
        all=_figures(verdicts, overlap[0], support[0], every),
        sets={
            name: _figures(verdicts, overlap[0], support[0], names == name)
            for name in dict.fromkeys(compared.sets)
        },
        contrast=_contrast_figures(compared, overlap, support),
    )


def _figures(
    verdicts: NDArray[np.str_], overlap: Matrix, support: Matrix, chosen: NDArray[np.bool_]
) -> Figures:
    verdicts, overlap, support = verdicts[chosen], overlap[chosen], support[chosen]
    labels = (verdicts == "supported").astype(np.int64)
    bars = thresholds()
    return {
        "pairs": len(labels),
        "supported": int(labels.sum()),
        "auroc_overlap": _auroc(labels, overlap),
        "auroc_support": _auroc(labels, support),
        "balanced_accuracy_overlap": _accuracy(labels, overlap >= bars.overlap.strong),
        "balanced_accuracy": _accuracy(labels, support >= bars.support.supported),
        "ece_overlap": calibration_error(labels, overlap),
        "ece": calibration_error(labels, support),
        "macro_f1": _macro_f1(verdicts, support),
    }


def _auroc(labels: NDArray[np.int64], found: Matrix) -> float | None:
    return float(roc_auc_score(labels, found)) if len(set(labels.tolist())) == 2 else None


def _accuracy(labels: NDArray[np.int64], said: NDArray[np.bool_]) -> float | None:
    if len(set(labels.tolist())) < 2:
        return None
    return float(balanced_accuracy_score(labels, said.astype(np.int64)))


def _macro_f1(verdicts: NDArray[np.str_], support: Matrix) -> float | None:
    """Return the mean F1 of supported, partial and not by the bars of support, None where one is missing."""
    if len(set(verdicts.tolist())) < len(get_args(Verdict)):
        return None
    bars = thresholds().support
    said = np.select([support >= bars.supported, support >= bars.partial], ["supported", "partial"], "not")
    return float(f1_score(verdicts, said, average="macro", zero_division=0))


def calibration_error(labels: NDArray[np.int64], found: Matrix) -> float:
    """Return the expected calibration error over ten bins of equal width (Guo et al., 2017)."""
    bins = np.minimum((found * BINS).astype(np.int64), BINS - 1)
    gaps = (abs(float((labels[bins == one] - found[bins == one]).sum())) for one in range(BINS))
    return sum(gaps) / len(labels)


def _contrast_figures(
    compared: Compared, overlap: tuple[Matrix, Matrix], support: tuple[Matrix, Matrix]
) -> dict[str, ContrastFigures]:
    kinds = np.array([contrast.kind for contrast in compared.contrasts])
    originals = compared.contrast_pairs
    below = [changed < pairs[originals] for pairs, changed in (overlap, support)]
    return {
        kind: ContrastFigures(
            int((kinds == kind).sum()),
            *(float(lower[kinds == kind].mean()) for lower in below),
        )
        for kind in KINDS
        if (kinds == kind).any()
    }


Scoring = Literal["shipped", "cross-validated", "other sets"]
_SCORINGS = {"shipped": shipped, "cross-validated": cross_validated, "other sets": across_sets}
_COLUMNS = ("auroc", "balanced accuracy", "ece")


def attribution_figures(
    file: Path, how: Scoring, runtime: Runtime | None, selection: Selection = EVERYTHING
) -> AttributionFigures:
    """Measure the selected pairs of a file; raises EvaluationError and CorpusError."""
    pairs = read_pairs(file, selection)
    compared = compare_pairs(pairs, open_encoder(read_settings(), runtime))
    name = support_weights().name if how == "shipped" else how
    return measure_attribution(pairs, compared, _SCORINGS[how](compared), name)


def attribution_tables(figures: AttributionFigures) -> tuple[Table, Table]:
    """Return what people read: a table of sets, and one of claims made wrong."""
    columns = [
        Column(f"{score} {what}", justify="right") for score in ("Overlap", "Support") for what in _COLUMNS
    ]
    columns.append(Column("Support macro F1, three labels", justify="right"))
    sets = Table("Set", Column("Pairs", justify="right"), *columns, box=SIMPLE_HEAD, title=figures.weights)
    for name, row in {**figures.sets, "in all": figures.all}.items():
        sets.add_row(name, str(row["pairs"]), *_cells(row))
    changes = Table("Changed", *(Column(name, justify="right") for name in _CHANGES), box=SIMPLE_HEAD)
    for kind, found in figures.contrast.items():
        changes.add_row(kind, str(found.claims), f"{found.below_overlap:.1%}", f"{found.below_support:.1%}")
    return sets, changes


_CHANGES = ("Claims", "Below the original in overlap", "in support")


def _cells(row: Figures) -> list[str]:
    keys = [
        *("auroc_overlap", "balanced_accuracy_overlap", "ece_overlap"),
        *("auroc_support", "balanced_accuracy", "ece", "macro_f1"),
    ]
    return ["" if (figure := row[key]) is None else f"{figure:.3f}" for key in keys]
