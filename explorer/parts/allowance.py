"""How much each visitor may ask in a while, so that one cannot take what is there for all. No Streamlit."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from assistant.records import AssistantError

WHILE = 600.0
# A comparison asks a model dozens of times, where a question asks it twice.
COMPARISON_COST = 4.0
# Full buckets are forgotten when there are more than this: who comes again has a full one anyway.
MOST_REMEMBERED = 4096


class TooSoonError(AssistantError):
    """A visitor has asked as much as is allowed for now."""


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class Allowance:
    """A token bucket for each visitor: it holds `questions`, and fills from empty in `WHILE` seconds.

    Of 0 questions it has no limit. Who sends no cookie is another visitor at each visit: that is what the
    limit of all questions at once is for.
    """

    def __init__(self, questions: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(questions)
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, visitor: str, cost: float = 1.0) -> None:
        """Count a question, or what costs as much as several; raises TooSoonError."""
        if not self._most:
            return
        cost = min(cost, self._most)
        with self._lock:
            bucket = self._filled(visitor)
            if bucket.left >= cost:
                bucket.left -= cost
                return
            wait = (cost - bucket.left) * WHILE / self._most
        raise TooSoonError(
            f"{self._most:.0f} questions can be asked in {WHILE / 60:.0f} minutes, a comparison counts as "
            f"{COMPARISON_COST:.0f}. What you asked is kept; it can be asked again in {_said(wait)}."
        )

    def _filled(self, visitor: str) -> _Bucket:
        """Return a visitor's bucket with what has come into it since it was last seen."""
        now = self._clock()
        if len(self._buckets) > MOST_REMEMBERED:
            self._forget_full(now)
        bucket = self._buckets.setdefault(visitor, _Bucket(self._most, now))
        bucket.left, bucket.seen = self._left(bucket, now), now
        return bucket

    def _left(self, bucket: _Bucket, now: float) -> float:
        return min(self._most, bucket.left + (now - bucket.seen) * self._most / WHILE)

    def _forget_full(self, now: float) -> None:
        self._buckets = {
            visitor: bucket
            for visitor, bucket in self._buckets.items()
            if self._left(bucket, now) < self._most
        }


def _said(wait: float) -> str:
    """Return a time to wait, rounded up: at its end there must be nothing left to wait for."""
    seconds = max(1, ceil(wait))
    if seconds < 120:
        return f"{seconds} second{'s' if seconds > 1 else ''}"
    return f"{ceil(seconds / 60)} minutes"
