"""Repeated queries on a snapshot are answered from a cache of bounded size."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from corpus.store.query_cache import QueryCache


class Finder:
    """Answers with lists of a given length and counts how often it was asked."""

    def __init__(self, length: int = 1) -> None:
        self.asked = 0
        self._length = length

    def __call__(self) -> list[int]:
        self.asked += 1
        return [0] * self._length


def test_an_answer_is_found_once_also_where_it_is_nothing_and_a_failure_is_none() -> None:
    cache, find = QueryCache(), Finder()
    first = cache.answer(("years", None), find)
    assert cache.answer(("years", None), find) is first
    assert cache.answer(("years", "year > 1"), find) is not first
    assert find.asked == 2
    cache, find = QueryCache(), Finder(0)
    assert cache.answer("q", find) is cache.answer("q", find)
    assert find.asked == 1

    def fail() -> list[int]:
        raise ValueError("damaged")

    cache, find = QueryCache(), Finder()
    with pytest.raises(ValueError, match="damaged"):
        cache.answer("q", fail)
    assert cache.answer("q", find) == [0]


def test_the_least_recently_asked_and_the_largest_answers_are_forgotten_first() -> None:
    cache = QueryCache(answers=2)
    finders = {name: Finder() for name in "abc"}
    for name in "abaca":
        cache.answer(name, finders[name])
    assert [finders[name].asked for name in "abc"] == [1, 1, 1]
    cache.answer("b", finders["b"])
    assert finders["b"].asked == 2
    cache = QueryCache(entries=10)
    finders = {"small": Finder(5), "other": Finder(5), "large": Finder(6)}
    for name in ("small", "large", "other", "large", "small"):
        cache.answer(name, finders[name])
    assert [find.asked for find in finders.values()] == [1, 1, 2]
    cache.answer("third", Finder(3))
    cache.answer("other", finders["other"])
    assert finders["other"].asked == 2


def test_threads_that_ask_the_same_at_once_wait_for_one_answer() -> None:
    cache, find, barrier = QueryCache(), Finder(), Barrier(8)

    def ask(_: int) -> list[int]:
        barrier.wait()
        return cache.answer("q", find)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert find.asked == 1
    assert all(answer is answers[0] for answer in answers)
