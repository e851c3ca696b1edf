"""Lists and overviews of papers: those that are about what is asked, each with a line that says why."""

from collections import defaultdict

from assistant.checking.thresholds import KindLimits
from assistant.ranking.candidates import Candidate, aspects_of, readable
from assistant.ranking.rank import Ranked
from assistant.records import LabelledPaper

FOUND_FIRST = 1  # the label of the paper that is found first
FEWEST, LIKELY = 3, 0.1  # papers of an overview, if as many have a sentence with this chance
MOST_OF_EACH = 2  # sentences of a paper in an overview


def list_papers(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return one sentence of each paper that likely is what is asked for, the likeliest paper first.

    The paper found first is always among them.
    """
    chance = _chances(ranked)
    labels = list(chance)
    best = max(chance.values(), default=0.0)
    if best < limits.first:
        return []
    bar = max(limits.more, limits.share * best)
    always = (labels[0], FOUND_FIRST)
    kept = [label for label in labels if chance[label] >= bar or label in always]
    lines = (_line(ranked, label) for label in kept[: limits.most])
    return [line for line in lines if line]


def tell_overview(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return one or two sentences of each paper that belongs to an overview, the likeliest paper first.

    There are three papers where as many have something to say.
    """
    chance = _chances(ranked)
    best = max(chance.values(), default=0.0)
    if best < limits.first:
        return []
    bar = max(limits.more, limits.share * best)
    kept = [
        label
        for place, (label, likely) in enumerate(chance.items())
        if likely >= bar or (place < FEWEST and likely >= LIKELY)
    ]
    return [sentence for label in kept[: limits.most] for sentence in _told_of(ranked, label, bar)]


def _told_of(ranked: Ranked, label: int, bar: float) -> list[Candidate]:
    """Return the best sentence of a paper that can be read alone, and the next best if it is likely too."""
    line = _line(ranked, label)
    if line is None:
        return []
    own = (at for at, item in enumerate(ranked.candidates) if item.paper.label == label)
    likely = (ranked.candidates[at] for at in ranked.best_first(own) if ranked.chance[at] >= bar)
    more = [other for other in likely if other.text != line.text and len(readable(other)) == 1]
    told = [line, *more[: MOST_OF_EACH - 1]]
    return sorted(told, key=lambda sentence: (sentence.passage.number, sentence.sentence))


def _chances(ranked: Ranked) -> dict[int, float]:
    """Return for each paper the chance of its best sentence, the likeliest paper first."""
    chance: dict[int, float] = defaultdict(float)
    for one, likely in zip(ranked.candidates, ranked.chance.tolist(), strict=True):
        chance[one.paper.label] = max(chance[one.paper.label], likely)
    return dict(sorted(chance.items(), key=lambda entry: (-entry[1], entry[0])))


def _line(ranked: Ranked, label: int) -> Candidate | None:
    """Return the best sentence of a paper that can be read alone."""
    own = (at for at, item in enumerate(ranked.candidates) if item.paper.label == label)
    best = (ranked.candidates[at] for at in ranked.best_first(own))
    alone = next((one for one in best if len(readable(one)) == 1), None)
    return alone or next(aspects_of(_paper(ranked, label), "approach"), None)


def _paper(ranked: Ranked, label: int) -> LabelledPaper:
    return next(one.paper for one in ranked.candidates if one.paper.label == label)
