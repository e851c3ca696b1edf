"""Measures whether the text that answers a question is ranked first among candidates."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import comb, isfinite
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, StrictInt, model_validator
from sklearn.metrics import roc_auc_score

from assistant.learned.parts import LearnedPart, folder, read_part
from assistant.learned.relevance import RELEVANCE, RelevanceScorer
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime
from corpus.language.bm25 import Bm25
from corpus.settings import read_settings
from evaluation.harness import Figures, Report, command, decimals, group_by, grouped_table, mean
from evaluation.input_files import EvaluationError, read_json_lines


class EvidenceRow(BaseModel, frozen=True, extra="ignore"):
    """A question and candidate texts; `relevant` has the indices of those that answer it, if any.

    `history` has the earlier questions and answers, oldest first. Candidates of several papers have their
    titles in `titles`; candidates of one paper share `title`. Rows of one `group` (a paper, a document) must
    stay together when a file is split.
    """

    set: str = "all"
    group: str = ""
    question: str = Field(min_length=1)
    title: str = ""
    history: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    candidates: tuple[str, ...] = Field(min_length=1)
    relevant: tuple[StrictInt, ...]

    @property
    def candidate_titles(self) -> tuple[str, ...]:
        """The title of the paper of each candidate."""
        return self.titles or (self.title,) * len(self.candidates)

    @model_validator(mode="after")
    def _check_indices(self) -> Self:
        count = len(self.candidates)
        if self.titles and len(self.titles) != count:
            raise ValueError(f"there are {len(self.titles)} titles for {count} candidates")
        for index in self.relevant:
            if not 0 <= index < count:
                raise ValueError(f"relevant has candidate {index}, but they are numbered 0 to {count - 1}")
        return self


def read_rows(path: Path) -> tuple[EvidenceRow, ...]:
    """Read the rows of a file; raises EvaluationError that names the line at fault."""
    rows = read_json_lines(path, EvidenceRow, "Each line has question, candidates and relevant.")
    if not any(row.relevant for row in rows):
        raise EvaluationError(f"{path} has no question with a relevant candidate.")
    return tuple(rows)


# Scores each candidate of a row, higher is better; it must not use `relevant`.
Ranker = Callable[[EvidenceRow], Sequence[float]]

_CACHED_DOCUMENTS = 64


def open_rankers(encoder: Encoder) -> dict[str, Ranker]:
    """Open all rankers by name, in the order of the table.

    The learned relevance is measured with its features only, with its network only ("head"), and with both as
    in the product ("ours").
    """
    # Consecutive rows of one document share candidates, which are encoded once.
    question = lru_cache(maxsize=1)(encoder.encode_query)
    candidates = lru_cache(maxsize=_CACHED_DOCUMENTS)(encoder.encode_passages)
    card, reader = read_part(RELEVANCE, folder(RELEVANCE))
    features, network = RelevanceScorer(LearnedPart(card, None)), RelevanceScorer(LearnedPart(card, reader))

    def cosine(row: EvidenceRow) -> list[float]:
        return [float(score) for score in candidates(row.candidates) @ question(row.question)]

    def both(row: EvidenceRow) -> list[float]:
        return [float(score) for score in (_standardise(bm25(row)) + _standardise(cosine(row))) / 2]

    def learned(scorer: RelevanceScorer) -> Ranker:
        return lambda row: scorer.score(
            row.question,
            row.candidates,
            row.candidate_titles,
            question(row.question),
            candidates(row.candidates),
        )

    def head(row: EvidenceRow) -> list[float]:
        return network.numbers(row.question, row.candidates, row.candidate_titles)

    return {
        "bm25": bm25,
        "cosine": cosine,
        "both": both,
        "features": learned(features),
        "head": head,
        "ours": learned(network),
    }


def bm25(row: EvidenceRow) -> list[float]:
    """Score candidates by BM25 with word statistics of the row's candidates (Robertson et al., 1994)."""
    return Bm25(row.candidates).scores(row.question)


def _standardise(scores: Sequence[float]) -> NDArray[np.float64]:
    """Scale scores to mean 0 and standard deviation 1; equal scores all become 0."""
    values = np.asarray(scores, dtype=np.float64)
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


METRICS = {"hit@1": "Hit@1", "hit@3": "Hit@3", "mrr": "MRR", "auroc": "AUROC, answerable"}

_Judged = tuple[EvidenceRow, Mapping[str, Sequence[float]]]


def measure_rankers(rows: Sequence[EvidenceRow], rankers: Mapping[str, Ranker]) -> Figures:
    """Measure rankers on rows: figures by "ranker/metric", in all and, under "sets", by set.

    Raises EvaluationError if a ranker does not return a finite number for every candidate.
    """
    # Rows in the outer loop, so that rankers find the vectors of a row in the cache.
    judged = [(row, {name: ranker(row) for name, ranker in rankers.items()}) for row in rows]
    for row, scored in judged:
        for name, scores in scored.items():
            if len(scores) != len(row.candidates) or not all(map(isfinite, scores)):
                raise EvaluationError(f"The ranker {name} did not score every candidate of {row.question!r}.")
    by_set = group_by(judged, lambda row_and_scores: row_and_scores[0].set)
    sets = {name: _figures(set_rows, list(rankers)) for name, set_rows in by_set.items()}
    return {**_figures(judged, list(rankers)), "sets": sets}


def _figures(judged: Sequence[_Judged], rankers: Sequence[str]) -> Figures:
    answerable = [bool(row.relevant) for row, _ in judged]
    ranked = sum(answerable)
    figures: Figures = {"rows": len(judged), "ranked": ranked, "unanswerable": len(judged) - ranked}
    for name in rankers:
        places = [first_places(scores[name], row.relevant) for row, scores in judged if row.relevant]
        top = [max(scores[name]) for _, scores in judged]
        for depth in (1, 3):
            hits = (
                sum(probability for place, probability in row.items() if place <= depth) for row in places
            )
            figures[f"{name}/hit@{depth}"] = mean(hits)
        figures[f"{name}/mrr"] = mean(
            sum(probability / place for place, probability in row.items()) for row in places
        )
        separable = 0 < ranked < len(judged)
        figures[f"{name}/auroc"] = float(roc_auc_score(answerable, top)) if separable else None
    return figures


def first_places(scores: Sequence[float], relevant: Sequence[int]) -> dict[int, float]:
    """Return for each possible place, from 1, the probability that the first relevant candidate has it.

    Candidates with equal scores are taken to be in random order, so that a constant score equals chance.
    """
    indices = set(relevant)
    best = max(scores[index] for index in indices)
    above = sum(score > best for score in scores)
    tied = sum(score == best for score in scores)
    tied_relevant = sum(scores[index] == best for index in indices)
    return {
        above + place: comb(tied - place, tied_relevant - 1) / comb(tied, tied_relevant)
        for place in range(1, tied - tied_relevant + 2)
    }


@command("evidence")
def evidence(data: Path, runtime: Runtime | None = None) -> Report:
    rankers = open_rankers(open_encoder(read_settings(), runtime))
    figures = measure_rankers(read_rows(data), rankers)
    groups = {}
    for name, set_figures in {**figures["sets"], "in all": figures}.items():
        unanswerable = (
            f" and {set_figures['unanswerable']} unanswerable" if set_figures["unanswerable"] else ""
        )
        groups[f"{name}, {set_figures['ranked']}{unanswerable}"] = [
            (ranker, *(decimals(set_figures[f"{ranker}/{metric}"]) for metric in METRICS))
            for ranker in rankers
        ]
    return Report(figures, [grouped_table(("Set", "Ranker", *METRICS.values()), groups)])
