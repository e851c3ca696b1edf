"""What has been asked of a snapshot before: answers kept in a bounded way, shared by threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast

Value = TypeVar("Value")

_ANSWERS_KEPT = 256
# Of all answers together, counted in rows or entries: some tens of MB at most.
_ENTRIES_KEPT = 1_000_000


class Remembered:
    """Answers by question, the ones asked for least recently dropped first; what is kept never changes."""

    def __init__(self, answers: int = _ANSWERS_KEPT, entries: int = _ENTRIES_KEPT) -> None:
        self._most_answers, self._most_entries = answers, entries
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._asking: dict[Hashable, Lock] = {}
        self._entries = 0

    def answer(self, question: Hashable, find: Callable[[], Value]) -> Value:
        """Return the answer to `question`, which `find` gives when it is not kept.

        Of several threads that ask the same at once, one finds the answer and the others wait for it. What
        `find` raises is raised and not kept.
        """
        with self._lock:
            if question in self._kept:
                return cast(Value, self._recalled(question))
            asking = self._asking.setdefault(question, Lock())
        with asking:
            with self._lock:
                if question in self._kept:
                    return cast(Value, self._recalled(question))
            try:
                found = find()
                with self._lock:
                    self._keep(question, found)
                return found
            finally:
                with self._lock:
                    self._asking.pop(question, None)

    def _recalled(self, question: Hashable) -> object:
        self._kept.move_to_end(question)
        return self._kept[question][0]

    def _keep(self, question: Hashable, found: object) -> None:
        size = len(cast(Any, found)) if hasattr(found, "__len__") else 1
        if size > self._most_entries // 2 or question in self._kept:
            return
        self._kept[question] = found, size
        self._entries += size
        while len(self._kept) > self._most_answers or self._entries > self._most_entries:
            _, (_, freed) = self._kept.popitem(last=False)
            self._entries -= freed
