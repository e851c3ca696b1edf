"""Readings of a corpus at once: most of a search is spent in its storage, with Python let go of."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

# More searches than that at once keep every core busy by themselves.
_AT_ONCE = 8

One = TypeVar("One")
Other = TypeVar("Other")


def together(one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """Run two independent functions in parallel and return both results; raises the errors of either.

    Both may do so themselves: nobody waits for what has not begun, but does it.
    """
    beside = _threads().submit(other)
    return one(), _done(beside, other)


def each(read: Callable[[One], Other], items: Iterable[One]) -> list[Other]:
    """Map a function over items in parallel, in their order; see `together`."""
    works = [partial(read, item) for item in items]
    begun = [_threads().submit(work) for work in works]
    return [_done(beside, work) for beside, work in zip(begun, works, strict=True)]


def _done(beside: "Future[Other]", work: Callable[[], Other]) -> Other:
    return work() if beside.cancel() else beside.result()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="search")
