"""How much each visitor may ask in a while."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.jobs.question import may_succeed_again
from explorer.jobs.rate_limit import (
    COMPARISON_COST,
    MOST_REMEMBERED,
    WHILE,
    Allowed,
    Caller,
    RateLimit,
    TooSoonError,
)
from tests.explorer.jobs.running import Clock


def limited(most: float, clock: Clock, *, address: float = 0, everyone: float = 10**6) -> RateLimit:
    return RateLimit(Allowed(most, address=address, everyone=everyone), clock)


def test_a_visitor_asks_as_much_as_is_allowed_and_no_other_is_held_up() -> None:
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


def test_the_wait_that_is_said_is_long_enough() -> None:
    limit = limited(20, clock := Clock())
    for _ in range(20):
        limit.take(Caller("a"))
    with pytest.raises(TooSoonError, match="again in 30 seconds"):
        limit.take(Caller("a"))
    clock.now = 30
    limit.take(Caller("a"))


def test_a_comparison_counts_as_several_questions_and_is_always_possible_once() -> None:
    limit = limited(5, Clock())
    limit.take(Caller("a"), COMPARISON_COST)
    with pytest.raises(TooSoonError):
        limit.take(Caller("a"), COMPARISON_COST)
    limited(1, Clock()).take(Caller("a"), COMPARISON_COST)


def test_of_none_there_is_no_limit() -> None:
    limit = limited(0, Clock())
    for _ in range(1000):
        limit.take(Caller("a"))
    assert limit._buckets == {}, "nothing is counted"


def test_visitors_who_have_not_asked_for_long_are_forgotten() -> None:
    limit = limited(2, clock := Clock())
    for number in range(MOST_REMEMBERED - 1):
        limit.take(Caller(f"visitor {number}"))
    clock.now = WHILE
    limit.take(Caller("another"))
    assert len(limit._buckets) == 2, "the one who asked, and all together"


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
    assert asked <= most + clock.now * most / WHILE + 1e-6


def test_invented_visitors_run_into_the_limit_of_all_together() -> None:
    limit = limited(20, clock := Clock(), everyone=5)
    for number in range(100):
        limit.take(Caller(f"invented {number}"))
    with pytest.raises(TooSoonError, match="100 questions can be asked by all visitors together"):
        limit.take(Caller("invented 100"))
    assert len(limit._buckets) == 101, "who is refused takes no place"
    clock.now = WHILE / 100
    limit.take(Caller("invented 100"))


def test_an_address_has_a_limit_of_its_own_and_who_is_refused_takes_nothing_from_others() -> None:
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
