"""Overlap and support score against human labels: labelled pairs, and the fit of the score.

Some features are too rare in human labels to be fitted: `AT_LEAST` sets their least weight.
"""

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
# Web pages lose the space between sentences: "impacts.Climate risks".
_GLUED = re.compile(r"(?<=[a-z)\]])\.(?=[A-Z][a-z]*[ ,])")
_HINT = "Each line has claim, references (or evidence) and label (1 or 0; or supported, partial, not)."

Verdict = Literal["supported", "partial", "not"]
_NUMBERED = {1: "supported", 0: "not"}


class LabelledPair(BaseModel, frozen=True, extra="ignore"):
    """A claim, the references it cites (or one text, `evidence`), and people's verdict (`label`)."""

    claim: str
    references: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda found: (found,) if isinstance(found, str) else found),
        Field(min_length=1, validation_alias=AliasChoices("references", "evidence")),
    ]
    verdict: Annotated[
        Verdict,
        BeforeValidator(lambda found: _NUMBERED.get(found, found) if type(found) is int else found),
        Field(validation_alias="label"),
    ]
    set: str = "all"
    split: str = ""
    question: str = ""

    @property
    def label(self) -> Literal[0, 1]:
        """1 for a supported claim, 0 for one that is not, or only in part."""
        return 1 if self.verdict == "supported" else 0


def read_pairs(
    path: Path, sets: Collection[str] = (), splits: Collection[str] = (), sample: int | None = None
) -> tuple[LabelledPair, ...]:
    """Read the pairs of the named sets and splits, by default of all, at most `sample` of each set.

    A set's name seeds its sample. Raises EvaluationError that names the line at fault.
    """
    pairs = read_all_pairs(path)
    for option, wanted, held in (
        ("set", sets, {pair.set for pair in pairs}),
        ("split", splits, {pair.split for pair in pairs}),
    ):
        if unknown := sorted(set(wanted) - held):
            known = ", ".join(sorted(held))
            raise EvaluationError(f"{path} has no pair of the {option} {unknown[0]!r}, only of: {known}.")
    by_set: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        if pair.set in (sets or (pair.set,)) and pair.split in (splits or (pair.split,)):
            by_set.setdefault(pair.set, []).append(index)
    for name, indices in by_set.items():
        if sample is not None and len(indices) > sample:
            by_set[name] = random.Random(name).sample(indices, sample)
    chosen = tuple(pairs[index] for index in sorted(index for own in by_set.values() for index in own))
    if {pair.label for pair in chosen} != {0, 1}:
        raise EvaluationError(f"{path} must hold supported pairs (label 1) and others (label 0).")
    return chosen


def read_all_pairs(path: Path) -> list[LabelledPair]:
    """Read all pairs of a file; raises EvaluationError that names the line at fault."""
    return read_json_lines(path, LabelledPair, _HINT)


def evidence_sentences(references: Sequence[str]) -> tuple[str, ...]:
    """Split all references into sentences, without labels and addresses."""
    texts = (_GLUED.sub(". ", reference[:LONGEST_REFERENCE]) for reference in references)
    return tuple(
        sentence
        for text in texts
        for start, end in sentence_spans(text)
        if (sentence := strip_references(text[start:end])[:LONGEST_SENTENCE])
    )


def groups(pairs: Sequence[LabelledPair]) -> list[int]:
    """Assign each pair a group number: pairs of one question, one claim or one reference share it."""
    nodes: dict[tuple[str, str], int] = {}
    links: list[tuple[int, int]] = []
    for pair in pairs:
        own = nodes.setdefault(("claim", pair.claim), len(nodes))
        shared = [("reference", "".join(pair.references))]
        shared += [("question", pair.question)] if pair.question else []
        links += [(own, nodes.setdefault(key, len(nodes))) for key in shared]
    ends = tuple(np.array(links, dtype=np.int64).reshape(-1, 2).T)
    graph = coo_array((np.ones(len(links)), ends), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(graph, directed=False)
    numbers: dict[int, int] = {}
    found = (int(labels[nodes["claim", pair.claim]]) for pair in pairs)
    return [numbers.setdefault(label, len(numbers)) for label in found]


Matrix = NDArray[np.float64]


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

    bounds: list[tuple[float | None, float | None]] = []
    for name, own in zip(names, scale.tolist(), strict=True):
        least = AT_LEAST.get(name, 0.0) * own
        bounds.append((None if name in AGAINST | EITHER else least, None if name not in AGAINST else -least))
    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B")
    return np.asarray(found.x[:-1], dtype=np.float64)


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
