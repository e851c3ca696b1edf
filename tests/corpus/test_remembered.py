"""What is asked again of a snapshot is answered from memory, of which there is never too much."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from corpus.remembered import Remembered


class Finder:
    """Answers with lists of a given length and counts how often it was asked."""

    def __init__(self, length: int = 1) -> None:
        self.asked = 0
        self._length = length

    def __call__(self) -> list[int]:
        self.asked += 1
        return [0] * self._length


def test_an_answer_is_found_once() -> None:
    remembered, find = Remembered(), Finder()
    first = remembered.answer(("years", None), find)
    assert remembered.answer(("years", None), find) is first
    assert remembered.answer(("years", "year > 1"), find) is not first
    assert find.asked == 2


def test_nothing_found_is_an_answer_too() -> None:
    remembered, find = Remembered(), Finder(0)
    assert remembered.answer("q", find) is remembered.answer("q", find)
    assert find.asked == 1


def test_the_least_recently_asked_is_forgotten_first() -> None:
    remembered = Remembered(answers=2)
    finders = {name: Finder() for name in "abc"}
    for name in "abaca":
        remembered.answer(name, finders[name])
    assert [finders[name].asked for name in "abc"] == [1, 1, 1]
    remembered.answer("b", finders["b"])
    assert finders["b"].asked == 2


def test_large_answers_make_room_for_each_other_and_the_largest_are_not_kept() -> None:
    remembered = Remembered(entries=10)
    small, other, large = Finder(5), Finder(5), Finder(6)
    for name, find in (
        ("small", small),
        ("large", large),
        ("other", other),
        ("large", large),
        ("small", small),
    ):
        remembered.answer(name, find)
    assert (small.asked, other.asked, large.asked) == (1, 1, 2)
    remembered.answer("third", Finder(3))
    remembered.answer("other", other)
    assert other.asked == 2


def test_a_failure_is_not_an_answer() -> None:
    remembered, find = Remembered(), Finder()

    def fail() -> list[int]:
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        remembered.answer("q", fail)
    assert remembered.answer("q", find) == [0]


def test_threads_that_ask_the_same_at_once_wait_for_one_answer() -> None:
    remembered, find, barrier = Remembered(), Finder(), Barrier(8)

    def ask(_: int) -> list[int]:
        barrier.wait()
        return remembered.answer("q", find)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert find.asked == 1
    assert all(answer is answers[0] for answer in answers)
