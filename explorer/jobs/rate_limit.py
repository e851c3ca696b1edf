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
# A comparison makes dozens of model calls, a question two.
COMPARISON_COST = 4.0
# In documents: the zip of a library may have hundreds of megabytes.
EXPORT_COST = 10.0
# The header that the server sets to the address of a request, replacing any that a browser sent.
ADDRESS_HEADER = "x-paper-trail-address"
# Above this many, full buckets are dropped; a new bucket is full as well.
MOST_REMEMBERED = 4096
# A database that failed is not tried again for this long, so that questions do not wait for it.
PAUSE_SECONDS = 30.0

logger = logging.getLogger(__name__)


class TooSoonError(AssistantError):
    """A rate limit is used up; `wait` is the time in seconds until another try may succeed."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Caller:
    """A visitor's owner id, and their address, "" without a trusted proxy to report it."""

    visitor: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The allowance of one visitor in `unit`s, 0 for no limit, and the words of its refusal.

    `address` and `everyone` are the allowances of one address and of all visitors together, as multiples of
    `most`; 0 for no limit.
    """

    most: float
    address: float = 5
    everyone: float = 20
    unit: str = "question"
    done: str = "asked"
    note: str = f", a comparison counts as {COMPARISON_COST:.0f}"
    kept: str = "It can be asked again"


class Buckets(Protocol):
    """Recent use of each allowance, in this process or in all (RateStore)."""

    def take(self, seconds: Mapping[str, float], most: float) -> dict[str, float]:
        """Take from buckets, in seconds of refilling; if any would be over `most`, only return by how much.

        Negative seconds give back. Raises AssistantError if the use cannot be counted.
        """


class OwnBuckets:
    """The buckets of this process."""

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
                # Doubled, so that a busy server does not search them at every question.
                self._forget_above = max(MOST_REMEMBERED, 2 * len(self._full_at))
        return over


class SharedBuckets:
    """The buckets of all processes; those of this process while the shared ones fail."""

    def __init__(
        self,
        open_shared: Callable[[], Buckets],
        own: OwnBuckets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take `open_shared`, called for each use, which may raise AssistantError."""
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

    A bucket fills from empty in `WHILE` seconds. The latter two limit browsers that send no cookie, or
    another one each time. Bucket names are hashed with `key`, as addresses must not be stored.
    """

    def __init__(self, allowed: Allowed, buckets: Buckets, key: bytes = b"") -> None:
        self._allowed, self._buckets, self._key = allowed, buckets, key

    def take(self, caller: Caller, cost: float = 1.0) -> None:
        """Count `cost` units of a caller; counts nothing and raises TooSoonError if that is too much."""
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
        """Count `cost` units of a caller, given back if the block fails; raises TooSoonError."""
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
        """Return the buckets of a caller, by kind and name, with their sizes in units."""
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
        rule = f"{done} in {WHILE / 60:.0f} minutes{self._allowed.note}"
        # Rounded up, so that waiting that long is enough.
        seconds = max(1, ceil(wait))
        time = counted(seconds, "second") if seconds < 120 else counted(ceil(seconds / 60), "minute")
        return f"{rule}. {self._allowed.kept} in {time}."
