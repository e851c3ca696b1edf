"""A list of papers: those that are about what is asked, each with a line that says why."""

import math
from collections.abc import Mapping

from assistant.generators.extractive.candidates import Candidate, aspects_of
from assistant.generators.extractive.ranking import Ranked, share
from assistant.questions import stems, word_weights
from assistant.reading import is_own, leans
from assistant.records import Evidence, LabelledPaper
from corpus.language import holds, spelt_as

MOST_PAPERS = 10
# What a paper says of the subject, in meaning and in words, as shares of the papers that say most.
NEAR, ABOUT, ENOUGH = 0.6, 0.4, 0.68
ASKING = 0.5  # what a word of asking counts beside one of the subject
NAMED = 0.5  # of the subject, which a line of its own names where it can


def list_papers(query: str, ranked: Ranked, evidence: Evidence) -> list[Candidate]:
    """Return one sentence of each paper that is about the subject of a query, in order of rank.

    The first paper found is always there: it may say the same in other words.
    """
    texts = {paper.label: _stems_of(paper, query) for paper in evidence.papers}
    rarity = {
        stem: weight * _rarity(sum(holds(text, stem) for text in texts.values()), len(texts))
        for stem, weight in word_weights(query, ASKING).items()
    }
    about = _to_best({label: share(rarity, text) for label, text in texts.items()})
    near = _to_best({label: _nearest(ranked, label) for label in texts})
    fits = {label: NEAR * near[label] + ABOUT * about[label] >= ENOUGH for label in texts}
    kept = [paper for at, paper in enumerate(evidence.papers) if at == 0 or fits[paper.label]]
    lines = (_line(paper, ranked, rarity) for paper in kept[:MOST_PAPERS])
    return [line for line in lines if line]


def _nearest(ranked: Ranked, label: int) -> float:
    own = [at for at, item in enumerate(ranked.candidates) if item.paper.label == label]
    return max((float(ranked.near[at]) for at in own), default=0.0)


def _to_best(values: Mapping[int, float]) -> dict[int, float]:
    best = max(values.values(), default=0.0) or 1.0
    return {label: value / best for label, value in values.items()}


def _rarity(holding: int, texts: int) -> float:
    return math.log((2 + texts) / (1 + holding))


def _stems_of(paper: LabelledPaper, query: str) -> frozenset[str]:
    text = " ".join((paper.paper.title, *(passage.text for passage in paper.passages)))
    return spelt_as(query, text, stems(text))


def _line(paper: LabelledPaper, ranked: Ranked, rarity: dict[str, float]) -> Candidate | None:
    """Return what says why a paper is listed: of its own work what names the subject, or its approach."""
    own = [index for index, item in enumerate(ranked.candidates) if item.paper.label == paper.label]
    best = [item for index in ranked.best_first(own) if not leans((item := ranked.candidates[index]).text)]
    approach = next(aspects_of(paper, "approach"), None)
    if approach and share(rarity, approach.stems) >= NAMED:
        return approach
    naming = (item for item in best if is_own(item.text) and share(rarity, item.stems) >= NAMED)
    return next(naming, None) or approach or next(iter(best), None)
