"""Two things compared: what papers say of both together, and then of each."""

from collections.abc import Iterator

from assistant.questions.comparisons import says_side
from assistant.questions.parts import meant_title
from assistant.ranking.candidates import Candidate, aspects_of, readable
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.rank import Ranked
from assistant.reading.standing_alone import leans
from assistant.records import LabelledPaper

MOST_TOGETHER, MOST_OF_EACH = 2, 2


def tell_sides(found: RankedEvidence, sides: tuple[str, str]) -> list[Candidate]:
    """Return sentences on both sides, then on the first and on the second; none where one is nowhere told."""
    ranked = found.ranked
    names_both = [
        at for at, one in enumerate(ranked.candidates) if all(says_side(one.text, side) for side in sides)
    ]
    chosen = [ranked.candidates[at] for at in ranked.best_first(names_both)[:MOST_TOGETHER]]
    for side, of_side in zip(sides, found.rank_sides(sides), strict=True):
        told = [*_of_its_paper(side, found), *_readable(of_side)]
        fresh = [one for one in dict.fromkeys(told) if one not in chosen][:MOST_OF_EACH]
        if not fresh and not names_both:
            return []
        chosen += fresh
    return chosen


def _of_its_paper(side: str, found: RankedEvidence) -> Iterator[Candidate]:
    """Yield sentences on the approach and outcome of the paper that a side names."""
    own = _own_paper(side, found.papers)
    for one in aspects_of(own, "approach", "outcome") if own else ():
        if not leans(one.text):
            yield one


def _own_paper(side: str, papers: tuple[LabelledPaper, ...]) -> LabelledPaper | None:
    meant = meant_title(side, [paper.paper.title for paper in papers])
    return None if meant is None else papers[meant]


def _readable(ranked: Ranked) -> Iterator[Candidate]:
    """Yield readable candidates, the likeliest first, with a dependent sentence after the one it needs."""
    for at in ranked.best_first(range(len(ranked.candidates))):
        yield from readable(ranked.candidates[at])
