"""Measures the overlap and the support score on claims with human labels, and fits the support score.

Some features are too rare in the labelled data to be fitted: `AT_LEAST` sets a minimum for their weights.
"""

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold

from assistant.checking.features import strip_references
from assistant.checking.overlap import score_attribution
from assistant.checking.scorer import NOWHERE, SupportReader, SupportWeights, support_weights
from assistant.checking.thresholds import thresholds
from assistant.learned.parts import LearnedPart
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime
from corpus.sentences import sentence_spans
from corpus.settings import read_settings
from evaluation.harness import Figures, Report, command, figures_table
from evaluation.input_files import EvaluationError, read_json_lines

LONGEST_REFERENCE = 200_000
LONGEST_SENTENCE = 1000
BINS = 10  # of the calibration error
FOLDS, REPEATS, SEED = 5, 3, 0
SHRINK = 0.002  # L2 penalty on the weights
# Features that count against support. All others count for it, except the claim's length.
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
# Web pages lose the space between sentences: "impacts.Climate risks".
_GLUED = re.compile(r"(?<=[a-z)\]])\.(?=[A-Z][a-z]*[ ,])")
_HINT = "Each line has claim, references (or evidence) and label (1 or 0; or supported, partial, not)."

Verdict = Literal["supported", "partial", "not"]
_NUMBERED = {1: "supported", 0: "not"}


class LabelledPair(BaseModel, frozen=True, extra="ignore"):
    """A claim, the texts that it cites (`references`, or one text `evidence`), and people's `label`."""

    claim: str
    references: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
        Field(min_length=1, validation_alias=AliasChoices("references", "evidence")),
    ]
    verdict: Annotated[
        Verdict,
        BeforeValidator(lambda value: _NUMBERED.get(value, value) if type(value) is int else value),
        Field(validation_alias="label"),
    ]
    set: str = "all"
    split: str = ""
    question: str = ""

    @property
    def label(self) -> Literal[0, 1]:
        """1 for a supported claim, 0 for one that is partially or not supported."""
        return 1 if self.verdict == "supported" else 0


def read_pairs(
    path: Path, sets: Collection[str] = (), splits: Collection[str] = (), sample: int | None = None
) -> tuple[LabelledPair, ...]:
    """Read the pairs of the named sets and splits, by default of all, at most `sample` of each set.

    The sample is seeded with the set's name. Raises EvaluationError that names the line at fault.
    """
    pairs = read_all_pairs(path)
    for option, names, known in (
        ("set", sets, {pair.set for pair in pairs}),
        ("split", splits, {pair.split for pair in pairs}),
    ):
        if unknown := sorted(set(names) - known):
            listed = ", ".join(sorted(known))
            raise EvaluationError(f"{path} has no pair of the {option} {unknown[0]!r}, only of: {listed}.")
    by_set: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        if pair.set in (sets or (pair.set,)) and pair.split in (splits or (pair.split,)):
            by_set.setdefault(pair.set, []).append(index)
    for name, indices in by_set.items():
        if sample is not None and len(indices) > sample:
            by_set[name] = random.Random(name).sample(indices, sample)
    chosen = tuple(pairs[index] for index in sorted(chain.from_iterable(by_set.values())))
    if {pair.label for pair in chosen} != {0, 1}:
        raise EvaluationError(f"{path} must contain supported pairs (label 1) and others (label 0).")
    return chosen


def read_all_pairs(path: Path) -> list[LabelledPair]:
    """Read all pairs of a file; raises EvaluationError that names the line at fault."""
    return read_json_lines(path, LabelledPair, _HINT)


def evidence_sentences(references: Sequence[str]) -> tuple[str, ...]:
    """Split references into sentences and remove citation labels and URLs from them."""
    texts = (_GLUED.sub(". ", reference[:LONGEST_REFERENCE]) for reference in references)
    return tuple(
        sentence
        for text in texts
        for start, end in sentence_spans(text)
        if (sentence := strip_references(text[start:end])[:LONGEST_SENTENCE])
    )


