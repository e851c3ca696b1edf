"""Work on untrusted files in processes of their own, without network, bounded in time and memory.

A death costs one file.

Time is counted in seconds of the processor, so that a busy machine reads what an idle one does.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from indexer.errors import OutOfTimeError, ParseError
from indexer.parsers.no_network import cut_off_network

SECONDS_PER_FILE = 120
BYTES_PER_PROCESS = 4 * 1024**3
# By the clock so many times as long: what waits for ever takes no time of the processor.
PATIENCE = 10

# Not forked: LanceDB's threads do not survive it.
_SPAWN = multiprocessing.get_context("spawn")
_OUT_OF_TIME = tuple(getattr(signal, name, 0) for name in ("SIGPROF", "SIGALRM"))

_Result = TypeVar("_Result")


class IsolatedProcesses(Generic[_Result]):
    """Calls a function of a module in other processes; safe to use from several threads."""

    def __init__(
        self,
        function: Callable[..., _Result],
        workers: int,
        seconds: int = SECONDS_PER_FILE,
        patience: int = PATIENCE,
    ) -> None:
        """Let a call take so many seconds of the processor, and `patience` times as many by the clock."""
        self._function = function
        self._workers = workers
        self._time = (seconds, seconds * patience)
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()

    def run(self, *arguments: Any) -> _Result:
        """Return what the function returns; raises what it raises, and ParseError when it kills a process."""
        pool = self._running()
        try:
            return pool.submit(_bounded, self._function, self._time, *arguments).result()
        except BrokenProcessPool:
            self._discard(pool)
            return self._run_alone(*arguments)

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _run_alone(self, *arguments: Any) -> _Result:
        """Call the function in a process of its own, to tell whether this call broke the others' and why."""
        here, there = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_call, args=(there, self._function, self._time, *arguments))
        process.start()
        there.close()
        with here:
            try:
                returned, result = here.recv()
            except EOFError:
                process.join()
                raise self._death(process.exitcode or 0) from None
        process.join()
        if not returned:
            raise result
        return result  # type: ignore[no-any-return]

    def _death(self, code: int) -> ParseError:
        seconds, by_clock = self._time
        if -code in _OUT_OF_TIME:
            return OutOfTimeError(
                f"reading this file took more than {seconds} s of processor time, or {by_clock} s by the "
                f"clock; pages of scans are given more"
            )
        most = BYTES_PER_PROCESS // 1024**3
        return ParseError(f"the parser broke down on this file, or took more than {most} GiB of memory")

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
    return ProcessPoolExecutor(workers, _SPAWN, initializer=_start)


def _start() -> None:
    """Set up a process: no network, bounded memory, and no life of its own after the one that started it."""
    cut_off_network()
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
    """Give this process so many seconds more: of the processor, or by the clock, as its time is bounded."""
    by_clock = seconds
    if hasattr(signal, "setitimer") and (left := signal.getitimer(signal.ITIMER_PROF)[0]):
        signal.setitimer(signal.ITIMER_PROF, left + seconds)
        by_clock = seconds * PATIENCE
    if hasattr(signal, "alarm") and (remaining := signal.alarm(0)):
        signal.alarm(remaining + by_clock)


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(
    there: Connection, function: Callable[..., _Result], time: tuple[int, int], *arguments: Any
) -> None:
    """Send whether the function returned, and what it returned or raised."""
    _start()
    try:
        outcome: tuple[bool, object] = (True, _bounded(function, time, *arguments))
    except Exception as error:  # noqa: BLE001 - the caller raises it, as executors do
        outcome = (False, error)
    there.send(outcome)


def _bounded(function: Callable[..., _Result], time: tuple[int, int], *arguments: Any) -> _Result:
    """Call the function; the process ends when it takes too long: native code cannot be interrupted."""
    if not hasattr(signal, "setitimer"):
        return function(*arguments)
    seconds, by_clock = time
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(by_clock)
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
