"""How much visitors may ask and bring in a while, so that none takes what is there for all. No Streamlit."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from assistant.records import AssistantError
from corpus.wording import counted

WHILE = 600.0
# A comparison asks a model dozens of times, where a question asks it twice.
COMPARISON_COST = 4.0
# Of documents: a library of a hundred is written as a zip, which may have hundreds of megabytes.
EXPORT_COST = 10.0
# Where the server notes the address of a request; what a browser sends under this name is dropped.
ADDRESS_HEADER = "x-paper-trail-address"
# Full buckets are forgotten when there are more than this: who comes again has a full one anyway.
MOST_REMEMBERED = 4096


class TooSoonError(AssistantError):
    """A visitor, or all of them together, have taken as much as is allowed for now; `wait` is in seconds."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a visitor, and the address they come from, "" where no proxy is trusted to tell it."""

    visitor: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Allowed:
    """How many of a `unit` a visitor may have `done`, and what is told of the rest: a `note` and `kept`.

    `address` and `everyone` are how much one address and all visitors together may have, as multiples of
    what one visitor may; of 0 there is no limit.
    """

    most: float
    address: float = 5
    everyone: float = 20
    unit: str = "question"
    done: str = "asked"
    note: str = f", a comparison counts as {COMPARISON_COST:.0f}"
    kept: str = "It can be asked again"


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class RateLimit:
    """Token buckets, one for each visitor, one for each address, and one for all visitors together.

    A bucket fills from empty in `WHILE` seconds. Who sends no cookie, or another one each time, is another
    visitor each time: that is what the other two are for.
    """

    def __init__(self, allowed: Allowed, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._clock = clock
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self._forget_above = MOST_REMEMBERED
        self._lock = threading.Lock()

    def take(self, caller: Caller, cost: float = 1.0) -> None:
        """Count what a caller does, or nothing of it where it is too much; raises TooSoonError."""
        if not self._allowed.most:
            return
        cost = min(cost, self._allowed.most)
        sizes = self._sizes(caller)
        with self._lock:
            now = self._clock()
            left = {key: self._left(key, size, now) for key, size in sizes.items()}
            waits = {key: (cost - left[key]) * WHILE / size for key, size in sizes.items()}
            longest = max(waits, key=lambda key: waits[key])
            if waits[longest] <= 0:
                self._buckets |= {key: _Bucket(left[key] - cost, now) for key in sizes}
                self._forget_full(now)
                return
        raise TooSoonError(self._refusal(longest[0], sizes[longest], waits[longest]), waits[longest])

    def _sizes(self, caller: Caller) -> dict[tuple[str, str], float]:
        """Return the buckets that a caller takes from, with how much each holds."""
        most, allowed = self._allowed.most, self._allowed
        sizes = {("visitor", caller.visitor): most}
        if caller.address and allowed.address:
            sizes["address", caller.address] = most * max(1, allowed.address)
        if allowed.everyone:
            sizes["everyone", ""] = most * max(1, allowed.everyone)
        return sizes

    def _left(self, key: tuple[str, str], size: float, now: float) -> float:
        """Return what is in a bucket, with what has come into it since it was last seen."""
        bucket = self._buckets.get(key)
        return min(size, bucket.left + (now - bucket.seen) * size / WHILE) if bucket else size

    def _forget_full(self, now: float) -> None:
        if len(self._buckets) > self._forget_above:
            self._buckets = {key: one for key, one in self._buckets.items() if now - one.seen < WHILE}
            # Looked through again only when there are many more: not at every question of a busy time.
            self._forget_above = max(MOST_REMEMBERED, 2 * len(self._buckets))

    def _refusal(self, whose: str, size: float, wait: float) -> str:
        by = {"address": " from one address", "everyone": " by all visitors together"}.get(whose, "")
        done = f"{counted(round(size), self._allowed.unit)} can be {self._allowed.done}{by}"
        told = f"{done} in {WHILE / 60:.0f} minutes{self._allowed.note}"
        return f"{told}. {self._allowed.kept} in {_format_wait(wait)}."


def _format_wait(wait: float) -> str:
    """Return a time to wait, rounded up: at its end there must be nothing left to wait for."""
    seconds = max(1, ceil(wait))
    return counted(seconds, "second") if seconds < 120 else counted(ceil(seconds / 60), "minute")
