"""Starts the program that reads a document, and bounds what it may take: its death costs that document."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from corpus.settings import PROJECT
from explorer.documents.read import DocumentError, ReadDocument, read_failure, read_reply

_POLL_SECONDS = 0.05
# Nothing of the server's environment but what a program needs to start: no keys, no passwords.
_NEEDED = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")
# Above the screens' own work in the order of things that can wait.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may take."""

    most_bytes: int = 20 * 2**20
    most_pages: int = 200
    seconds: int = 60
    memory_mib: int = 2048
    most_reply: int = 64 * 2**20


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be read: a file, or a web address, and what its owner calls it."""

    place: str
    name: str
    is_web: bool = False


class StoppedError(DocumentError):
    """The document was removed while it was read."""


def read_apart(
    material: Material,
    folder: Path,
    stop: threading.Event,
    *,
    allow_private: bool = False,
    limits: Limits = LIMITS,
) -> ReadDocument:
    """Read a document in a process of its own; what it fetches is kept in `folder`. Raises DocumentError."""
    reply = folder / "reply.json"
    with reply.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - a program of ours; what visitors name stands behind "--"
            _command(material, folder, limits, allow_private=allow_private),
            cwd=PROJECT,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _wait(process, reply, stop, limits)
        finally:
            _end(process)
    try:
        return _outcome(process.returncode, reply.read_bytes(), limits)
    finally:
        reply.unlink(missing_ok=True)


def _command(material: Material, folder: Path, limits: Limits, *, allow_private: bool) -> list[str]:
    # Not `-m indexer read`: that loads all that the other commands need, which takes seconds.
    command = [sys.executable, "-m", "indexer.commands.reading", "--json"]
    command += [f"--max-bytes={limits.most_bytes}", f"--max-pages={limits.most_pages}"]
    command += [f"--seconds={limits.seconds}", f"--memory={limits.memory_mib}"]
    command += [f"--name={material.name}", f"--keep={folder}"]
    command += ["--web"] if material.is_web else []
    command += ["--allow-private-hosts"] if allow_private else []
    return [*command, "--", material.place]


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    return {**kept, "TMPDIR": str(folder), "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}


def _wait(process: "subprocess.Popen[bytes]", reply: Path, stop: threading.Event, limits: Limits) -> None:
    # The process ends itself when its time is over; that it does is not for it alone to see to.
    deadline = time.monotonic() + limits.seconds + 5
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    while process.poll() is None:
        if stop.wait(_POLL_SECONDS):
            raise StoppedError("It was removed.")
        if time.monotonic() > deadline:
            raise _took_too_long(limits)
        if reply.stat().st_size > limits.most_reply:
            raise DocumentError("It holds more text than a document of its size can.")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and whatever it started, if it is still there."""
    if process.poll() is None:
        with contextlib.suppress(OSError, AttributeError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


def _outcome(code: int, reply: bytes, limits: Limits) -> ReadDocument:
    if code == 0 and len(reply) <= limits.most_reply:
        return read_reply(reply)
    if code == -getattr(signal, "SIGALRM", 0):
        raise _took_too_long(limits)
    broke_down = (
        "The reader broke down on this document, or it would have taken more than "
        f"{limits.memory_mib:,} MiB of memory."
    )
    raise DocumentError((read_failure(reply) if code == 2 else "") or broke_down)


def _took_too_long(limits: Limits) -> DocumentError:
    return DocumentError(
        f"Reading it took more than {limits.seconds} seconds, the most that is given to one."
    )
