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
    """Answers by question, the least recently used dropped first; kept answers never change."""

    def __init__(self, answers: int = _ANSWERS_KEPT, entries: int = _ENTRIES_KEPT) -> None:
        self._largest = entries // 2
        # A minimum size for each answer limits their number too.
        least = entries / answers
        self._kept: LRUCache[Hashable, Any] = LRUCache(entries, lambda answer: max(least, _size(answer)))
        self._asking: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def answer(self, question: Hashable, find: Callable[[], Value]) -> Value:
        """Return the kept answer to `question`, or what `find` gives; errors are not kept.

        If several threads ask the same at once, one finds the answer and the others wait for it.
        """
        with self._lock:
            asking = self._asking.setdefault(question, Lock())
        with asking:
            try:
                with self._lock:
                    if question in self._kept:
                        return cast(Value, self._kept[question])
                answer = find()
                if _size(answer) <= self._largest:
                    with self._lock:
                        self._kept[question] = answer
                return answer
            finally:
                with self._lock:
                    self._asking.pop(question, None)


def _size(answer: object) -> int:
    return len(cast(Any, answer)) if hasattr(answer, "__len__") else 1


class Once(Generic[Value]):
    """A value that one thread computes on first use while others wait; it is kept, errors are not."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._made: list[Value] = []
        self._lock = Lock()

    def __call__(self) -> Value:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
