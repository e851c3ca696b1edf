"""Work on untrusted files in processes of their own, bounded in time and memory: a death costs one file."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, TypeVar

from indexer.errors import ParseError

SECONDS_PER_FILE = 120
BYTES_PER_PROCESS = 4 * 1024**3

_Result = TypeVar("_Result")


class IsolatedProcesses(Generic[_Result]):
    """Calls a function of a module in other processes; safe to use from several threads."""

    def __init__(
        self, function: Callable[..., _Result], workers: int, seconds: int = SECONDS_PER_FILE
    ) -> None:
        self._function = function
        self._workers = workers
        self._seconds = seconds
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()

    def run(self, *arguments: Any) -> _Result:
        """Return what the function returns; raises what it raises, and ParseError when it kills a process."""
        pool = self._running()
        try:
            return pool.submit(_bounded, self._function, self._seconds, *arguments).result()
        except BrokenProcessPool:
            self._discard(pool)
            return self._run_alone(*arguments)

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _run_alone(self, *arguments: Any) -> _Result:
        """Call the function in a process of its own, to tell whether this call broke the others'."""
        with _processes(1) as pool:
            try:
                return pool.submit(_bounded, self._function, self._seconds, *arguments).result()
            except BrokenProcessPool:
                raise ParseError(
                    f"the parser broke down on this file, or took more than {self._seconds} s or "
                    f"{BYTES_PER_PROCESS // 1024**3} GiB"
                ) from None

    def _running(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = _processes(self._workers)
            return self._pool

    def _discard(self, broken: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is broken:
                self._pool = None


def _processes(workers: int) -> ProcessPoolExecutor:
    # Not forked: LanceDB's threads do not survive it.
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_start)


def _start() -> None:
    """Set up a process: bounded memory, and no life of its own after the one that started it."""
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    bound_memory(BYTES_PER_PROCESS)


def bound_memory(most: int) -> None:
    """Have this process take at most so many bytes of memory, and leave no picture of it when it dies."""
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:
        return
    for kind, limit in ((resource.RLIMIT_AS, most), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


def bound(seconds: int, memory_mib: int) -> None:
    """Have this process end when its time is over, native code or not, and take no more than its memory."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
    bound_memory(memory_mib * 2**20)


def grant(seconds: int) -> None:
    """Give this process so many seconds more, if its time is bounded at all."""
    if hasattr(signal, "alarm") and (left := signal.alarm(0)):
        signal.alarm(left + seconds)


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _bounded(function: Callable[..., _Result], seconds: int, *arguments: Any) -> _Result:
    """Call the function; the process ends when it takes too long: native code cannot be interrupted."""
    if not hasattr(signal, "alarm"):
        return function(*arguments)
    signal.alarm(seconds)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)
