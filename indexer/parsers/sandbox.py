"""Calls on foreign files in other processes, each confined to its own files and bounded in time and memory.

A crash costs one file. Time is processor time, so that a busy machine reads the same files as an idle one.
"""

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from corpus.sandbox.limits import PATIENCE
from corpus.settings import PROJECT
from indexer.errors import OutOfTimeError, ParseError, UnreadScanError
from indexer.parsers.reader import FAILED, RETURNED, Failure, Request, read_frame, reply_type, write_frame

SECONDS_PER_FILE = 120
BYTES_PER_PROCESS = 4 * 1024**3
# The only environment variables passed to a process that reads foreign files: no keys, no passwords.
_NEEDED = (
    "PATH",
    "PYTHONPATH",
    "LANG",
    "LC_ALL",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    "TESSDATA_PREFIX",
)
_PROGRAM = "import sys; from indexer.parsers.reader import serve; serve(*sys.argv[1:])"
_OUT_OF_TIME = tuple(getattr(signal, name, 0) for name in ("SIGPROF", "SIGALRM"))
_ERRORS = {kind.__name__: kind for kind in (ParseError, OutOfTimeError, UnreadScanError)}
_FAILURE = TypeAdapter(Failure)

_Result = TypeVar("_Result")


class ParserFaultError(Exception):
    """A function raised an unexpected error of class `kind`; the message is its traceback."""

    def __init__(self, kind: str, trace: str) -> None:
        super().__init__(trace)
        self.kind = kind


class IsolatedProcesses(Generic[_Result]):
    """Calls a function in other processes; thread-safe.

    The function's annotated return type must be serialisable by pydantic.
    """

    def __init__(
        self,
        function: Callable[..., _Result],
        workers: int,
        seconds: int = SECONDS_PER_FILE,
        patience: int = PATIENCE,
        warm_up: Callable[[], object] | None = None,
    ) -> None:
        """Allow a call `seconds` of processor time, and `patience` times as much wall-clock time.

        `warm_up` is called once in each process before it forks, to load common modules.
        """
        self._names = [_name_of(function), _name_of(warm_up) if warm_up else ""]
        self._replies: TypeAdapter[_Result] = reply_type(function)
        self._time = (seconds, seconds * patience)
        self._places = threading.BoundedSemaphore(workers)
        self._idle: list[_Reader] = []
        self._closing = weakref.finalize(self, _close_all, self._idle)

    def run(
        self,
        *arguments: Any,
        readable: Sequence[Path] = (),
        programs: Sequence[Path] = (),
        granted: int = 0,
    ) -> _Result:
        """Run the function in a process of its own and return its result.

        It can read the files of `readable`, start programs in the folders `programs`, and grant itself
        `granted` seconds more. Raises ParseError if the function does or its process dies, and
        ParserFaultError for other errors.
        """
        seconds, by_clock = self._time
        request = Request(
            pickle.dumps(arguments),
            tuple(path.absolute() for path in readable),
            tuple(programs),
            seconds,
            by_clock,
            granted,
            BYTES_PER_PROCESS,
        )
        with self._places:
            code, reply = self._ask(request)
        return self._result(code, reply)

    def close(self) -> None:
        """End the processes; a later call starts new ones."""
        _close_all(self._idle)

    def _ask(self, request: Request) -> tuple[int, bytes]:
        """Send a request to a process, and to a new one if the first has died."""
        for _ in range(2):
            with _REGISTER:
                reader = self._idle.pop() if self._idle else None
            reader = reader or _Reader(*self._names)
            try:
                answer = reader.ask(request)
            except (EOFError, OSError):
                reader.close()
                continue
            except BaseException:
                reader.close()
                raise
            with _REGISTER:
                self._idle.append(reader)
            return answer
        return -signal.SIGKILL, b""

    def _result(self, code: int, reply: bytes) -> _Result:
        if code == 0 and reply.startswith(RETURNED):
            try:
                return self._replies.validate_json(reply.removeprefix(RETURNED))
            except ValidationError as error:
                raise ParseError("what was read of this file makes no sense") from error
        if code == 0 and reply.startswith(FAILED):
            try:
                failure = _FAILURE.validate_json(reply.removeprefix(FAILED))
            except ValidationError as error:
                raise ParseError("what was read of this file makes no sense") from error
            if failure.kind in _ERRORS:
                raise _ERRORS[failure.kind](failure.message)
            raise ParserFaultError(failure.kind, failure.message)
        raise self._death(code)

    def _death(self, code: int) -> ParseError:
        seconds, by_clock = self._time
        if -code in _OUT_OF_TIME:
            return OutOfTimeError(
                f"reading this file took more than {seconds} s of processor time, or {by_clock} s by the "
                f"clock; pages of scans are given more"
            )
        most = BYTES_PER_PROCESS // 1024**3
        return ParseError(f"the parser broke down on this file, or took more than {most} GiB of memory")


class _Reader:
    """A process of `indexer.parsers.reader`, which handles one request at a time."""

    def __init__(self, function: str, warm_up: str) -> None:
        # In its own session, so that Ctrl+C reaches only the build; it ends with its standard input.
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-c", _PROGRAM, function, warm_up],
            cwd=PROJECT,
            # Import from the same paths as this process.
            env=needed_environment(PYTHONPATH=os.pathsep.join(sys.path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout

    def ask(self, request: Request) -> tuple[int, bytes]:
        """Return the exit code of the call's process, and its reply; raises EOFError."""
        write_frame(self._requests, pickle.dumps(request))  # type: ignore[arg-type]
        frame = read_frame(self._replies)  # type: ignore[arg-type]
        (code,) = struct.unpack_from("<i", frame)
        return code, frame[4:]

    def close(self) -> None:
        """End the process, and the call under way with it."""
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()


# Guards the lists of idle processes.
_REGISTER = threading.Lock()


def _close_all(readers: list[_Reader]) -> None:
    with _REGISTER:
        closing, readers[:] = list(readers), []
    for reader in closing:
        reader.close()


def needed_environment(**additional: str) -> dict[str, str]:
    """Return the environment of a process that reads foreign files, with `additional` variables."""
    inherited = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    # One thread: confinement precedes other threads, and there are as many processes as cores.
    return {**inherited, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", **additional}


def _name_of(function: Callable[..., object]) -> str:
    return f"{function.__module__}:{function.__qualname__}"
