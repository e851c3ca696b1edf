"""Rate limits of visitors' questions and documents. No Streamlit."""

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from assistant.records import AssistantError
from assistant.storage.rates import take_from
from corpus.errors import CorpusError
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
# So long a database that has failed is not tried again: a question must not wait for it each time.
PAUSE_SECONDS = 30.0

logger = logging.getLogger(__name__)


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
    """The allowance of a visitor in a `unit`, and the words for what is `done` and `kept`.

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


class Buckets(Protocol):
    """Recent use of each allowance: of this process, or of all (RateStore)."""

    def take(self, seconds: Mapping[str, float], most: float) -> dict[str, float]:
        """Take from buckets, each by the seconds in which that comes back; or return by how much it is over.

        Negative seconds give back.
        Raises AssistantError where that cannot be counted.
        """


class OwnBuckets:
    """The buckets of this process alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._forget_above = MOST_REMEMBERED
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        return len(self._full_at)

    def take(self, seconds: Mapping[str, float], most: float) -> dict[str, float]:
        with self._lock:
            now = self._clock()
            taken, over = take_from(self._full_at, seconds, now, most)
            self._full_at |= taken
            if len(self._full_at) > self._forget_above:
                self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
                # Looked through again only when there are many more: not at every question of a busy time.
                self._forget_above = max(MOST_REMEMBERED, 2 * len(self._full_at))
        return over


class SharedBuckets:
    """The buckets of all processes; where they cannot be counted together, those of this process."""

    def __init__(
        self,
        open_shared: Callable[[], Buckets],
        own: OwnBuckets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the shared ones each time, which may raise AssistantError."""
        self._open_shared, self._own, self._clock = open_shared, own, clock
        self._try_again = 0.0

    def take(self, seconds: Mapping[str, float], most: float) -> dict[str, float]:
        if self._clock() >= self._try_again:
            try:
                return self._open_shared().take(seconds, most)
            except AssistantError as error:
                self._try_again = self._clock() + PAUSE_SECONDS
                logger.warning("this process counts alone for %.0f s: %s", PAUSE_SECONDS, error)
        return self._own.take(seconds, most)


class RateLimit:
    """Token buckets, one for each visitor, one for each address, and one for all visitors together.

    A bucket fills from empty in `WHILE` seconds. Who sends no cookie, or another one each time, is another
    visitor each time: that is what the other two are for. `key` hashes whose a bucket is, for addresses are
    not to be stored.
    """

    def __init__(self, allowed: Allowed, buckets: Buckets, key: bytes = b"") -> None:
        self._allowed, self._buckets, self._key = allowed, buckets, key

    def take(self, caller: Caller, cost: float = 1.0) -> None:
        """Count what a caller does, or nothing of it where it is too much; raises TooSoonError."""
        if not self._allowed.most:
            return
        cost = min(cost, self._allowed.most)
        sizes = {self._id(kind, who): (kind, size) for (kind, who), size in self._sizes(caller).items()}
        over = self._buckets.take({key: cost * WHILE / size for key, (_, size) in sizes.items()}, WHILE)
        if over:
            longest = max(over, key=lambda key: over[key])
            raise TooSoonError(self._refusal(*sizes[longest], over[longest]), over[longest])

    @contextmanager
    def counting(self, caller: Caller, cost: float = 1.0) -> Iterator[None]:
        """Count what a caller begins within the block; what cannot begin costs nothing.

        Raises TooSoonError.
        """
        self.take(caller, cost)
        try:
            yield
        except (AssistantError, CorpusError):
            if self._allowed.most:
                cost = min(cost, self._allowed.most)
                sizes = {self._id(*whose): size for whose, size in self._sizes(caller).items()}
                self._buckets.take({key: -cost * WHILE / size for key, size in sizes.items()}, WHILE)
            raise

    def _sizes(self, caller: Caller) -> dict[tuple[str, str], float]:
        """Return the buckets that a caller takes from, with how much each holds."""
        most, allowed = self._allowed.most, self._allowed
        sizes = {("visitor", caller.visitor): most}
        if caller.address and allowed.address:
            sizes["address", caller.address] = most * max(1, allowed.address)
        if allowed.everyone:
            sizes["everyone", ""] = most * max(1, allowed.everyone)
        return sizes

    def _id(self, kind: str, who: str) -> str:
        named = f"{self._allowed.unit}\n{kind}\n{who}".encode()
        return hmac.new(self._key, named, hashlib.sha256).hexdigest()

    def _refusal(self, whose: str, size: float, wait: float) -> str:
        by = {"address": " from one address", "everyone": " by all visitors together"}.get(whose, "")
        done = f"{counted(round(size), self._allowed.unit)} can be {self._allowed.done}{by}"
        told = f"{done} in {WHILE / 60:.0f} minutes{self._allowed.note}"
        return f"{told}. {self._allowed.kept} in {_format_wait(wait)}."


def _format_wait(wait: float) -> str:
    """Return a time to wait, rounded up: at its end there must be nothing left to wait for."""
    seconds = max(1, ceil(wait))
    return counted(seconds, "second") if seconds < 120 else counted(ceil(seconds / 60), "minute")
