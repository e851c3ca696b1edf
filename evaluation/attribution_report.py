"""The commands on attribution: from a file of pairs to figures, tables and weights."""

from pathlib import Path
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.support.scorer import SupportWeights, support_weights
from corpus.encoder import Runtime
from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
from evaluation.attribution import AttributionFigures, Figures, measure_attribution, shipped
from evaluation.pairs import read_pairs
from evaluation.train_support import (
    across_sets,
    compare_pairs,
    cross_validated,
    trained_weights,
    write_weights,
)

Scoring = Literal["shipped", "cross-validated", "other sets"]
_SCORINGS = {"shipped": shipped, "cross-validated": cross_validated, "other sets": across_sets}
_COLUMNS = ("auroc", "balanced accuracy", "ece")


def attribution_figures(file: Path, how: Scoring, runtime: Runtime | None) -> AttributionFigures:
    """Measure a file of pairs; raises PairsError and CorpusError."""
    pairs = read_pairs(file)
    compared = compare_pairs(pairs, open_encoder(read_settings(), runtime))
    name = support_weights().name if how == "shipped" else how
    return measure_attribution(pairs, compared, _SCORINGS[how](compared), name)


def train(file: Path, weights_file: Path, runtime: Runtime | None) -> SupportWeights:
    """Train on a file of pairs and write the weights; raises PairsError and CorpusError."""
    pairs, encoder = read_pairs(file), open_encoder(read_settings(), runtime)
    weights = trained_weights(pairs, compare_pairs(pairs, encoder), encoder)
    write_weights(weights, weights_file)
    return weights


def attribution_tables(figures: AttributionFigures) -> tuple[Table, Table]:
    """Return what people read: a table of sets, and one of claims made wrong."""
    scores = [
        Column(f"{score} {what}", justify="right") for score in ("Overlap", "Support") for what in _COLUMNS
    ]
    sets = Table("Set", Column("Pairs", justify="right"), *scores, box=SIMPLE_HEAD, title=figures.weights)
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
        *("auroc_support", "balanced_accuracy", "ece"),
    ]
    return ["" if (figure := row[key]) is None else f"{figure:.3f}" for key in keys]
