"""Two things compared: what papers say of both together, and then of each."""

from assistant.generators.extractive.candidates import Candidate, aspects_of
from assistant.generators.extractive.ranking import Ranked
from assistant.questions import meant_title, says_side
from assistant.reading import leans
from assistant.records import Evidence, LabelledPaper

MOST_TOGETHER, MOST_OF_EACH = 2, 2


def tell_sides(sides: tuple[str, str], ranked: Ranked, evidence: Evidence) -> list[Candidate]:
    """Return sentences on both sides, then on the first and on the second; none where one is nowhere told."""
    naming = [
        [at for at, item in enumerate(ranked.candidates) if says_side(item.text, side)] for side in sides
    ]
    both = ranked.best_first(set(naming[0]) & set(naming[1]))[:MOST_TOGETHER]
    chosen = [ranked.candidates[at] for at in both]
    for side, found in zip(sides, naming, strict=True):
        own = _own_paper(side, evidence)
        aspects = aspects_of(own, "approach", "outcome") if own else ()
        told = [*aspects, *(ranked.candidates[at] for at in ranked.best_first(found))]
        fresh = [item for item in dict.fromkeys(told) if item not in chosen and not leans(item.text)]
        if not fresh and not both:
            return []
        chosen += fresh[:MOST_OF_EACH]
    return chosen


def _own_paper(side: str, evidence: Evidence) -> LabelledPaper | None:
    """Return the paper that a side is the name of."""
    titles = [paper.paper.title for paper in evidence.papers]
    meant = meant_title(side, titles)
    return None if meant is None else evidence.papers[meant]
