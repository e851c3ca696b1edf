"""Readings of a corpus at once: most of a search is spent in its storage, with Python let go of."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

# More searches than that at once keep every core busy by themselves.
_AT_ONCE = 8
_NAME = "search-beside"

One = TypeVar("One")
Other = TypeVar("Other")


def together(one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """Return what two functions return that wait for each other in nothing; raises what either raises.

    What runs beside something already does its own one after the other: if it waited for a thread, and so
    did all who have one, none would come.
    """
    if _is_beside():
        return one(), other()
    beside = _threads().submit(other)
    return one(), beside.result()


def each(read: Callable[[One], Other], items: Iterable[One]) -> list[Other]:
    """Return what a function returns of each item, in their order; raises what it raises of the first."""
    return list(map(read, items) if _is_beside() else _threads().map(read, items))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=_NAME)


def _is_beside() -> bool:
    return threading.current_thread().name.startswith(_NAME)
