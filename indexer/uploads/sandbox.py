"""Sandboxed processes that read a document or draw a page; a crash costs that document or picture."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.records import USUAL_SIZE, Box, PassageSize
from corpus.sandbox.confinement import offered_confinement
from corpus.settings import PROJECT, Settings
from indexer.parsers.ocr.engines import NO_OCR, SECONDS_PER_PAGE, OcrOptions
from indexer.parsers.sandbox import needed_environment
from indexer.uploads.document import (
    DocumentError,
    DrawnPage,
    ReadDocument,
    drawn_page,
    read_failure,
    read_reply,
)

# Not `-m indexer read`, which loads all commands and takes seconds.
_PROGRAMS = {
    "Reading": "indexer.uploads.reading",
    "Drawing": "indexer.uploads.draw_page",
    "Importing": "indexer.uploads.bounded",
}
_POLL_SECONDS = 0.05
# Lower priority than the screens.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of reading one document, or drawing a page of it."""

    most_bytes: int = 20 * 2**20
    most_pages: int = 200
    seconds: int = 60
    memory_mib: int = 2048
    most_reply: int = 64 * 2**20
    ocr: OcrOptions = NO_OCR
    sandbox_required: bool = False

    @property
    def most_seconds(self) -> int:
        """The most seconds for reading, with extra time for each scanned page."""
        return self.seconds + (self.ocr.most_pages * SECONDS_PER_PAGE if self.ocr.engine else 0)


LIMITS = Limits()
_SCANNED_PAGES = 20
_MEMORY_FOR_SCANS = 3072


def limits_of(settings: Settings) -> Limits:
    """Return the limits for reading one document, higher where scans can be read."""
    ocr = OcrOptions.of(settings, _SCANNED_PAGES)
    limits = replace(LIMITS, sandbox_required=settings.sandbox == "required")
    return replace(limits, ocr=ocr, memory_mib=_MEMORY_FOR_SCANS) if ocr.engine else limits


def check_sandbox(limits: Limits) -> None:
    """Raise DocumentError if confinement is required and the system offers none."""
    offered = offered_confinement()
    if limits.sandbox_required and not offered:
        raise DocumentError(
            f"This server takes no files: its system has no {offered.missing}, and its operator requires "
            "that what reads visitors' files is confined."
        )


IMPORT_LIMITS = Limits(memory_mib=1024, most_reply=40 * 2**20)
DRAWING_LIMITS = Limits(seconds=10, memory_mib=1024, most_reply=32 * 2**20)
_DRAWN_AT_ONCE = 2
_drawing: list[str] = []
_drawing_changed = threading.Condition()
_importing = threading.Lock()
_importers, _importers_lock = set[str](), threading.Lock()
_LONGEST_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Material:
    """A file or a web address to read, its owner's name for it, and the size of its passages."""

    place: str
    name: str
    is_web: bool = False
    size: PassageSize = USUAL_SIZE


class StoppedError(DocumentError):
    """The document was removed while it was read."""


class BusyError(DocumentError):
    """Too many pictures or imports are under way."""


def read_sandboxed(
    material: Material,
    folder: Path,
    stop: threading.Event,
    *,
    allow_private: bool = False,
    limits: Limits = LIMITS,
) -> ReadDocument:
    """Read a document in a sandboxed process; what it fetches is kept in `folder`. Raises DocumentError."""
    arguments = ["--json", f"--max-bytes={limits.most_bytes}", f"--max-pages={limits.most_pages}"]
    arguments += [f"--name={material.name}", f"--keep={folder}"]
    arguments += [f"--ocr={limits.ocr.engine or 'off'}", f"--ocr-pages={limits.ocr.most_pages}"]
    arguments += [f"--passage-words={material.size.words}", f"--passage-overlap={material.size.overlap}"]
    arguments += ["--web"] if material.is_web else []
    arguments += ["--allow-private-hosts"] if allow_private else []
    reply = _run("Reading", [*arguments, "--", material.place], stop, limits)
    return read_reply(reply)


def draw_sandboxed(
    path: Path,
    page: int,
    boxes: Sequence[Box],
    scale: float,
    *,
    owner: str = "",
    stop: threading.Event | None = None,
    limits: Limits = DRAWING_LIMITS,
) -> DrawnPage:
    """Draw a page of a PDF in a sandboxed process, with its boxes marked; raises DocumentError.

    At most two pages are drawn at once, and one per owner over all sessions; raises BusyError after a wait
    of `limits.seconds`.
    """
    marks = json.dumps([(box.x, box.y, box.width, box.height) for box in boxes])
    arguments = [f"--boxes={marks}", f"--scale={scale}", "--", str(path), str(page)]
    with _place_to_draw(owner, limits.seconds):
        return drawn_page(_run("Drawing", arguments, stop or threading.Event(), limits))


