"""How many calls to models may be under way at once: in all, and for one visitor."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from assistant.models.protocol import ChatModel, Completion, Exchange, ModelUnavailableError, Schema
from assistant.records import Message, Parameters

LONGEST_QUEUE = 120.0


class CallLimits:
    """Lets calls in, at most `at_once` of them, and of one session at most `per_session`.

    Where calls wait, that of the session with the fewest under way goes first. Calls of no session ("")
    are bound by the first limit alone.
    """

    def __init__(self, at_once: int, per_session: int, longest_wait: float = LONGEST_QUEUE) -> None:
        self._at_once = at_once
        self._per_session = per_session
        self._longest_wait = longest_wait
        self._under_way: Counter[str] = Counter()
        self._waiting: deque[tuple[object, str]] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def call(self, session: str = "") -> Iterator[None]:
        """Wait for a place and hold it; raises ModelUnavailableError after `longest_wait` seconds."""
        self._enter(session)
        try:
            yield
        finally:
            self._leave(session)

    def _enter(self, session: str) -> None:
        ticket = (object(), session)
        with self._changed:
            self._waiting.append(ticket)
            try:
                is_let_in = self._changed.wait_for(lambda: self._next() is ticket, self._longest_wait)
            finally:
                self._waiting.remove(ticket)
            if not is_let_in:
                raise ModelUnavailableError(
                    f"Too many questions are being answered: none ended within {self._longest_wait:g} s.",
                    "Your question is kept; retry in a while.",
                )
            self._under_way[session] += 1
            self._changed.notify_all()

    def _leave(self, session: str) -> None:
        with self._changed:
            self._under_way[session] -= 1
            # So that sessions that are gone take no memory.
            self._under_way += Counter()
            self._changed.notify_all()

    def _next(self) -> tuple[object, str] | None:
        """Return whose turn it is, None when nobody can go on."""
        if self._under_way.total() >= self._at_once:
            return None
        free = [ticket for ticket in self._waiting if self._of_session(ticket[1]) < self._per_session]
        return min(free, key=lambda ticket: self._of_session(ticket[1]), default=None)

    def _of_session(self, session: str) -> int:
        return self._under_way[session] if session else 0


@cache
def shared_limits(at_once: int, per_session: int) -> CallLimits:
    """Return the limits that all models of this process share."""
    return CallLimits(at_once, per_session)


class LimitedModel:
    """A model whose calls wait for their turn, opened by the first of them."""

    def __init__(
        self, name: str, label: str, opened: Callable[[], ChatModel], limits: CallLimits, session: str = ""
    ) -> None:
        self.id = name
        self.label = label
        self._opened = opened
        self._limits = limits
        self._session = session

    def stream(self, messages: Sequence[Message], parameters: Parameters) -> Generator[str, None, Completion]:
        with self._limits.call(self._session):
            return (yield from self._opened().stream(messages, parameters))

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
    ) -> Schema:
        with self._limits.call(self._session):
            return self._opened().reply(messages, parameters, schema, on_exchange)
