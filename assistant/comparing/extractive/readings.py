"""A step as it is read once for all its samples: accounts of its papers, their groups, and what is near."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from assistant.comparing.extractive.accounts import Account, read_account
from assistant.comparing.extractive.grouping import Group, group_papers, nearest
from assistant.comparing.extractive.vectors import EachAlone
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import KeyElements

MOST_STEPS, MOST_ACCOUNTS = 8, 400


@dataclass(frozen=True, slots=True)
class Reading:
    """The papers of a step by label, in groups, and their labels, the nearest to the description first."""

    accounts: Mapping[int, Account]
    groups: tuple[Group, ...]
    near: tuple[int, ...]


class Readings:
    """Reads steps, each once; safe for several threads.

    Steps and texts are known again as objects: to compare what they hold would cost as much as to read them.
    """

    def __init__(self, vectors: EachAlone) -> None:
        self._vectors = vectors
        self._steps: OrderedDict[int, tuple[ComparisonStep, Reading]] = OrderedDict()
        self._accounts: OrderedDict[tuple[int, int], tuple[SourceText, KeyElements | None, Account]] = (
            OrderedDict()
        )
        self._lock = threading.Lock()

    def of(self, step: ComparisonStep) -> Reading:
        with self._lock:
            if id(step) not in self._steps:
                # With the reading the step itself is kept, so that its id stays its own.
                self._steps[id(step)] = (step, self._read(step))
                if len(self._steps) > MOST_STEPS:
                    self._steps.popitem(last=False)
            return self._steps[id(step)][1]

    def _read(self, step: ComparisonStep) -> Reading:
        accounts = {
            label: self._account(step.sources[label], step.elements.get(label)) for label in step.labels
        }
        groups = group_papers(accounts, step.about, self._vectors)
        return Reading(accounts, groups, tuple(nearest(accounts, step.about, self._vectors)))

    def _account(self, source: SourceText, elements: KeyElements | None) -> Account:
        key = id(source), id(elements)
        if key not in self._accounts:
            self._accounts[key] = source, elements, read_account(source, elements)
            if len(self._accounts) > MOST_ACCOUNTS:
                self._accounts.popitem(last=False)
        return self._accounts[key][2]
