"""Graceful stopping: on a signal, running answers get some time before the server ends."""

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
from explorer.observing.observer import observe

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.1
# The time for screens to show the last answers, and for the server to close its connections.
_SHOWN_SECONDS, _CLOSED_SECONDS = 1.0, 5.0
_USUAL_SECONDS = 30.0

End = Callable[[], Any]


@contextmanager
def finishing_jobs_first() -> Iterator[None]:
    """Delay a signal to stop until running jobs are over or their time is; a second signal acts at once.

    Then the server's own handlers are called, which close its connections. Enter it in the event loop.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread handles signals
        yield
        return
    loop = asyncio.get_running_loop()
    before = {int(number): signal.getsignal(number) for number in _SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        handler = before[number]
        end = partial(handler, number, frame) if callable(handler) else partial(_end_now, number)
        if stopping.is_set():
            end()
            return
        stopping.set()
        loop.call_soon_threadsafe(lambda: asyncio.ensure_future(_end_after_jobs(end)))

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in _SIGNALS:
            signal.signal(number, before[number])


async def _end_after_jobs(end: End) -> None:
    loop = asyncio.get_running_loop()
    try:
        seconds = read_settings().stop_seconds
    except CorpusError:  # Every screen reports it.
        seconds = _USUAL_SECONDS
    deadline = loop.time() + seconds
    had_any = bool(jobs_under_way())
    observe(ProcessState("stopping", len(jobs_under_way())))
    while jobs_under_way() and loop.time() < deadline:
        await asyncio.sleep(_LOOK_SECONDS)
    unfinished = jobs_under_way()
    if had_any and not unfinished:
        await asyncio.sleep(_SHOWN_SECONDS)
    is_ending.set()
    observe(ProcessState("ending", len(unfinished)))
    for job in unfinished:
        # Not stopped: its stored note then tells that it was running.
        job.release_waiters()
    killer = threading.Timer(_CLOSED_SECONDS, _end_now, [signal.SIGTERM])
    killer.daemon = True
    killer.start()
    end()


def _end_now(number: int) -> None:
    """End the process at once, even if connections do not close."""
    os._exit(128 + number)
