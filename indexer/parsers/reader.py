"""The program that reads foreign files for another process, each in a confined fork of its own.

`indexer.parsers.sandbox` starts it with the name of a function. For each request on standard input it forks;
the fork confines itself to the files of the request, calls the function and writes its reply as JSON. This
process parses nothing foreign: it waits for the fork, kills it at the time limit, and passes the reply on.
"""

import contextlib
import ctypes
import gc
import os
import pickle
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, get_type_hints

from pydantic import TypeAdapter

from corpus.sandbox.confinement import confine
from corpus.sandbox.limits import PATIENCE, bound_all_processor_time, bound_memory, bound_processor_time
from corpus.sandbox.seccomp import refused_calls
from corpus.text import storable
from indexer.errors import ParseError

MOST_REPLY = 256 * 2**20
LONGEST_MESSAGE = 4_000
# Seconds between the limits that a process sets itself and those it cannot lift.
_GRACE = 5
_LONGEST_FRAME = 2 * MOST_REPLY
_CHUNK = 2**16
_DIE_WITH_PARENT = 1
_SIZE = struct.Struct("<q")

RETURNED, FAILED = b"returned\n", b"failed\n"


@dataclass(frozen=True, slots=True)
class Request:
    """A call: its arguments, the files it may read, folders of programs it may start, and its limits.

    It may use `seconds` of processor time, and up to `granted` seconds more that it grants itself.
    """

    arguments: bytes
    readable: tuple[Path, ...]
    programs: tuple[Path, ...]
    seconds: int
    by_clock: int
    granted: int
    memory: int

    @property
    def longest(self) -> int:
        """Wall-clock seconds after which the call is killed."""
        return self.by_clock + self.granted * PATIENCE + _GRACE


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call returned nothing: the name of the error's class, and its message or traceback."""

    kind: str
    message: str


def write_frame(stream: BinaryIO, *parts: bytes) -> None:
    """Write bytes, preceded by their length."""
    stream.write(_SIZE.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes:
    """Return the bytes of the next frame; raises EOFError for a closed or corrupt stream."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    (length,) = _SIZE.unpack(head)
    if not 0 <= length <= _LONGEST_FRAME:
        raise EOFError
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


def load(name: str) -> Callable[..., Any]:
    """Return a function by its name, as MODULE:NAME."""
    module, _, function = name.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), function)
    return loaded


def reply_type(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Return the type adapter of a function's replies, by its annotation."""
    return TypeAdapter(get_type_hints(function)["return"])


def serve(name: str, warm_up: str) -> None:
    """Answer requests until standard input ends."""
    function = load(name)
    adapter = reply_type(function)
    refused_calls()
    if warm_up:
        load(warm_up)()
    gc.freeze()
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    # From here on no output of a parser reaches the terminal.
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    while True:
        try:
            request: Request = pickle.loads(read_frame(requests))  # noqa: S301 - of the process that started this one
        except EOFError:
            return
        code, reply = _answer(request, function, adapter)
        write_frame(replies, struct.pack("<i", code), reply)


def _answer(request: Request, function: Callable[..., Any], adapter: TypeAdapter[Any]) -> tuple[int, bytes]:
    """Return the exit code of the fork that served a request (as in subprocess), and its reply."""
    if not hasattr(os, "fork"):
        return 0, _reply(request, function, adapter)
    scratch = tempfile.mkdtemp(prefix="paper-trail-")
    read_end, write_end = os.pipe()
    fork = os.fork()
    if fork == 0:
        os.close(read_end)
        _serve_in_fork(request, function, adapter, scratch, write_end)
    os.close(write_end)
    code = None
    try:
        with os.fdopen(read_end, "rb", buffering=0) as pipe:
            reply = _received(pipe, time.monotonic() + request.longest)
        if reply is not None:
            code = _ended(fork, time.monotonic() + 1)
    finally:
        # Programs it started are in its process group, which they cannot leave.
        with contextlib.suppress(OSError):
            os.killpg(fork, signal.SIGKILL)
        if code is None:
            os.kill(fork, signal.SIGKILL)
            os.waitpid(fork, 0)
        shutil.rmtree(scratch, ignore_errors=True)
    return (-signal.SIGALRM, b"") if reply is None or code is None else (code, reply)


def _received(pipe: BinaryIO, deadline: float) -> bytes | None:
    """Read a fork's output until it closes the pipe; None if it exceeds time or size."""
    parts: list[bytes] = []
    size = 0
    while (remaining := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe, sys.stdin], [], [], remaining)
        if sys.stdin in ready:
            # Requests come one at a time: this is the end of input, so nobody waits for the reply.
            os._exit(1)
        if pipe in ready:
            part = pipe.read(_CHUNK)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > MOST_REPLY:
                return None
    return None


def _ended(fork: int, deadline: float) -> int | None:
    """Return the exit code of a fork that has closed its pipe; None if it still runs at the deadline."""
    while time.monotonic() < deadline:
        done, status = os.waitpid(fork, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    return None


def _serve_in_fork(
    request: Request, function: Callable[..., Any], adapter: TypeAdapter[Any], scratch: str, write_end: int
) -> None:
    """Confine this process, call the function and write its reply; does not return."""
    try:
        os.setsid()
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        # Close the parent's files, above all its pipes for requests and replies.
        os.closerange(3, write_end)
        os.closerange(write_end + 1, 1024)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(_reply(request, function, adapter, scratch))
    finally:
        os._exit(0)


def _reply(
    request: Request, function: Callable[..., Any], adapter: TypeAdapter[Any], scratch: str = ""
) -> bytes:
    """Return the function's result or error as JSON, prefixed by RETURNED or FAILED."""
    try:
        arguments = pickle.loads(request.arguments)  # noqa: S301 - of the process that started this program
        if scratch:
            bound_memory(request.memory)
            bound_all_processor_time(request.seconds + request.granted + _GRACE)
            confine(request.readable, [Path(scratch)], programs=request.programs)
            bound_processor_time(request.seconds, request.by_clock)
        return RETURNED + adapter.dump_json(function(*arguments))
    except ParseError as error:
        return _failure(type(error).__name__, str(error))
    except BaseException as error:  # noqa: BLE001 - raised by the calling process
        return _failure(type(error).__name__, traceback.format_exc())


def _failure(kind: str, message: str) -> bytes:
    return FAILED + TypeAdapter(Failure).dump_json(Failure(kind, storable(message)[-LONGEST_MESSAGE:]))
