"""The event loop in which models are waited for."""

import asyncio
import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator

import pytest

from assistant.models import background

THREADS = 8


async def _where() -> AsyncGenerator[asyncio.AbstractEventLoop, None]:
    yield asyncio.get_running_loop()


def _loop_seen() -> asyncio.AbstractEventLoop:
    return next(item for item in background.awaited(_where()) if item is not None)


def test_threads_that_asked_first_and_at_once_got_a_loop_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client whose connections were of one loop failed in the other, and its calls were paid for twice."""
    made = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.05)
        return made()

    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    background._running_loop.cache_clear()
    seen: list[asyncio.AbstractEventLoop] = []
    threads = [threading.Thread(target=lambda: seen.append(_loop_seen())) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(seen) == THREADS
    assert len(set(map(id, seen))) == 1


def test_a_forked_process_has_a_loop_that_runs() -> None:
    _loop_seen()
    child = multiprocessing.get_context("fork").Process(target=_loop_seen)
    child.start()
    child.join(30)
    assert child.exitcode == 0


_FORKING = """
import os

os.register_at_fork(after_in_child=lambda: background._loop())
from assistant.models import background

background._loop()
if child := os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(0)
"""


def test_fault_a_finalizer_in_a_forked_process_waited_for_itself() -> None:
    subprocess.run([sys.executable, "-c", _FORKING], check=True, timeout=120)