def groups(pairs: Sequence[LabelledPair]) -> list[int]:
    """Return a group number for each pair; pairs with the same question, claim or references share it."""
    nodes: dict[tuple[str, str], int] = {}
    links: list[tuple[int, int]] = []
    for pair in pairs:
        claim = nodes.setdefault(("claim", pair.claim), len(nodes))
        shared = [("reference", "".join(pair.references))]
        shared += [("question", pair.question)] if pair.question else []
        links += [(claim, nodes.setdefault(key, len(nodes))) for key in shared]
    ends = tuple(np.array(links, dtype=np.int64).reshape(-1, 2).T)
    graph = coo_array((np.ones(len(links)), ends), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(graph, directed=False)
    numbers: dict[int, int] = {}
    components = (int(labels[nodes["claim", pair.claim]]) for pair in pairs)
    return [numbers.setdefault(component, len(numbers)) for component in components]


Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairFeatures:
    """The features of pairs: a row for each pair; `names` are the columns."""

    names: tuple[str, ...]
    rows: Matrix
    labels: NDArray[np.int64]
    sets: tuple[str, ...]
    groups: NDArray[np.int64]


def compare_pairs(
    pairs: Sequence[LabelledPair], encoder: Encoder, learned: LearnedPart | None = None
) -> PairFeatures:
    """Compute the features of every claim and its evidence, by default with the product's learned part."""
    features: list[Mapping[str, float]] = []
    for pair in pairs:
        reader = SupportReader(encoder, learned=learned)
        (comparison,) = reader.compare([pair.claim], [evidence_sentences(pair.references)])
        features.append(comparison.features if comparison else {})
    names = tuple(next(row for row in features if row))
    return PairFeatures(
        names=names,
        rows=np.array([[row.get(name, 0.0) for name in names] for row in features]),
        labels=np.array([pair.label for pair in pairs], dtype=np.int64),
        sets=tuple(pair.set for pair in pairs),
        groups=np.array(groups(pairs), dtype=np.int64),
    )


def fit(
    pair_features: PairFeatures, chosen: NDArray[np.bool_], *, with_network: bool = True
) -> SupportWeights:
    """Fit the weights on the chosen pairs and calibrate their scores (Platt scaling)."""
    columns = [
        index
        for index, name in enumerate(pair_features.names)
        if name != NOWHERE and (with_network or not name.startswith("network"))
    ]
    names = [pair_features.names[index] for index in columns]
    rows, labels = pair_features.rows[chosen][:, columns], pair_features.labels[chosen]
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
    """Fit a logistic regression on standardised rows, with the sign and minimum set for each weight."""
    signs = 2.0 * labels - 1

    def loss(point: Matrix) -> tuple[float, Matrix]:
        weights = point[:-1]
        margins = signs * (rows @ weights + point[-1])
        gradient = -signs / (1 + np.exp(margins)) / len(rows)
        value = np.logaddexp(0, -margins).mean() + SHRINK * (weights**2).sum()
        return float(value), np.append(rows.T @ gradient + 2 * SHRINK * weights, gradient.sum())

    bounds: list[tuple[float | None, float | None]] = []
    for name, deviation in zip(names, scale.tolist(), strict=True):
        least = AT_LEAST.get(name, 0.0) * deviation
        bounds.append((None if name in AGAINST | EITHER else least, None if name not in AGAINST else -least))
    start = np.zeros(rows.shape[1] + 1)
    optimum = minimize(loss, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B")
    return np.asarray(optimum.x[:-1], dtype=np.float64)


def scores(weights: SupportWeights, rows: Matrix, names: Sequence[str]) -> Matrix:
    return np.array([weights.score(dict(zip(names, row, strict=True))) for row in rows])


def cross_validated(pair_features: PairFeatures, *, with_network: bool = True) -> Matrix:
    """Return the score of each pair by weights fitted without its group, averaged over `REPEATS` splits."""
    if len(set(pair_features.groups.tolist())) < FOLDS:
        raise EvaluationError(
            f"Cross-validation needs at least {FOLDS} groups of pairs that share no claim, question or text."
        )
    folds = [
        np.isin(np.arange(len(pair_features.rows)), held_out)
        for repeat in range(REPEATS)
        for _, held_out in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED + repeat).split(
            pair_features.rows, pair_features.labels, pair_features.groups
        )
    ]
    return _held_out_scores(pair_features, folds, with_network=with_network) / REPEATS


def across_sets(pair_features: PairFeatures, *, with_network: bool = True) -> Matrix:
    """Return the score of each pair by weights fitted on the other sets."""
    names = np.array(pair_features.sets)
    if len(set(pair_features.sets)) < 2:
        raise EvaluationError("Training on other sets needs at least two sets of pairs.")
    folds = [names == name for name in dict.fromkeys(pair_features.sets)]
    return _held_out_scores(pair_features, folds, with_network=with_network)


def _held_out_scores(
    pair_features: PairFeatures, folds: Sequence[NDArray[np.bool_]], *, with_network: bool
) -> Matrix:
    """Sum the scores of each pair over the folds that contain it, by weights fitted on the other folds."""
    sums = np.zeros(len(pair_features.rows))
    for held_out in folds:
        weights = fit(pair_features, ~held_out, with_network=with_network)
        sums[held_out] += scores(weights, pair_features.rows[held_out], pair_features.names)
    return sums


def measure_attribution(pairs: Sequence[LabelledPair], support: Matrix) -> Figures:
    """Measure the support scores of pairs and TruthReader's overlap, in all and, under "sets", by set."""
    overlap = np.array([score_attribution(pair.claim, "\n".join(pair.references)) for pair in pairs])
    names = np.array([pair.set for pair in pairs])
    verdicts = np.array([pair.verdict for pair in pairs])
    sets = {
        name: _figures(verdicts[names == name], overlap[names == name], support[names == name])
        for name in dict.fromkeys(pair.set for pair in pairs)
    }
    return {**_figures(verdicts, overlap, support), "sets": sets}


def _figures(verdicts: NDArray[np.str_], overlap: Matrix, support: Matrix) -> Figures:
    """Compute figures; a figure is None if the pairs lack a label that it needs."""
    labels = (verdicts == "supported").astype(np.int64)
    bars = thresholds()
    figures: Figures = {"pairs": len(labels), "supported": int(labels.sum())}
    for name, scored, bar in (
        ("_overlap", overlap, bars.overlap.strong),
        ("", support, bars.support.supported),
    ):
        has_both = len(set(labels)) == 2
        auroc = float(roc_auc_score(labels, scored)) if has_both else None
        accuracy = float(balanced_accuracy_score(labels, scored >= bar)) if has_both else None
        figures[f"auroc{name or '_support'}"] = auroc
        figures[f"balanced_accuracy{name}"] = accuracy
        figures[f"ece{name}"] = calibration_error(labels, scored)
    predicted = np.select(
        [support >= bars.support.supported, support >= bars.support.partial], ["supported", "partial"], "not"
    )
    has_all = len(set(verdicts)) == len(get_args(Verdict))
    macro = float(f1_score(verdicts, predicted, average="macro", zero_division=0)) if has_all else None
    return {**figures, "macro_f1": macro}


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
    pair_features = compare_pairs(chosen, open_encoder(read_settings(), runtime))
    if cross_validate:
        weights, support = "cross-validated", cross_validated(pair_features)
    elif other_sets:
        weights, support = "other sets", across_sets(pair_features)
    else:
        weights = support_weights().name
        support = scores(support_weights(), pair_features.rows, pair_features.names)
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
