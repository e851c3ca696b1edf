"""A process that is told to stop first ends the answers under way, as far as they come in the time it has."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.jobs.runner import is_ending, jobs_under_way, stopping
from explorer.observing.events import ProcessState
from explorer.observing.telling import tell

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.1
# Until the screens have shown the last answers; and what the server may take to close its connections.
_SHOWN_SECONDS, _CLOSED_SECONDS = 1.0, 5.0
_USUAL_SECONDS = 30.0

End = Callable[[], Any]


@contextmanager
def ending_answers_first() -> Iterator[None]:
    """Have a signal to stop heeded when answers are complete or their time is over; a second one at once.

    The server's own handlers, which close its connections, are called then. To be entered in its event loop.
    """
    if threading.current_thread() is not threading.main_thread():  # there are no signals elsewhere
        yield
        return
    loop = asyncio.get_running_loop()
    before = {int(number): signal.getsignal(number) for number in _SIGNALS}

    def heed(number: int, frame: FrameType | None) -> None:
        own = before[number]
        end = partial(own, number, frame) if callable(own) else partial(_end_now, number)
        if stopping.is_set():
            end()
            return
        stopping.set()
        loop.call_soon_threadsafe(lambda: asyncio.ensure_future(_end_after_answers(end)))

    for number in _SIGNALS:
        signal.signal(number, heed)
    try:
        yield
    finally:
        for number in _SIGNALS:
            signal.signal(number, before[number])


async def _end_after_answers(end: End) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _seconds_to_stop()
    had_any = bool(jobs_under_way())
    tell(ProcessState("stopping", len(jobs_under_way())))
    while jobs_under_way() and loop.time() < deadline:
        await asyncio.sleep(_LOOK_SECONDS)
    left = jobs_under_way()
    if had_any and not left:
        await asyncio.sleep(_SHOWN_SECONDS)
    is_ending.set()
    tell(ProcessState("ending", len(left)))
    for job in left:
        # Not stopped: what is stored of it says that it was under way.
        job.let_go()
    killer = threading.Timer(_CLOSED_SECONDS, _end_now, [signal.SIGTERM])
    killer.daemon = True
    killer.start()
    end()


def _seconds_to_stop() -> float:
    try:
        return read_settings().stop_seconds
    except CorpusError:  # Every screen says so.
        return _USUAL_SECONDS


def _end_now(number: int) -> None:
    """End whatever is still going on: a connection that does not close holds nobody up."""
    os._exit(128 + number)
