"""Screens drawn one by one: Python draws at one at a time anyway, and who shares it with others waits longer.

Of ten screens begun at once and drawn side by side, in slices of a few milliseconds, all are done when the
last is. One after another, in the order in which they were asked for, half of them are done in half the time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# Who takes longer works at something else, or waits for it: the next one no longer waits for that.
LONGEST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A screen that is drawn: whether its turn has come, and whether the next one's has."""

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


class OneByOne:
    """Draws one screen at a time, unless that takes long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: _Drawing | None = None
        self._mine = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Draw when those who came before are done."""
        try:
            self._begin()
            yield
        finally:
            self._end()

    @contextmanager
    def others_first(self) -> Iterator[None]:
        """Give one's turn away for what is no drawing, and wait for the next; without a turn, just do it."""
        if getattr(self._mine, "drawing", None) is None:
            yield
            return
        self._end()
        try:
            yield
        finally:
            self._begin()

    def _begin(self) -> None:
        drawing = self._mine.drawing = _Drawing()
        with self._lock:
            before, self._last = self._last, drawing
        drawing.begin(before)

    def _end(self) -> None:
        self._mine.drawing.end()
        self._mine.drawing = None


screens = OneByOne()
