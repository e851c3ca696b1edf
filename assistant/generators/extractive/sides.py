"""Two things compared: what papers say of both together, and then of each."""

from collections.abc import Iterator

from assistant.generators.extractive.candidates import Candidate, candidate_at, stays_true
from assistant.generators.extractive.ranking import Ranked
from assistant.questions import meant_title, squashed, stems
from assistant.reading import leans
from assistant.records import Evidence, LabelledPaper
from corpus.language import holds

MOST_TOGETHER, MOST_OF_EACH = 2, 2
ALIKE = 0.85


def tell_sides(sides: tuple[str, str], ranked: Ranked, evidence: Evidence) -> list[Candidate]:
    """Return sentences on both sides, then on the first and on the second; none where one is nowhere told."""
    naming = [[at for at, item in enumerate(ranked.candidates) if names(side, item.text)] for side in sides]
    both = ranked.best_first(set(naming[0]) & set(naming[1]))[:MOST_TOGETHER]
    chosen = [ranked.candidates[at] for at in both]
    for side, found in zip(sides, naming, strict=True):
        own = _own_paper(side, evidence)
        told = [*_aspects(own), *(ranked.candidates[at] for at in ranked.best_first(found))]
        fresh = [item for item in dict.fromkeys(told) if item not in chosen and not leans(item.text)]
        if not fresh and not both:
            return []
        chosen += fresh[:MOST_OF_EACH]
    return chosen


def names(side: str, text: str) -> bool:
    """Return True if a text says all words of one side, joined, hyphenated or apart."""
    return squashed(side) in squashed(text) or all(holds(stems(text), one) for one in stems(side))


def _own_paper(side: str, evidence: Evidence) -> LabelledPaper | None:
    """Return the paper that a side is the name of."""
    titles = [paper.paper.title for paper in evidence.papers]
    meant = meant_title(side, titles)
    return None if meant is None else evidence.papers[meant]


def _aspects(paper: LabelledPaper | None) -> Iterator[Candidate]:
    if paper is None:
        return
    for name in ("approach", "outcome"):
        for aspect in paper.paper.aspects:
            found = candidate_at(paper, aspect.passage, aspect.sentence)
            if aspect.name == name and found and stays_true(found):
                yield found