def import_sandboxed(
    program: str, argument: str, data: bytes, *, owner: str, limits: Limits = IMPORT_LIMITS
) -> bytes:
    """Return the output of one of our programs for a file on its standard input; raises DocumentError.

    Files are read one after the other, and one per owner over all sessions; raises BusyError after half a
    minute.
    """
    with _importers_lock:
        if owner in _importers:
            raise BusyError("Another file of yours is being imported. Wait until that is done.")
        _importers.add(owner)
    try:
        if not _importing.acquire(timeout=_LONGEST_WAIT_SECONDS):
            raise BusyError("Other files are being imported at the moment. Try again in a minute.")
        try:
            with tempfile.TemporaryFile() as file:
                file.write(data)
                file.seek(0)
                arguments = ["--", program, argument]
                return _run("Importing", arguments, threading.Event(), limits, stdin=file.fileno())
        finally:
            _importing.release()
    finally:
        _importers.discard(owner)


@contextlib.contextmanager
def _place_to_draw(owner: str, seconds: float) -> Iterator[None]:
    def is_free() -> bool:
        return len(_drawing) < _DRAWN_AT_ONCE and (not owner or owner not in _drawing)

    with _drawing_changed:
        if not _drawing_changed.wait_for(is_free, seconds):
            raise BusyError("Too many pages are being drawn at the moment. Try again in a minute.")
        _drawing.append(owner)
    try:
        yield
    finally:
        with _drawing_changed:
            _drawing.remove(owner)
            _drawing_changed.notify_all()


def _run(
    doing: str,
    arguments: Sequence[str],
    stop: threading.Event,
    limits: Limits,
    *,
    stdin: int = subprocess.DEVNULL,
) -> bytes:
    """Return the output of one of our programs, run within the limits; raises DocumentError."""
    bounds = [f"--seconds={limits.seconds}", f"--memory={limits.memory_mib}"]
    try:
        with tempfile.TemporaryFile() as reply, tempfile.TemporaryDirectory(prefix="paper-trail-") as scratch:
            process = subprocess.Popen(  # noqa: S603 - our program; visitors' input follows "--"
                [sys.executable, "-m", _PROGRAMS[doing], *bounds, *arguments],
                cwd=PROJECT,
                env=needed_environment(TMPDIR=scratch),
                stdin=stdin,
                stdout=reply,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                _wait(process, reply.fileno(), stop, limits, doing)
            finally:
                _end(process)
            reply.seek(0)
            # `read` allocates the size it is given.
            size = min(os.fstat(reply.fileno()).st_size, limits.most_reply + 1)
            return _outcome(process.returncode, reply.read(size), limits, doing)
    except OSError as error:
        raise DocumentError(f"The server cannot read it at the moment: {error.strerror}.") from error


def _wait(
    process: "subprocess.Popen[bytes]", reply: int, stop: threading.Event, limits: Limits, doing: str
) -> None:
    # The process has an alarm of its own; this deadline holds if that fails.
    deadline = time.monotonic() + limits.most_seconds + 5
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    while process.poll() is None:
        if stop.wait(_POLL_SECONDS):
            raise StoppedError("It was removed.")
        if time.monotonic() > deadline:
            raise _took_too_long(doing, limits)
        if os.fstat(reply).st_size > limits.most_reply:
            raise DocumentError("It holds more text than a document of its size can.")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and its group, whose members may outlive it."""
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _outcome(code: int, reply: bytes, limits: Limits, doing: str) -> bytes:
    if code == 0 and len(reply) <= limits.most_reply:
        return reply
    if code == -getattr(signal, "SIGALRM", 0):
        raise _took_too_long(doing, limits)
    broke_down = (
        f"{doing} this document broke down, or would have taken more than "
        f"{limits.memory_mib:,} MiB of memory."
    )
    raise DocumentError((read_failure(reply) if code == 2 else "") or broke_down)


def _took_too_long(doing: str, limits: Limits) -> DocumentError:
    return DocumentError(
        f"{doing} it took more than {limits.seconds} seconds, the most that is given to one."
    )
