"""One event loop for all that is awaited from servers, watched from ordinary threads.

What waits in it can be ended at any moment, which a thread that waits at a socket itself cannot.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import aclosing
from functools import cache
from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")

LOOK_AGAIN_SECONDS = 0.1


# In a process that was just forked, garbage may be collected before `_begin_anew`: its finalizers come here.
_one_at_a_time = threading.RLock()


def _loop() -> asyncio.AbstractEventLoop:
    """Return the one loop, even to threads that ask at once: a client's connections are bound to it."""
    with _one_at_a_time:
        return _running_loop()


@cache
def _running_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop


def _begin_anew() -> None:
    # A process that was forked has the loop, and not the thread that runs it.
    _running_loop.cache_clear()
    _one_at_a_time.release()


os.register_at_fork(
    before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release, after_in_child=_begin_anew
)


def in_background(work: Coroutine[None, None, None]) -> None:
    """Have the loop do something, and wait for nothing."""
    asyncio.run_coroutine_threadsafe(work, _loop())


def awaited(source: AsyncGenerator[Item, None]) -> Generator[Item | None, None, None]:
    """Yield the items of `source`, and None every now and then while it has none.

    Closing this cancels the source where it waits. Raises what the source raises.
    """
    arrived: SimpleQueue[Item | None] = SimpleQueue()
    task = asyncio.run_coroutine_threadsafe(_pass_on(source, arrived), _loop())
    try:
        while True:
            try:
                item = arrived.get(timeout=LOOK_AGAIN_SECONDS)
            except Empty:
                yield None
                continue
            if item is None:
                break
            yield item
        task.result()
    finally:
        task.cancel()


async def _pass_on(source: AsyncGenerator[Item, None], arrived: "SimpleQueue[Item | None]") -> None:
    try:
        async with aclosing(source):
            async for item in source:
                arrived.put(item)
    finally:
        arrived.put(None)  # the end, however it came
