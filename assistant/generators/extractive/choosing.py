"""How many sentences of which papers make an answer."""

from collections.abc import Sequence

import numpy as np

from assistant.checking import ExtractiveWeights, thresholds
from assistant.generators.extractive.candidates import Candidate, cited, listed, reading_order
from assistant.generators.extractive.ranking import Ranked
from assistant.records import RequestKind


def limits_of(kind: RequestKind, papers: int) -> ExtractiveWeights:
    """Return the weights with what the kind of request and the number of papers change in them."""
    weights = thresholds().extractive
    if kind in ("fact", "definition"):
        weights = weights.model_copy(update=weights.fact.model_dump())
    if papers > 1:
        return weights
    # Of the one paper asked about, what comes nearest is of use: "How is it evaluated?" names no subject.
    return weights.model_copy(update={"per_paper": weights.max_sentences, "floor": weights.fill_floor})


def choose(ranked: Ranked, weights: ExtractiveWeights) -> list[int]:
    """Return the indices of the sentences to use, best first (maximal marginal relevance)."""
    candidates, relevance, alike = ranked.candidates, ranked.relevance, ranked.alike
    chosen: list[int] = []
    best = float(relevance.max())
    if best < weights.floor:
        return chosen
    labels = np.asarray([candidate.paper.label for candidate in candidates])
    while len(chosen) < weights.max_sentences:
        likeness = alike[:, chosen].max(axis=1) if chosen else np.zeros(len(candidates))
        gain = relevance - weights.redundancy * np.clip(likeness - 0.5, 0, 1)
        unlike = likeness < weights.alike
        fresh = np.asarray([np.sum(labels[chosen] == label) < weights.per_paper for label in labels])
        if len(chosen) >= weights.min_sentences:
            pools = [unlike & fresh & (relevance >= max(weights.floor, weights.relative_floor * best))]
        else:
            near = unlike & (relevance >= weights.floor)
            # Where the other papers have nothing to say, one paper answers alone.
            pools = [
                near & fresh,
                near,
                unlike & (relevance >= max(weights.fill_floor, weights.fill_share * best)),
            ]
        pool = next((pool for pool in pools if pool.any()), None)
        if pool is None:
            break
        chosen.append(int(np.argmax(np.where(pool, gain, -np.inf))))
    return chosen


def arrange(chosen: Sequence[Candidate], kind: RequestKind) -> list[str]:
    """Return the sentences as text: a fact's and a summary's as they were chosen, the best first.

    A synthesis goes paper by paper in order of relevance, within a paper as it has them. Several papers make
    a list, so that nobody reads one paper's sentence as the next one's.
    """
    if kind in ("list", "comparison"):
        told = [listed(item) if kind == "list" else cited(item) for item in chosen]
        return [("\n" if number else "") + f"- {one}" for number, one in enumerate(told)]
    if kind != "synthesis":
        return [(" " if number else "") + cited(item) for number, item in enumerate(chosen)]
    papers = dict.fromkeys(candidate.paper.label for candidate in chosen)
    groups = [[item for item in chosen if item.paper.label == label] for label in papers]
    bullets = len(groups) > 2
    pieces = []
    for number, group in enumerate(groups):
        lead = ("\n" if number else "") + "- " if bullets else (" " if number else "")
        pieces.append(lead + " ".join(cited(item) for item in sorted(group, key=reading_order)))
    return pieces
