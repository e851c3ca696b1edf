"""Programs that end with the process that started them, even if that is killed.

Two mechanisms, as neither covers everything. The kernel signals a child whose parent has died, but only on
Linux, and no program with capabilities, such as an nginx that may listen below port 1024. So this file also
runs as a watching program: when its pipe from the process closes, it ends whatever is left, such as workers
of an nginx without a master.
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
    """Starts programs, each in a process group of its own, that end if this process is killed.

    `folder` is removed then as well. For use in the main thread only: to the kernel, the end of the thread
    that started a program is the end of its parent.
    """

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self._children: list[tuple[subprocess.Popen[bytes], float, bool]] = []
        self._program: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._update()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.folder = ""
        self._update()
        if self._program and self._program.stdin:
            self._program.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(_ENDS_WITHIN_SECONDS)

    def start(
        self, command: Sequence[str], seconds: float, *, heeds_twice: bool = True, **options: Any
    ) -> "subprocess.Popen[bytes]":
        """Start a program that gets SIGTERM if this process is killed, and SIGKILL `seconds` later.

        Without `heeds_twice` it gets only one SIGTERM, as a second one would end it at once.
        """
        by_kernel = _prctl is not None and threading.current_thread() is threading.main_thread()
        parent = os.getpid()

        def end_with_parent() -> None:
            assert _prctl is not None
            _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != parent:  # the parent was killed before the call
                os._exit(1)

        child = subprocess.Popen(  # noqa: S603 - what our callers name
            command,
            start_new_session=True,
            preexec_fn=end_with_parent if by_kernel else None,  # noqa: PLW1509 - we have no other thread
            **options,
        )
        self._children.append((child, seconds, heeds_twice or not by_kernel))
        self._update()
        return child

    def keep(self) -> None:
        """Restart the watching program if it has ended."""
        if self._program is None or self._program.poll() is not None:
            self._update()

    def _update(self) -> None:
        """Send the running programs to the watching program, restarting that if it has ended."""
        self._children = [child for child in self._children if child[0].poll() is None]
        if self._program is None or self._program.poll() is not None:
            self._program = subprocess.Popen(  # noqa: S603 - this file
                [sys.executable, "-I", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        running = [(child.pid, seconds, gets_term) for child, seconds, gets_term in self._children]
        assert self._program.stdin is not None
        with suppress(BrokenPipeError):  # the next `keep` restarts it
            self._program.stdin.write(json.dumps([running, self.folder]).encode() + b"\n")
            self._program.stdin.flush()


def _watch() -> None:
    """Read the running programs until the pipe closes, then end those that are left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    last = b'[[], ""]'
    for line in sys.stdin.buffer:
        last = line
    children, folder = json.loads(last)
    for group, _, gets_term in children:
        if gets_term:
            _signal(group, signal.SIGTERM)
    begun = time.monotonic()
    while children := [child for child in children if _signal(child[0], 0)]:
        late = [child for child in children if time.monotonic() - begun > child[1]]
        for group, _, _ in late:
            _signal(group, signal.SIGKILL)
        # Not checked again: a zombie stays in its group.
        children = [child for child in children if child not in late]
        time.sleep(_LOOK_SECONDS)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _signal(group: int, number: int) -> bool:
    """Signal a process group; return True if it exists."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    _watch()
