"""A list of papers: those that are about what is asked, each with a line that says why."""

from collections import defaultdict

from assistant.checking import KindLimits
from assistant.generators.extractive.candidates import Candidate, aspects_of
from assistant.generators.extractive.features import Asking, share
from assistant.generators.extractive.ranking import Ranked
from assistant.reading import is_own, leans

NAMED = 0.5  # of the subject, which a line of its own names where it can


def list_papers(asking: Asking, ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return one sentence of each paper that likely is what is asked for, the likeliest paper first."""
    chance: dict[int, float] = defaultdict(float)
    for one, likely in zip(ranked.candidates, ranked.chance.tolist(), strict=True):
        chance[one.paper.label] = max(chance[one.paper.label], likely)
    best = max(chance.values(), default=0.0)
    if best < limits.first:
        return []
    labels = sorted(chance, key=lambda label: (-chance[label], label))
    kept = [label for label in labels if chance[label] >= limits.more or chance[label] == best]
    lines = (_line(asking, ranked, label) for label in kept[: limits.most])
    return [line for line in lines if line]


def _line(asking: Asking, ranked: Ranked, label: int) -> Candidate | None:
    """Return what says why a paper is listed: the likeliest sentence, or its approach where that names it."""
    own = [index for index, item in enumerate(ranked.candidates) if item.paper.label == label]
    paper = ranked.candidates[own[0]].paper
    best = [item for index in ranked.best_first(own) if not leans((item := ranked.candidates[index]).text)]
    approach = next(aspects_of(paper, "approach"), None)
    if approach and share(asking.rarity, approach.stems) >= NAMED:
        return approach
    naming = (item for item in best if is_own(item.text) and share(asking.rarity, item.stems) >= NAMED)
    return next(naming, None) or approach or next(iter(best), None)
