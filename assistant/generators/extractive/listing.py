"""Lists and overviews of papers on a subject, each with the sentences that say why."""

from collections import defaultdict

from assistant.checking.thresholds import KindLimits
from assistant.ranking.candidates import Candidate, aspects_of, readable
from assistant.ranking.rank import Ranked

FOUND_FIRST = 1  # the label of the paper that was found first
FEWEST, LIKELY = 3, 0.1  # papers of an overview, if as many have a sentence with this probability
MOST_OF_EACH = 2  # sentences of a paper in an overview


def list_papers(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return one sentence of each likely paper, the likeliest first; the paper found first is included."""
    chance = _chances(ranked)
    ranked_labels = list(chance)
    best = max(chance.values(), default=0.0)
    if best < limits.first:
        return []
    bar = max(limits.more, limits.share * best)
    always = (ranked_labels[0], FOUND_FIRST)
    kept = [label for label in ranked_labels if chance[label] >= bar or label in always]
    lines = (_line(ranked, label) for label in kept[: limits.most])
    return [line for line in lines if line]


def tell_overview(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return one or two sentences of each paper of an overview, the likeliest first.

    It has at least FEWEST papers if as many have a LIKELY sentence.
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
    """Return the best sentence of a paper that can be read alone, and the next one if it is likely too."""
    line = _line(ranked, label)
    if line is None:
        return []
    indices = (index for index, item in enumerate(ranked.candidates) if item.paper.label == label)
    likely = (ranked.candidates[index] for index in ranked.best_first(indices) if ranked.chance[index] >= bar)
    more = [other for other in likely if other.text != line.text and len(readable(other)) == 1]
    told = [line, *more[: MOST_OF_EACH - 1]]
    return sorted(told, key=lambda sentence: (sentence.passage.number, sentence.sentence))


def _chances(ranked: Ranked) -> dict[int, float]:
    """Return the probability of each paper's best sentence by label, the likeliest paper first."""
    chance: dict[int, float] = defaultdict(float)
    for candidate, likely in zip(ranked.candidates, ranked.chance.tolist(), strict=True):
        chance[candidate.paper.label] = max(chance[candidate.paper.label], likely)
    return dict(sorted(chance.items(), key=lambda entry: (-entry[1], entry[0])))


def _line(ranked: Ranked, label: int) -> Candidate | None:
    """Return the best sentence of a paper that can be read alone."""
    indices = (index for index, item in enumerate(ranked.candidates) if item.paper.label == label)
    best = [ranked.candidates[index] for index in ranked.best_first(indices)]
    alone = next((candidate for candidate in best if len(readable(candidate)) == 1), None)
    return alone or next(aspects_of(best[0].paper, "approach"), None)
