"""Is the text that answers a question ranked first? Measured by every ranker on rows of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, isfinite
from pathlib import Path
from statistics import fmean

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from sklearn.metrics import roc_auc_score

from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.settings import read_settings
from evaluation.answers.evidence.rankers import Ranker, open_rankers
from evaluation.answers.evidence.rows import EvidenceRow, read_rows
from evaluation.input_files import EvaluationError

# What is printed of a ranker, and the name that people read.
METRICS = {"hit@1": "Hit@1", "hit@3": "Hit@3", "mrr": "MRR", "auroc": "AUROC, answerable"}

Figures = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class EvidenceFigures:
    """What rankers make of a file: in all and per set, under "ranker/metric"."""

    rankers: tuple[str, ...]
    all: Figures
    sets: Mapping[str, Figures]

    def to_json(self) -> dict[str, object]:
        return {**self.all, "sets": dict(self.sets)}


def measure_evidence(file: Path, runtime: Runtime | None) -> EvidenceFigures:
    """Measure all rankers on a file of rows; raises EvaluationError and CorpusError."""
    rows = read_rows(file)
    return measure_rankers(rows, open_rankers(open_encoder(read_settings(), runtime)))


def measure_rankers(rows: Sequence[EvidenceRow], rankers: Mapping[str, Ranker]) -> EvidenceFigures:
    """Measure rankers on rows; raises EvaluationError where one has no number for every candidate."""
    # A row at a time, so that rankers that build on the same vectors find them still there.
    scored = [{name: _scores(name, ranker, row) for name, ranker in rankers.items()} for row in rows]
    judged = list(zip(rows, scored, strict=True))
    sets = dict.fromkeys(row.set for row in rows)
    return EvidenceFigures(
        rankers=tuple(rankers),
        all=_figures(judged, tuple(rankers)),
        sets={name: _figures([one for one in judged if one[0].set == name], tuple(rankers)) for name in sets},
    )


_Judged = tuple[EvidenceRow, Mapping[str, Sequence[float]]]


def _scores(name: str, ranker: Ranker, row: EvidenceRow) -> Sequence[float]:
    scores = ranker(row)
    if len(scores) != len(row.candidates) or not all(isfinite(score) for score in scores):
        raise EvaluationError(f"The ranker {name} has no number for every candidate of {row.question!r}.")
    return scores


def _figures(judged: Sequence[_Judged], rankers: Sequence[str]) -> Figures:
    ranked = sum(bool(row.relevant) for row, _ in judged)
    figures: Figures = {"rows": len(judged), "ranked": ranked, "unanswerable": len(judged) - ranked}
    for name in rankers:
        own = _ranker_figures([(scores[name], row.relevant) for row, scores in judged])
        figures |= {f"{name}/{metric}": figure for metric, figure in own.items()}
    return figures


def _ranker_figures(judged: Sequence[tuple[Sequence[float], Sequence[int]]]) -> Figures:
    places = [first_places(scores, relevant) for scores, relevant in judged if relevant]
    return {
        "hit@1": _mean([_hit(one, 1) for one in places]),
        "hit@3": _mean([_hit(one, 3) for one in places]),
        "mrr": _mean([sum(chance / place for place, chance in one.items()) for one in places]),
        "auroc": _auroc([bool(relevant) for _, relevant in judged], [max(scores) for scores, _ in judged]),
    }


def first_places(scores: Sequence[float], relevant: Sequence[int]) -> dict[int, float]:
    """Return how likely each place, from 1, is that of the first relevant candidate.

    Candidates with the same score may stand in any order, so that a constant score does as well as chance.
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


def _mean(found: Sequence[float]) -> float | None:
    return fmean(found) if found else None


def _auroc(answerable: Sequence[bool], top: Sequence[float]) -> float | None:
    """Return how well the top score separates answerable questions from others, None where one kind lacks."""
    return float(roc_auc_score(answerable, top)) if len(set(answerable)) == 2 else None


def evidence_table(figures: EvidenceFigures) -> Table:
    """Return what people read: a line for each set and ranker."""
    numbers = [Column(name, justify="right") for name in METRICS.values()]
    table = Table("Set", "Ranker", *numbers, box=SIMPLE_HEAD)
    for name, own in {**figures.sets, "in all": figures.all}.items():
        label = f"{name}, {own['ranked']}"
        if own["unanswerable"]:
            label += f" and {own['unanswerable']} unanswerable"
        for ranker in figures.rankers:
            cells = (_cell(own[f"{ranker}/{metric}"]) for metric in METRICS)
            table.add_row(label if ranker == figures.rankers[0] else "", ranker, *cells)
        table.add_section()
    return table


def _cell(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
