"""Parallel reads of a corpus, whose storage releases Python's lock for most of a search."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

# More concurrent searches keep every core busy anyway.
_AT_ONCE = 8

One = TypeVar("One")
Other = TypeVar("Other")


def together(first: Callable[[], One], second: Callable[[], Other]) -> tuple[One, Other]:
    """Run two independent functions in parallel and return both results; raises the errors of either.

    Both may do the same: a task that has not begun runs in the caller's thread, so nesting cannot deadlock.
    """
    future = _threads().submit(second)
    return first(), _result(future, second)


def each(read: Callable[[One], Other], items: Iterable[One]) -> list[Other]:
    """Map a function over items in parallel, in their order; see `together`."""
    tasks = [partial(read, item) for item in items]
    futures = [_threads().submit(task) for task in tasks]
    return [_result(future, task) for future, task in zip(futures, tasks, strict=True)]


def _result(future: "Future[Other]", task: Callable[[], Other]) -> Other:
    return task() if future.cancel() else future.result()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="search")
