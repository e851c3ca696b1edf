"""nDCG, average precision and recall, defined as trec_eval defines them (ndcg_cut, map_cut, recall)."""

import math
from collections.abc import Mapping, Sequence

Gains = Mapping[str, int]


def ndcg(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return the discounted gain of a ranking, as a share of the best possible one's.

    Gains count as they are and position n is discounted by log2(n + 1), as in trec_eval (Järvelin and
    Kekäläinen 2002).
    """
    ideal = _discounted(sorted(gains.values(), reverse=True)[:depth])
    return _discounted([gains.get(document, 0) for document in ranking[:depth]]) / ideal


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(position + 2) for position, gain in enumerate(gains))


def average_precision(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return the mean over all relevant documents of the precision where each was found, 0 if it was not."""
    found = [position for position, document in enumerate(ranking[:depth], start=1) if document in gains]
    return math.fsum(rank / position for rank, position in enumerate(found, start=1)) / len(gains)


def recall(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    return len(gains.keys() & set(ranking[:depth])) / len(gains)
