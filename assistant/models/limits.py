"""Limits on concurrent calls to a model server: in all, and for one visitor."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from functools import cache
from types import TracebackType

from assistant.models.protocol import (
    ChatModel,
    Completion,
    Enough,
    Exchange,
    ModelUnavailableError,
    OnPiece,
    Schema,
    relay,
)
from assistant.records import Message, Parameters

LONGEST_QUEUE = 120.0
LOOK_AGAIN_SECONDS = 0.1
# Concurrent calls tried first on a server that does not report its limit.
TRIED_AT_ONCE = 2
# Calls seen to wait before the limit is lowered; a single one may be chance.
SEEN_TO_WAIT = 2


class Place:
    """A call's place in the queue, then among the running calls; a context manager."""

    def __init__(self, limits: "CallLimits", session: str) -> None:
        self.session = session
        self.is_under_way = False
        self.beside = 0  # running calls when it began, including itself
        self.has_seen_an_end = False
        self._limits = limits
        self._has_begun = False

    def __enter__(self) -> "Place":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self._limits.leave(self)

    def wait(self, seconds: float = LOOK_AGAIN_SECONDS) -> bool:
        """Return True if the call may begin, after `seconds` at most; raises ModelUnavailableError."""
        return self._limits.wait(self, seconds)

    def go_on(self, piece: str) -> str:
        """Return a piece of the reply; one that is not empty shows that the call makes progress."""
        if piece:
            self._limits.note_life(self, is_first=not self._has_begun)
            self._has_begun = True
        return piece


class CallLimits:
    """Admits at most `at_once` concurrent calls, and at most `per_session` of one session.

    Among waiting calls, that of the session with the fewest running calls goes first. Calls without a session
    ("") are subject to the first limit only. Waiting ends with an error when no call has made progress for
    `longest_wait` seconds. `is_measured`: the server's capacity is unknown; the limit is raised one by one up
    to `at_once` as long as no call has to wait for another's end.
    """

    def __init__(
        self,
        at_once: int,
        per_session: int,
        longest_wait: float = LONGEST_QUEUE,
        *,
        is_measured: bool = False,
    ) -> None:
        self._most = at_once
        self._at_once = min(at_once, TRIED_AT_ONCE) if is_measured else at_once
        self._is_measured = is_measured
        self._proven, self._waits = 1, 0
        self._per_session = per_session
        self._longest_wait = longest_wait
        self._waiting: deque[Place] = deque()
        self._under_way: list[Place] = []
        self._life = time.monotonic()
        self._changed = threading.Condition()

    @property
    def at_once(self) -> int:
        """The number of calls that may run now."""
        return self._at_once

    def queue(self, session: str = "") -> Place:
        """Return a place in the queue."""
        place = Place(self, session)
        with self._changed:
            if not self._under_way and not self._waiting:
                self._life = time.monotonic()
            self._waiting.append(place)
        return place

    def wait(self, place: Place, seconds: float) -> bool:
        """Return True if a place is let in within `seconds`; raises ModelUnavailableError."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._next() is place, seconds):
                if time.monotonic() - self._life > self._longest_wait:
                    raise ModelUnavailableError(
                        "Too many questions are being answered: none went on within "
                        f"{self._longest_wait:g} s.",
                        "Your question is kept; retry in a while.",
                    )
                return False
            self._waiting.remove(place)
            self._under_way.append(place)
            place.is_under_way, place.beside = True, len(self._under_way)
            self._changed.notify_all()
            return True

    def leave(self, place: Place) -> None:
        """Remove a waiting or running place."""
        with self._changed:
            (self._under_way if place.is_under_way else self._waiting).remove(place)
            if place.is_under_way:
                self._life = time.monotonic()
                for other in self._under_way:
                    other.has_seen_an_end = True
            self._changed.notify_all()

    def note_life(self, place: Place, *, is_first: bool) -> None:
        """Record the progress of a call, and at its first token measure how many calls run in parallel."""
        with self._changed:
            self._life = time.monotonic()
            if is_first and self._is_measured:
                self._measure(place)
                self._changed.notify_all()

    def _measure(self, place: Place) -> None:
        """Adapt the limit at a call's first token: before any other call's end, all were really running."""
        if not place.has_seen_an_end and place.beside > self._proven:
            self._proven, self._waits = place.beside, 0
            self._at_once = min(self._most, self._proven + 1)
        elif place.has_seen_an_end and place.beside > self._proven:
            self._waits += 1
            if self._waits >= SEEN_TO_WAIT:
                self._at_once = self._proven

    def _next(self) -> Place | None:
        """Return the place that may start next, None if none may."""
        if len(self._under_way) >= self._at_once:
            return None
        running = Counter(place.session for place in self._under_way if place.session)
        free = [place for place in self._waiting if running[place.session] < self._per_session]
        return min(free, key=lambda place: running[place.session], default=None)


@cache
def shared_limits(
    _server: str, at_once: int, per_session: int, longest_wait: float = LONGEST_QUEUE, *, is_measured: bool
) -> CallLimits:
    """Return the limits that all models of one server share in this process."""
    return CallLimits(at_once, per_session, longest_wait, is_measured=is_measured)


class LimitedModel:
    """A model whose calls are limited; it is opened at the first call."""

    def __init__(
        self, name: str, label: str, opened: Callable[[], ChatModel], limits: CallLimits, session: str = ""
    ) -> None:
        self.id = name
        self.label = label
        self._opened = opened
        self._limits = limits
        self._session = session

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        with self._limits.queue(self._session) as place:
            while not place.wait():
                yield ""
            reply = self._opened().stream(messages, parameters, enough)
            return (yield from relay(reply, place.go_on))

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        def watch(piece: str) -> None:
            place.go_on(piece)
            if on_piece:
                on_piece(piece)

        with self._limits.queue(self._session) as place:
            while not place.wait():
                watch("")
            return self._opened().reply(messages, parameters, schema, on_exchange, watch)
