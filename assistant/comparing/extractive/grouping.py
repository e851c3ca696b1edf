"""Papers grouped by what they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.comparing.extractive.accounts import Account, in_years
from assistant.comparing.extractive.sharing import Shared, shared_by
from assistant.comparing.extractive.vectors import EachAlone
from corpus.encoder import Vectors

# Groups are joined while they are more alike than two papers of the comparison mostly are: by so much of the
# spread, and at least so alike. A shared task makes papers as much more alike.
ABOVE_MEAN = 0.25
FAINTLY_ALIKE = 0.35
SHARED_TASK = 0.08
# A paragraph of more papers is not read.
LARGEST, LARGEST_SHARE = 5, 0.2


@dataclass(frozen=True, slots=True)
class Group:
    """Papers that belong together, by year, or such as stand alone; `shared` is in common, best first."""

    papers: tuple[Account, ...]
    shared: tuple[Shared, ...] = ()
    are_alone: bool = False

    def has_in_common(self, one: int, other: int) -> bool:
        """Tell whether two papers have a subject in common that not most papers have."""
        return any({one, other} <= set(shared.holders) for shared in self.shared if not shared.is_method)


def group_papers(accounts: Mapping[int, Account], about: str, vectors: EachAlone) -> tuple[Group, ...]:
    """Return the papers in groups: what comes nearest to the description last, those that stand alone first.

    Those that stand alone are one group, of papers that nothing else joins.
    """
    papers = list(accounts.values())
    meanings = np.stack([_meaning(paper, vectors) for paper in papers])
    parts = _merged(papers, meanings @ meanings.T)
    asked = vectors.encode_passages([about])[0] if about.strip() else np.zeros(meanings.shape[1])
    nearness = meanings @ asked
    parts.sort(key=lambda part: (len(part) > 1, round(float(nearness[part].mean()), 6), -part[0]))
    alone = [papers[index] for part in parts for index in part if len(part) == 1]
    joined = [in_years([papers[index] for index in part]) for part in parts if len(part) > 1]
    groups = [Group(tuple(alone), shared_by(alone, papers, about), are_alone=True)] if alone else []
    return (*groups, *(Group(tuple(group), shared_by(group, papers, about)) for group in joined))


def nearest(accounts: Mapping[int, Account], about: str, vectors: EachAlone) -> list[int]:
    """Return the labels by how near the papers come to the description, the nearest first."""
    if not about.strip():
        return list(accounts)
    asked = vectors.encode_passages([about])[0]
    return sorted(accounts, key=lambda label: -float(asked @ _meaning(accounts[label], vectors)))


def likeness(one: Account, other: Account, vectors: EachAlone) -> float:
    """Return the cosine of what two papers are about."""
    return float(_meaning(one, vectors) @ _meaning(other, vectors))


def _meaning(paper: Account, vectors: EachAlone) -> Vectors:
    return _unit(vectors.encode_passages([paper.title, paper.opening]).mean(axis=0))


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / (float(np.linalg.norm(vector)) or 1.0)
    return unit


def _merged(papers: Sequence[Account], meant: Vectors) -> list[list[int]]:
    """Join the two groups most alike, on average, until none are alike enough or all are large."""
    near = meant + SHARED_TASK * np.asarray([[_common_task(a, b) for a in papers] for b in papers])
    pairs = near[np.triu_indices(len(papers), 1)]
    enough = max(FAINTLY_ALIKE, float(pairs.mean() + ABOVE_MEAN * pairs.std())) if len(pairs) > 1 else 0.5
    largest = max(LARGEST, int(LARGEST_SHARE * len(papers)))
    parts = [[index] for index in range(len(papers))]
    while len(parts) > 1:
        offers = [
            (float(near[np.ix_(one, other)].mean()), -first, -second)
            for first, one in enumerate(parts)
            for second, other in enumerate(parts[:first])
            if len(one) + len(other) <= largest
        ]
        if not offers or max(offers)[0] < enough:
            break
        _, first, second = max(offers)
        parts[-second] = sorted(parts[-second] + parts.pop(-first))
    return parts


def _common_task(one: Account, other: Account) -> float:
    """Return the share of common tasks, 0..1, of the paper that names fewer."""
    tasks = set(one.tasks), set(other.tasks)
    return len(tasks[0] & tasks[1]) / max(1, min(map(len, tasks)))
