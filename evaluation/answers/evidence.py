"""Is the text that answers a question ranked first? Rows of candidates, rankers, and their measures."""

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
from evaluation.harness import Figures, Report, command, decimals, grouped, grouped_table, mean
from evaluation.input_files import EvaluationError, read_json_lines


class EvidenceRow(BaseModel, frozen=True, extra="ignore"):
    """A question and its candidates; `relevant` has the indices of those that answer it, if any does.

    `history` is what was said before, the oldest first. Candidates of several papers have their titles in
    `titles`; those of one paper share `title`. Rows of one `group` (a paper, a document) are to stay together
    where a file is split.
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
    def _name_own_candidates(self) -> Self:
        count = len(self.candidates)
        if self.titles and len(self.titles) != count:
            raise ValueError(f"there are {len(self.titles)} titles for {count} candidates")
        for index in self.relevant:
            if not 0 <= index < count:
                raise ValueError(f"relevant names candidate {index}, and they are numbered 0 to {count - 1}")
        return self


def read_rows(path: Path) -> tuple[EvidenceRow, ...]:
    """Read the rows of a file; raises EvaluationError that names the line at fault."""
    rows = read_json_lines(path, EvidenceRow, "Each line has question, candidates and relevant.")
    if not any(row.relevant for row in rows):
        raise EvaluationError(f"{path} has no question with a relevant candidate.")
    return tuple(rows)


# Scores each candidate of a row, the higher the better; it does not look at `relevant`.
Ranker = Callable[[EvidenceRow], Sequence[float]]

_DOCUMENTS_KEPT = 64


def open_rankers(encoder: Encoder) -> dict[str, Ranker]:
    """Open every ranker under its name, in the order in which they are listed.

    The learned relevance is measured by its features alone, by its network alone ("head"), and by both as the
    product has it ("ours").
    """
    # Rows of one document are encoded once.
    question = lru_cache(maxsize=1)(encoder.encode_query)
    candidates = lru_cache(maxsize=_DOCUMENTS_KEPT)(encoder.encode_passages)
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
    """Score candidates by BM25, words being counted among the row's own (Robertson et al., 1994)."""
    return Bm25(row.candidates).scores(row.question)


def _standardise(scores: Sequence[float]) -> NDArray[np.float64]:
    """Scale scores to mean 0 and deviation 1, all of them to 0 where they are the same."""
    found = np.asarray(scores, dtype=np.float64)
    return np.asarray((found - found.mean()) / (found.std() or 1.0))


METRICS = {"hit@1": "Hit@1", "hit@3": "Hit@3", "mrr": "MRR", "auroc": "AUROC, answerable"}

_Judged = tuple[EvidenceRow, Mapping[str, Sequence[float]]]


def measure_rankers(rows: Sequence[EvidenceRow], rankers: Mapping[str, Ranker]) -> Figures:
    """Measure rankers on rows: figures under "ranker/metric", in all and under "sets" of each set.

    Raises EvaluationError where a ranker has no number for every candidate.
    """
    # A row at a time, so that rankers that share vectors find them cached.
    judged = [(row, {name: ranker(row) for name, ranker in rankers.items()}) for row in rows]
    for row, scored in judged:
        for name, scores in scored.items():
            if len(scores) != len(row.candidates) or not all(map(isfinite, scores)):
                raise EvaluationError(
                    f"The ranker {name} has no number for every candidate of {row.question!r}."
                )
    by_set = grouped(judged, lambda own: own[0].set)
    sets = {name: _figures(own, list(rankers)) for name, own in by_set.items()}
    return {**_figures(judged, list(rankers)), "sets": sets}


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
    groups = {}
    for name, own in {**figures["sets"], "in all": figures}.items():
        unanswerable = f" and {own['unanswerable']} unanswerable" if own["unanswerable"] else ""
        groups[f"{name}, {own['ranked']}{unanswerable}"] = [
            (ranker, *(decimals(own[f"{ranker}/{metric}"]) for metric in METRICS)) for ranker in rankers
        ]
    return Report(figures, [grouped_table(("Set", "Ranker", *METRICS.values()), groups)])
