"""Screens drawn one after another instead of concurrently, as Python runs one thread at a time anyway.

Ten screens drawn concurrently are all done when the last is; drawn in order of request, half of them are
done in half the time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# A screen that takes longer is waiting for something else; the next one starts.
LONGEST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A screen in the queue: `begun` is set when its turn comes, `over` when it is drawn."""

    begun: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def begin(self, after: "_Drawing | None") -> None:
        if after:
            after.begun.wait()
            after.over.wait(LONGEST_SECONDS)
        self.begun.set()

    def end(self) -> None:
        self.begun.set()
        self.over.set()


class DrawingQueue:
    """Lets one thread draw at a time, in order of request, each for at most `LONGEST_SECONDS` alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: _Drawing | None = None
        self._local = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the screens requested before, then hold the turn."""
        try:
            self._begin()
            yield
        finally:
            self._end()

    @contextmanager
    def yield_turn(self) -> Iterator[None]:
        """Give the turn away during the block, then queue for another; does nothing without a turn."""
        if getattr(self._local, "drawing", None) is None:
            yield
            return
        self._end()
        try:
            yield
        finally:
            self._begin()

    def _begin(self) -> None:
        drawing = self._local.drawing = _Drawing()
        with self._lock:
            before, self._last = self._last, drawing
        drawing.begin(before)

    def _end(self) -> None:
        self._local.drawing.end()
        self._local.drawing = None


screens = DrawingQueue()
