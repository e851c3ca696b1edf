"""Programs that end with the process that started them, even where that is killed.

Two ways, for neither covers everything. The kernel signals a child whose parent has died: on Linux alone,
and no program with rights of its own, as an nginx that may listen below port 1024. And this file runs as a
program beside the process: when the pipe to it ends, it ends whatever is left, as workers of nginx without
their master.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = getattr(ctypes.CDLL(None), "prctl", None)
_LOOK_SECONDS = 0.1
_ENDS_WITHIN_SECONDS = 10.0


class Guardian:
    """Starts programs, each in a group of its own, and has them ended should this process be killed.

    `folder` is removed then too. To be used in the main thread: the kernel takes the end of the thread that
    started a program for the end of its parent.
    """

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self._children: list[tuple[subprocess.Popen[bytes], float, bool]] = []
        self._program: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._tell()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.folder = ""
        self._tell()
        if self._program and self._program.stdin:
            self._program.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(_ENDS_WITHIN_SECONDS)

    def start(
        self, command: Sequence[str], seconds: float, *, heeds_twice: bool = True, **options: Any
    ) -> "subprocess.Popen[bytes]":
        """Start a program that gets SIGTERM should this process be killed, and SIGKILL `seconds` later.

        One that does not heed a second SIGTERM as it does the first is sent one alone.
        """
        by_kernel = _prctl is not None and threading.current_thread() is threading.main_thread()
        parent = os.getpid()

        def tie() -> None:
            assert _prctl is not None
            _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != parent:  # it was killed before the kernel knew
                os._exit(1)

        child = subprocess.Popen(  # noqa: S603 - what our callers name
            command,
            start_new_session=True,
            preexec_fn=tie if by_kernel else None,  # noqa: PLW1509 - we have no other thread
            **options,
        )
        self._children.append((child, seconds, heeds_twice or not by_kernel))
        self._tell()
        return child

    def keep(self) -> None:
        """Start the program that watches again, should it have ended."""
        if self._program is None or self._program.poll() is not None:
            self._tell()

    def _tell(self) -> None:
        """Write down what there is to end, for the program that watches."""
        self._children = [child for child in self._children if child[0].poll() is None]
        if self._program is None or self._program.poll() is not None:
            self._program = subprocess.Popen(  # noqa: S603 - this file
                [sys.executable, "-I", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        left = [(child.pid, seconds, told) for child, seconds, told in self._children]
        assert self._program.stdin is not None
        with suppress(BrokenPipeError):  # it is started again by the next look
            self._program.stdin.write(json.dumps([left, self.folder]).encode() + b"\n")
            self._program.stdin.flush()


def _watch() -> None:
    """Read what there is to end until the pipe ends, and end what is left of that."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    last = b'[[], ""]'
    for line in sys.stdin.buffer:
        last = line
    children, folder = json.loads(last)
    for group, _, is_to_be_told in children:
        if is_to_be_told:
            _signal(group, signal.SIGTERM)
    begun = time.monotonic()
    while children := [child for child in children if _signal(child[0], 0)]:
        late = [child for child in children if time.monotonic() - begun > child[1]]
        for group, _, _ in late:
            _signal(group, signal.SIGKILL)
        # Not looked at again: what nobody reaps stays in its group.
        children = [child for child in children if child not in late]
        time.sleep(_LOOK_SECONDS)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _signal(group: int, number: int) -> bool:
    """Signal a group of processes; return True if there is one."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    _watch()
