"""The program that reads foreign files for another process: each in a fork of its own, confined and bounded.

`indexer.parsers.sandbox` starts it with the name of a function, which it loads with all that this needs.
For each request on its standard input it forks. The fork confines itself to the files of the request, calls
the function and writes a reply in JSON. This process reads nothing foreign: it waits for the fork, ends it
when it takes too long, and passes the reply on as bytes.
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
# Seconds by which the bounds that a process cannot lift come after those that it sets itself.
_GRACE = 5
_LONGEST_FRAME = 2 * MOST_REPLY
_CHUNK = 2**16
_DIE_WITH_PARENT = 1
_SIZE = struct.Struct("<q")

RETURNED, FAILED = b"returned\n", b"failed\n"


@dataclass(frozen=True, slots=True)
class Request:
    """A call: its arguments, the files it may read, folders of programs it may start, and its limits.

    It may take `seconds` of the processor, and `granted` seconds more if it grants itself these.
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
        """Seconds by the clock after which it is ended, whatever it makes of its own limits."""
        return self.by_clock + self.granted * PATIENCE + _GRACE


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call returned nothing: the name of the error's class, and its message or traceback."""

    kind: str
    message: str


def write_frame(stream: BinaryIO, *parts: bytes) -> None:
    """Write bytes with their length before them."""
    stream.write(_SIZE.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes:
    """Return the bytes of the next frame; raises EOFError where the other end is gone or out of step."""
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
    # Output of a parser on foreign files reaches no terminal; a fault before this line does.
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
    """Return the exit code of the fork that served a request, as in subprocess, and its reply."""
    if not hasattr(os, "fork"):
        return 0, _reply(request, function, adapter)
    scratch = tempfile.mkdtemp(prefix="paper-trail-")
    here, there = os.pipe()
    fork = os.fork()
    if fork == 0:
        os.close(here)
        _serve_in_fork(request, function, adapter, scratch, there)
    os.close(there)
    code = None
    try:
        with os.fdopen(here, "rb", buffering=0) as pipe:
            reply = _received(pipe, time.monotonic() + request.longest)
        if reply is not None:
            code = _ended(fork, time.monotonic() + 1)
    finally:
        # Whatever it started is in its group, which it cannot leave.
        with contextlib.suppress(OSError):
            os.killpg(fork, signal.SIGKILL)
        if code is None:
            os.kill(fork, signal.SIGKILL)
            os.waitpid(fork, 0)
        shutil.rmtree(scratch, ignore_errors=True)
    return (-signal.SIGALRM, b"") if reply is None or code is None else (code, reply)


def _received(pipe: BinaryIO, deadline: float) -> bytes | None:
    """Read a fork's output until it closes its end, None where it takes or writes too much."""
    parts: list[bytes] = []
    size = 0
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe, sys.stdin], [], [], left)
        if sys.stdin in ready:
            # Requests come one at a time: this is its end, and with it that of whoever wants the reply.
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
    """Return the exit code of a fork, which has closed its end of the pipe; None where it goes on."""
    while time.monotonic() < deadline:
        done, status = os.waitpid(fork, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    return None


def _serve_in_fork(
    request: Request, function: Callable[..., Any], adapter: TypeAdapter[Any], scratch: str, there: int
) -> None:
    """Confine this process, call the function and write its reply; does not return."""
    try:
        os.setsid()
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        _close_all_but(there)
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        with os.fdopen(there, "wb") as pipe:
            pipe.write(_reply(request, function, adapter, scratch))
    finally:
        os._exit(0)


def _close_all_but(kept: int) -> None:
    """Close what the process that forked has open, above all where requests come from and replies go to."""
    os.closerange(3, kept)
    os.closerange(kept + 1, 1024)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _reply(
    request: Request, function: Callable[..., Any], adapter: TypeAdapter[Any], scratch: str = ""
) -> bytes:
    """Return the function's result as JSON, or its error, after a word that tells them apart."""
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
    except BaseException as error:  # noqa: BLE001 - told to the process that asked, which raises it
        return _failure(type(error).__name__, traceback.format_exc())


def _failure(kind: str, message: str) -> bytes:
    return FAILED + TypeAdapter(Failure).dump_json(Failure(kind, storable(message)[-LONGEST_MESSAGE:]))
