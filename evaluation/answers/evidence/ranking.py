"""Is the text that answers a question ranked first? Measured by every ranker on rows of candidates."""

from collections.abc import Mapping, Sequence
from math import comb, isfinite
from pathlib import Path

from sklearn.metrics import roc_auc_score

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Runtime
from corpus.settings import read_settings
from evaluation.answers.evidence.rankers import Ranker, open_rankers
from evaluation.answers.evidence.rows import EvidenceRow, read_rows
from evaluation.harness import Figures, Report, command, decimals, mean, table
from evaluation.input_files import EvaluationError

METRICS = {"hit@1": "Hit@1", "hit@3": "Hit@3", "mrr": "MRR", "auroc": "AUROC, answerable"}

_Judged = tuple[EvidenceRow, Mapping[str, Sequence[float]]]


def measure_rankers(rows: Sequence[EvidenceRow], rankers: Mapping[str, Ranker]) -> Figures:
    """Measure rankers on rows: figures under "ranker/metric", in all and under "sets" of each set.

    Raises EvaluationError where a ranker has no number for every candidate.
    """
    # A row at a time, so that rankers that share vectors find them cached.
    judged = [(row, {name: _scores(name, ranker, row) for name, ranker in rankers.items()}) for row in rows]
    by_set: dict[str, list[_Judged]] = {}
    for row, scores in judged:
        by_set.setdefault(row.set, []).append((row, scores))
    sets = {name: _figures(own, list(rankers)) for name, own in by_set.items()}
    return {**_figures(judged, list(rankers)), "sets": sets}


def _scores(name: str, ranker: Ranker, row: EvidenceRow) -> Sequence[float]:
    scores = ranker(row)
    if len(scores) != len(row.candidates) or not all(isfinite(score) for score in scores):
        raise EvaluationError(f"The ranker {name} has no number for every candidate of {row.question!r}.")
    return scores


def _figures(judged: Sequence[_Judged], rankers: Sequence[str]) -> Figures:
    answerable = [bool(row.relevant) for row, _ in judged]
    ranked = sum(answerable)
    figures: Figures = {"rows": len(judged), "ranked": ranked, "unanswerable": len(judged) - ranked}
    for name in rankers:
        places = [first_places(scores[name], row.relevant) for row, scores in judged if row.relevant]
        top = [max(scores[name]) for _, scores in judged]
        for depth in (1, 3):
            hits = (sum(chance for place, chance in own.items() if place <= depth) for own in places)
            figures[f"{name}/hit@{depth}"] = mean(hits)
        figures[f"{name}/mrr"] = mean(sum(chance / place for place, chance in own.items()) for own in places)
        separable = 0 < ranked < len(judged)
        figures[f"{name}/auroc"] = float(roc_auc_score(answerable, top)) if separable else None
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


@command("evidence")
def evidence(data: Path, runtime: Runtime | None = None) -> Report:
    rankers = open_rankers(open_encoder(read_settings(), runtime))
    figures = measure_rankers(read_rows(data), rankers)
    rows: list[list[str] | None] = []
    for name, own in {**figures["sets"], "in all": figures}.items():
        label = f"{name}, {own['ranked']}"
        if own["unanswerable"]:
            label += f" and {own['unanswerable']} unanswerable"
        for ranker in rankers:
            rows.append([label, ranker, *(decimals(own[f"{ranker}/{metric}"]) for metric in METRICS)])
            label = ""
        rows.append(None)
    return Report(figures, [table(("Set", "Ranker", *METRICS.values()), rows, left=2)])
