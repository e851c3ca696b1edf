"""One event loop for all requests to servers, used from ordinary threads.

A task in it can be cancelled at any moment, unlike a thread that waits at a socket.
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


# After a fork, finalizers may come here before `_begin_anew`.
_one_at_a_time = threading.RLock()


def _loop() -> asyncio.AbstractEventLoop:
    """Return the one loop, also to concurrent threads: a client's connections are bound to it."""
    with _one_at_a_time:
        return _running_loop()


@cache
def _running_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop


def _begin_anew() -> None:
    # A forked process has the loop, but not the thread that runs it.
    _running_loop.cache_clear()
    _one_at_a_time.release()


os.register_at_fork(
    before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release, after_in_child=_begin_anew
)


def in_background(work: Coroutine[None, None, None]) -> None:
    """Run a coroutine in the loop without waiting for it."""
    asyncio.run_coroutine_threadsafe(work, _loop())


def awaited(source: AsyncGenerator[Item, None]) -> Generator[Item | None, None, None]:
    """Yield the items of `source`, and None at intervals while waiting; closing it cancels the source."""
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
