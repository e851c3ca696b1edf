"""Sentences for a comparison of two things: on both together, then on each."""

from collections.abc import Iterator

from assistant.questions.comparisons import says_side
from assistant.questions.parts import meant_title
from assistant.ranking.candidates import Candidate, aspects_of, readable
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.rank import Ranked
from assistant.reading.standing_alone import leans

MOST_TOGETHER, MOST_OF_EACH = 2, 2


def tell_sides(found: RankedEvidence, sides: tuple[str, str]) -> list[Candidate]:
    """Return sentences on both sides, then on the first and the second; [] if there is none on some side."""
    ranked = found.ranked
    names_both = [
        index
        for index, candidate in enumerate(ranked.candidates)
        if all(says_side(candidate.text, side) for side in sides)
    ]
    chosen = [ranked.candidates[index] for index in ranked.best_first(names_both)[:MOST_TOGETHER]]
    for side, of_side in zip(sides, found.rank_sides(sides), strict=True):
        sentences = [*_of_its_paper(side, found), *_readable(of_side)]
        fresh = [candidate for candidate in dict.fromkeys(sentences) if candidate not in chosen][
            :MOST_OF_EACH
        ]
        if not fresh and not names_both:
            return []
        chosen += fresh
    return chosen


def _of_its_paper(side: str, found: RankedEvidence) -> Iterator[Candidate]:
    """Yield sentences on the approach and outcome of the paper that a side names."""
    meant = meant_title(side, [paper.paper.title for paper in found.papers])
    paper = None if meant is None else found.papers[meant]
    for candidate in aspects_of(paper, "approach", "outcome") if paper else ():
        if not leans(candidate.text):
            yield candidate


def _readable(ranked: Ranked) -> Iterator[Candidate]:
    """Yield readable candidates, the likeliest first, with a dependent sentence after the one it needs."""
    for index in ranked.best_first(range(len(ranked.candidates))):
        yield from readable(ranked.candidates[index])
