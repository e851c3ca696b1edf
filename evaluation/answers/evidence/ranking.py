"""Is the text that answers a question ranked first? Measured by every ranker on rows of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, isfinite
from pathlib import Path

from sklearn.metrics import roc_auc_score

from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.settings import read_settings
from evaluation.answers.evidence.rankers import Ranker, open_rankers
from evaluation.answers.evidence.rows import EvidenceRow, read_rows
from evaluation.harness import Report, command, decimals, mean, table
from evaluation.input_files import EvaluationError

METRICS = {"hit@1": "Hit@1", "hit@3": "Hit@3", "mrr": "MRR", "auroc": "AUROC, answerable"}

Figures = dict[str, float | int | None]
_Judged = tuple[EvidenceRow, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class EvidenceFigures:
    """The figures of rankers on a file: in all and per set, under "ranker/metric"."""

    rankers: tuple[str, ...]
    all: Figures
    sets: Mapping[str, Figures]

    def to_json(self) -> dict[str, object]:
        return {**self.all, "sets": dict(self.sets)}


def measure_rankers(rows: Sequence[EvidenceRow], rankers: Mapping[str, Ranker]) -> EvidenceFigures:
    """Measure rankers on rows; raises EvaluationError where one has no number for every candidate."""
    # A row at a time, so that rankers that share vectors find them cached.
    judged = [(row, {name: _scores(name, ranker, row) for name, ranker in rankers.items()}) for row in rows]
    names = tuple(rankers)
    sets = dict.fromkeys(row.set for row in rows)
    own = {name: _figures([one for one in judged if one[0].set == name], names) for name in sets}
    return EvidenceFigures(names, _figures(judged, names), own)


def _scores(name: str, ranker: Ranker, row: EvidenceRow) -> Sequence[float]:
    scores = ranker(row)
    if len(scores) != len(row.candidates) or not all(isfinite(score) for score in scores):
        raise EvaluationError(f"The ranker {name} has no number for every candidate of {row.question!r}.")
    return scores


def _figures(judged: Sequence[_Judged], rankers: Sequence[str]) -> Figures:
    answerable = [bool(row.relevant) for row, _ in judged]
    figures: Figures = {
        "rows": len(judged),
        "ranked": sum(answerable),
        "unanswerable": len(judged) - sum(answerable),
    }
    for name in rankers:
        places = [first_places(scores[name], row.relevant) for row, scores in judged if row.relevant]
        top = [max(scores[name]) for _, scores in judged]
        separable = len(set(answerable)) == 2
        figures |= {
            f"{name}/hit@1": mean(_hit(one, 1) for one in places),
            f"{name}/hit@3": mean(_hit(one, 3) for one in places),
            f"{name}/mrr": mean(sum(chance / place for place, chance in one.items()) for one in places),
            f"{name}/auroc": float(roc_auc_score(answerable, top)) if separable else None,
        }
    return figures


def first_places(scores: Sequence[float], relevant: Sequence[int]) -> dict[int, float]:
    """Return the probability of each place, from 1, to be that of the first relevant candidate.

    Candidates with equal scores stand in any order, so that a constant score does as well as chance.
    """
    wanted = set(relevant)
    best = max(scores[index] for index in wanted)
    above = sum(score > best for score in scores)
    tied = sum(score == best for score in scores)
    own = sum(scores[index] == best for index in wanted)
    return {
        above + place: comb(tied - place, own - 1) / comb(tied, own) for place in range(1, tied - own + 2)
    }


def _hit(places: Mapping[int, float], depth: int) -> float:
    return sum(chance for place, chance in places.items() if place <= depth)


@command("evidence")
def evidence(data: Path, runtime: Runtime | None = None) -> Report:
    figures = measure_rankers(read_rows(data), open_rankers(open_encoder(read_settings(), runtime)))
    rows: list[list[str] | None] = []
    for name, own in {**figures.sets, "in all": figures.all}.items():
        label = f"{name}, {own['ranked']}"
        if own["unanswerable"]:
            label += f" and {own['unanswerable']} unanswerable"
        for ranker in figures.rankers:
            cells = (decimals(own[f"{ranker}/{metric}"]) for metric in METRICS)
            rows.append([label if ranker == figures.rankers[0] else "", ranker, *cells])
        rows.append(None)
    return Report(figures.to_json(), [table(("Set", "Ranker", *METRICS.values()), rows, left=2)])
