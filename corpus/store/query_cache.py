"""A cache of queries on a snapshot, and values computed once: shared by threads."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar, cast

from cachetools import LRUCache

Value = TypeVar("Value")

_ANSWERS_KEPT = 256
# Of all answers together, counted in rows or entries: some tens of MB at most.
_ENTRIES_KEPT = 1_000_000


class QueryCache:
    """Answers by question, the ones asked for least recently dropped first; what is kept never changes."""

    def __init__(self, answers: int = _ANSWERS_KEPT, entries: int = _ENTRIES_KEPT) -> None:
        self._largest = entries // 2
        # The least that an answer counts bounds their number too.
        least = entries / answers
        self._kept: LRUCache[Hashable, Any] = LRUCache(entries, lambda found: max(least, _size(found)))
        self._asking: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def answer(self, question: Hashable, find: Callable[[], Value]) -> Value:
        """Return the answer to `question`, which `find` gives when it is not kept.

        Of several threads that ask the same at once, one finds the answer and the others wait for it. What
        `find` raises is raised and not kept.
        """
        with self._lock:
            asking = self._asking.setdefault(question, Lock())
        with asking:
            try:
                with self._lock:
                    if question in self._kept:
                        return cast(Value, self._kept[question])
                found = find()
                if _size(found) <= self._largest:
                    with self._lock:
                        self._kept[question] = found
                return found
            finally:
                with self._lock:
                    self._asking.pop(question, None)


def _size(found: object) -> int:
    return len(cast(Any, found)) if hasattr(found, "__len__") else 1


class Once(Generic[Value]):
    """A value computed on first use, by one thread while the others wait, and kept."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._made: list[Value] = []
        self._lock = Lock()

    def __call__(self) -> Value:
        """Return it; what making it raises is raised and not kept."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
