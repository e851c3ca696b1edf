"""Limits on concurrent calls to a model server: in all, and for one visitor."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
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
)
from assistant.records import Message, Parameters

LONGEST_QUEUE = 120.0
LOOK_AGAIN_SECONDS = 0.1
# So many calls at once are tried of a server that does not tell how many it takes.
TRIED_AT_ONCE = 2
# A single call's observation may be chance.
SEEN_TO_WAIT = 2


class Place:
    """A call's place in the queue, and then among those that are under way; for a `with` block."""

    def __init__(self, limits: "CallLimits", session: str) -> None:
        self.session = session
        self.is_under_way = False
        self.beside = 0  # how many were under way when it began, itself among them
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
        """Return whether the call may begin, after `seconds` at most; raises ModelUnavailableError."""
        return self._limits.wait(self, seconds)

    def go_on(self) -> None:
        """Note that something of the reply has come."""
        self._limits.note_life(self, is_first=not self._has_begun)
        self._has_begun = True


class CallLimits:
    """Lets calls in, at most `at_once` of them, and of one session at most `per_session`.

    Where calls wait, that of the session with the fewest under way goes first. Calls of no session ("")
    are bound by the first limit alone. Who waits gives up when nothing has come of any call for
    `longest_wait` seconds. `is_measured`: how many the server takes at once is not known, so `at_once` is
    the most that are tried, one more at a time, as long as none has to wait for another's end.
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
        """Return whether a place is let in within `seconds`; raises ModelUnavailableError."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._next() is place, seconds):
                self._check_life()
                return False
            self._waiting.remove(place)
            self._under_way.append(place)
            place.is_under_way, place.beside = True, len(self._under_way)
            self._changed.notify_all()
            return True

    def leave(self, place: Place) -> None:
        """Give a place back, wherever it stands."""
        with self._changed:
            (self._under_way if place.is_under_way else self._waiting).remove(place)
            if place.is_under_way:
                self._life = time.monotonic()
                for other in self._under_way:
                    other.has_seen_an_end = True
            self._changed.notify_all()

    def note_life(self, place: Place, *, is_first: bool) -> None:
        """Note that something came of a call, and at its first token how many run beside each other."""
        with self._changed:
            self._life = time.monotonic()
            if is_first and self._is_measured:
                self._measure(place)
                self._changed.notify_all()

    def _measure(self, place: Place) -> None:
        """Learn from a call's first token: before any other's end, all that were under way really ran."""
        if not place.has_seen_an_end and place.beside > self._proven:
            self._proven, self._waits = place.beside, 0
            self._at_once = min(self._most, self._proven + 1)
        elif place.has_seen_an_end and place.beside > self._proven:
            self._waits += 1
            if self._waits >= SEEN_TO_WAIT:
                self._at_once = self._proven

    def _check_life(self) -> None:
        if time.monotonic() - self._life > self._longest_wait:
            raise ModelUnavailableError(
                f"Too many questions are being answered: none went on within {self._longest_wait:g} s.",
                "Your question is kept; retry in a while.",
            )

    def _next(self) -> Place | None:
        """Return whose turn it is, None when nobody can go on."""
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
    """A model whose calls wait for their turn, opened by the first of them."""

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
            return (yield from _watched(reply, place))

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        def told(piece: str) -> None:
            if piece:
                place.go_on()
            if on_piece:
                on_piece(piece)

        with self._limits.queue(self._session) as place:
            while not place.wait():
                told("")
            return self._opened().reply(messages, parameters, schema, on_exchange, told)


def _watched(reply: Generator[str, None, Completion], place: Place) -> Generator[str, None, Completion]:
    """Yield the pieces of a reply, each a sign that its call goes on."""
    with closing(reply):
        while True:
            try:
                piece = next(reply)
            except StopIteration as end:
                completion: Completion = end.value
                return completion
            if piece:
                place.go_on()
            yield piece
