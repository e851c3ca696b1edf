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


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop


# A process that was forked has the loop, and not the thread that runs it.
os.register_at_fork(after_in_child=_loop.cache_clear)


def in_background(work: Coroutine[None, None, None]) -> None:
    """Have the loop do something, and wait for nothing."""
    asyncio.run_coroutine_threadsafe(work, _loop())


def awaited(source: AsyncGenerator[Item, None]) -> Generator[Item | None, None, None]:
    """Yield what `source` yields, and None every now and then while it has nothing.

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
