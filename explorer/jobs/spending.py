"""What one piece of work costs its visitor: set aside before it begins, counted call by call."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from assistant.models import OnCost
from assistant.storage import SpendingStore

Event = TypeVar("Event")


class SpendingAccount:
    """Counts what a question or a comparison (`what`) costs its visitor; without a store it costs nothing."""

    def __init__(self, owner: str, what: str, store: SpendingStore | None = None) -> None:
        self._owner = owner
        self._what = what
        self._store = store
        self._reservation = ""

    @property
    def on_cost(self) -> OnCost | None:
        """What is to be told of the cost of each call, None where none costs anything."""
        return self._spend if self._store else None

    def check(self, dollars: float) -> None:
        """Raise SpendingError where so much does not fit in what the visitor may spend this month."""
        if self._store:
            self._store.check(self._owner, dollars, self._what)

    def paying(self, dollars: float, begin: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        """Yield the events of work for which so much is set aside until it ends; raises SpendingError."""
        if self._store is None:
            yield from begin()
            return
        self._reservation = self._store.reserve(self._owner, dollars, self._what)
        try:
            yield from begin()
        finally:
            self._store.release(self._reservation)

    def _spend(self, dollars: float) -> None:
        if self._store:
            self._store.spend(self._owner, dollars, self._reservation)
