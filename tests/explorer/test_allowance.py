"""How much each visitor may ask in a while."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.parts.allowance import COMPARISON_COST, MOST_REMEMBERED, WHILE, Allowance, TooSoonError
from explorer.parts.jobs import may_succeed_again


class Clock:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_visitor_asks_as_much_as_is_allowed_and_no_other_is_held_up() -> None:
    allowance = Allowance(2, clock := Clock())
    allowance.take("a")
    allowance.take("a")
    with pytest.raises(TooSoonError, match="2 questions can be asked in 10 minutes") as told:
        allowance.take("a")
    assert "What you asked is kept; it can be asked again in 5 minutes." in str(told.value)
    assert may_succeed_again(told.value)
    allowance.take("b")
    clock.now = WHILE / 2
    allowance.take("a")


def test_the_wait_that_is_said_is_long_enough() -> None:
    allowance = Allowance(20, clock := Clock())
    for _ in range(20):
        allowance.take("a")
    with pytest.raises(TooSoonError, match="again in 30 seconds"):
        allowance.take("a")
    clock.now = 30
    allowance.take("a")


def test_a_comparison_counts_as_several_questions_and_is_always_possible_once() -> None:
    allowance = Allowance(5, Clock())
    allowance.take("a", COMPARISON_COST)
    with pytest.raises(TooSoonError):
        allowance.take("a", COMPARISON_COST)
    Allowance(1, Clock()).take("a", COMPARISON_COST)


def test_of_none_there_is_no_limit() -> None:
    allowance = Allowance(0, Clock())
    for _ in range(1000):
        allowance.take("a")


def test_visitors_who_have_not_asked_for_long_are_forgotten() -> None:
    allowance = Allowance(2, clock := Clock())
    for number in range(MOST_REMEMBERED + 1):
        allowance.take(f"visitor {number}")
    clock.now = WHILE
    allowance.take("another")
    assert len(allowance._buckets) == 1


@given(st.lists(st.floats(0, 300), max_size=60), st.integers(1, 30))
def test_never_more_is_asked_than_is_allowed(waits: list[float], most: int) -> None:
    allowance = Allowance(most, clock := Clock())
    asked = 0
    for wait in waits:
        clock.now += wait
        try:
            allowance.take("a")
        except TooSoonError:
            continue
        asked += 1
    assert asked <= most + clock.now * most / WHILE + 1e-6
