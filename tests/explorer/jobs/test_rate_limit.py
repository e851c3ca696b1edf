"""Rate limits of visitors, in one process and in several."""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.storage.rates import RateStore
from explorer.jobs.question import may_succeed_again
from explorer.jobs.rate_limit import (
    COMPARISON_COST,
    MOST_REMEMBERED,
    WHILE,
    Allowed,
    Caller,
    OwnBuckets,
    RateLimit,
    SharedBuckets,
    TooSoonError,
)
from tests.explorer.jobs.running import Clock


def limited(
    most: float,
    clock: Clock,
    *,
    address: float = 0,
    everyone: float = 10**6,
    buckets: OwnBuckets | None = None,
) -> RateLimit:
    return RateLimit(Allowed(most, address=address, everyone=everyone), buckets or OwnBuckets(clock))


def test_a_visitor_asks_as_much_as_is_allowed_and_is_told_when_to_ask_again() -> None:
    limit = limited(2, clock := Clock())
    limit.take(Caller("a"))
    limit.take(Caller("a"))
    with pytest.raises(TooSoonError, match="2 questions can be asked in 10 minutes") as told:
        limit.take(Caller("a"))
    assert "It can be asked again in 5 minutes." in str(told.value)
    assert may_succeed_again(told.value)
    limit.take(Caller("b"))
    clock.now = WHILE / 2
    limit.take(Caller("a"))
    limit = limited(20, clock := Clock())
    for _ in range(20):
        limit.take(Caller("a"))
    with pytest.raises(TooSoonError, match="again in 30 seconds"):
        limit.take(Caller("a"))
    clock.now = 30
    limit.take(Caller("a"))
    limit = limited(5, Clock())
    limit.take(Caller("a"), COMPARISON_COST)
    with pytest.raises(TooSoonError):
        limit.take(Caller("a"), COMPARISON_COST)
    limited(1, Clock()).take(Caller("a"), COMPARISON_COST)


def test_visitors_are_counted_where_there_is_a_limit_and_until_they_have_not_asked_for_long() -> None:
    limit = limited(0, clock := Clock(), buckets=(buckets := OwnBuckets(clock)))
    for _ in range(1000):
        limit.take(Caller("a"))
    assert buckets.count == 0, "nothing is counted"
    limit = limited(2, clock := Clock(), buckets=(buckets := OwnBuckets(clock)))
    for number in range(MOST_REMEMBERED - 1):
        limit.take(Caller(f"visitor {number}"))
    clock.now = WHILE
    limit.take(Caller("another"))
    assert buckets.count == 2, "the one who asked, and all together"


@given(st.lists(st.floats(0, 300), max_size=60), st.integers(1, 30))
def test_never_more_is_asked_than_is_allowed(waits: list[float], most: int) -> None:
    limit = limited(most, clock := Clock())
    asked = 0
    for wait in waits:
        clock.now += wait
        try:
            limit.take(Caller("a"))
        except TooSoonError:
            continue
        asked += 1
    assert asked <= most + clock.now * most / WHILE + 1e-4


def test_invented_visitors_run_into_the_limits_of_all_and_of_their_address() -> None:
    limit = limited(20, clock := Clock(), everyone=5, buckets=(buckets := OwnBuckets(clock)))
    for number in range(100):
        limit.take(Caller(f"invented {number}"))
    with pytest.raises(TooSoonError, match="100 questions can be asked by all visitors together"):
        limit.take(Caller("invented 100"))
    assert buckets.count == 101, "who is refused takes no place"
    clock.now = WHILE / 100
    limit.take(Caller("invented 100"))
    limit = limited(2, Clock(), address=2, everyone=10)
    for number in range(4):
        limit.take(Caller(f"invented {number}", "203.0.113.7/32"))
    for _ in range(50):
        with pytest.raises(TooSoonError, match="4 questions can be asked from one address in 10 minutes"):
            limit.take(Caller("another", "203.0.113.7/32"))
    limit.take(Caller("another", "203.0.113.8/32"))
    limit.take(Caller("another"))
    with pytest.raises(TooSoonError, match="2 questions can be asked in 10 minutes"):
        limit.take(Caller("another", "203.0.113.9/32"))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., RateLimit]]:
    """Yield a function that opens a rate limit as another process would, in a shared database."""
    with ExitStack() as stack:

        def begun(most: float, *, everyone: float = 0, path: Path = tmp_path / "rates.sqlite") -> RateLimit:
            store = stack.enter_context(closing(RateStore(path)))
            allowed = Allowed(most, address=2, everyone=everyone)
            return RateLimit(allowed, SharedBuckets(lambda: store, OwnBuckets()), b"key")

        yield begun


def asked(limit: RateLimit, caller: Caller) -> bool:
    try:
        limit.take(caller)
    except TooSoonError:
        return False
    return True


def test_fault_each_process_gave_a_visitor_as_much_again(process: Callable[..., RateLimit]) -> None:
    limits = [process(5, everyone=2) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        taken = threads.map(lambda number: asked(limits[number % 4], Caller("a")), range(40))
        assert sum(taken) == 5
    others = [asked(limits[number % 4], Caller(f"invented {number}")) for number in range(20)]
    assert sum(others) == 5, "all together have twice as much as one"


def test_processes_share_their_counts(process: Callable[..., RateLimit], tmp_path: Path) -> None:
    limits = [process(100) for _ in range(3)]
    with ThreadPoolExecutor(6) as threads:
        taken = list(threads.map(lambda number: asked(limits[number % 3], Caller("a", "b")), range(60)))
    assert sum(taken) == 60
    process(2, everyone=2, path=tmp_path / "other.sqlite").take(Caller("visitor-a", "203.0.113.7/32"))
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        rows = connection.execute("SELECT * FROM rates").fetchall()
    stored = str(rows)
    assert len(rows) == 3
    assert "203.0.113" not in stored and "visitor-a" not in stored


def test_a_clock_set_back_keeps_nobody_out(process: Callable[..., RateLimit], tmp_path: Path) -> None:
    limit = process(2)
    limit.take(Caller("a"))
    with closing(sqlite3.connect(tmp_path / "rates.sqlite")) as connection, connection:
        connection.execute("UPDATE rates SET whole_at = ?", (time.time() + 1e6,))
    for _ in range(2):
        limit.take(Caller("a"))
    with pytest.raises(TooSoonError) as told:
        limit.take(Caller("a"))
    assert told.value.wait <= WHILE / 2


def test_where_the_database_cannot_be_used_a_process_counts_alone_and_does_not_wait_for_it_each_time(
    process: Callable[..., RateLimit], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limit = process(3)
    with closing(sqlite3.connect(tmp_path / "rates.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE rates RENAME TO away")
    with caplog.at_level(logging.WARNING):
        assert [asked(limit, Caller("a")) for _ in range(4)] == [True, True, True, False]
    assert caplog.text.count("this process counts alone") == 1
