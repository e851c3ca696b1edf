"""A list of papers: those that are about what is asked, each with a line that says why."""

import math
from collections.abc import Iterator

from assistant.generators.extractive.candidates import Candidate, candidate_at, stays_true
from assistant.generators.extractive.ranking import Ranked, share
from assistant.questions import stems, subject_stems
from assistant.reading import is_own, leans
from assistant.records import Evidence, LabelledPaper
from corpus.language import holds, spelt_as

MOST_PAPERS = 10
ABOUT_IT = 0.7  # of what the paper says of the subject that says most, rare words counting more
NAMED = 0.5  # of the subject, which a line of its own names where it can


def list_papers(query: str, ranked: Ranked, evidence: Evidence) -> list[Candidate]:
    """Return one sentence of each paper that is about the subject of a query, in order of rank.

    The first paper found is always there: it may say the same in other words.
    """
    texts = {paper.label: _stems_of(paper, query) for paper in evidence.papers}
    rarity = {stem: _rarity(sum(holds(text, stem) for text in texts.values()), len(texts))
              for stem in subject_stems(query)}  # fmt: skip
    about = {label: share(rarity, text) for label, text in texts.items()}
    enough = ABOUT_IT * max(about.values(), default=0.0)
    kept = [paper for at, paper in enumerate(evidence.papers) if at == 0 or about[paper.label] >= enough]
    lines = (_line(paper, ranked, rarity) for paper in kept[:MOST_PAPERS])
    return [line for line in lines if line]


def _rarity(holding: int, texts: int) -> float:
    return math.log((2 + texts) / (1 + holding))


def _stems_of(paper: LabelledPaper, query: str) -> frozenset[str]:
    text = " ".join((paper.paper.title, *(passage.text for passage in paper.passages)))
    return spelt_as(query, text, stems(text))


def _line(paper: LabelledPaper, ranked: Ranked, rarity: dict[str, float]) -> Candidate | None:
    """Return what says why a paper is listed: of its own work what names the subject, or its approach."""
    own = [index for index, item in enumerate(ranked.candidates) if item.paper.label == paper.label]
    best = [item for index in ranked.best_first(own) if not leans((item := ranked.candidates[index]).text)]
    approach = next(_approach(paper), None)
    if approach and share(rarity, approach.stems) >= NAMED:
        return approach
    naming = (item for item in best if is_own(item.text) and share(rarity, item.stems) >= NAMED)
    return next(naming, None) or approach or next(iter(best), None)


def _approach(paper: LabelledPaper) -> Iterator[Candidate]:
    for aspect in paper.paper.aspects:
        found = candidate_at(paper, aspect.passage, aspect.sentence)
        if aspect.name == "approach" and found and stays_true(found) and not leans(found.text):
            yield found
