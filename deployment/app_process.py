"""One process of the app: started, probed, restarted when it dies, and stopped."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from corpus.settings import PROJECT
from deployment.guardian import Guardian

HOST = "127.0.0.1"
ENTRY = PROJECT / "streamlit_app.py"
# The pause before a dead process is restarted: it doubles each time the process dies young.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# The end of a process that lived longer is not counted as a failed start.
STABLE_SECONDS = 60.0
_PROBE_SECONDS = 10.0
# A process that has answered before is replaced after this many timed-out probes in a row.
PULSE_SECONDS, MOST_SILENCES = 20.0, 3
# States that need an operator; the parts after one of these are not checked (explorer/operating/health.py).
_LACKING = frozenset(("missing", "unusable"))


@dataclass(slots=True)
class Pulse:
    """Probes of a process at `/healthz` that do not wait for the reply."""

    port: int
    silences: int = 0
    _has_answered: bool = False
    _connection: socket.socket | None = None
    _asked: float = 0.0

    def reset(self) -> None:
        """Start over for a new process."""
        self._hang_up()
        self.silences, self._has_answered, self._asked = 0, False, time.monotonic()

    def has_stopped(self) -> bool:
        """Read a reply, send the next probe if it is due; return True after too many unanswered ones."""
        now = time.monotonic()
        with suppress(OSError):
            if self._connection is not None and self._connection.recv(1):
                self._has_answered, self.silences = True, 0
                self._hang_up()
        if now - self._asked >= PULSE_SECONDS:
            if self._connection is not None and self._has_answered:
                self.silences += 1
            self._hang_up()
            self._ask()
            self._asked = now
        return self.silences >= MOST_SILENCES

    def _ask(self) -> None:
        connection = socket.socket()
        try:
            # The kernel accepts connections even if the process hangs, until its queue is full.
            connection.settimeout(1.0)
            connection.connect((HOST, self.port))
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: %b\r\n\r\n" % HOST.encode())
            connection.setblocking(False)
        except TimeoutError:
            pass  # counted as unanswered when the next probe is due
        except OSError:
            connection.close()
            return
        self._connection = connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass(slots=True)
class AppProcess:
    """A process of the app with a port and an environment of its own.

    If the guardian ends it, it has `seconds` to do so. `deaths` counts ends soon after one another;
    `is_awaited` is True while a replacement is not reported as ready.
    """

    name: str
    port: int
    hosts: Sequence[str]
    environment: Mapping[str, str]
    guardian: Guardian
    seconds: float
    deaths: int = 0
    is_awaited: bool = False
    _running: "subprocess.Popen[bytes] | None" = None
    _started: float = 0.0
    _start_again: float | None = None
    _pulse: Pulse = field(init=False)

    def __post_init__(self) -> None:
        self._pulse = Pulse(self.port)

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """Return the process id, 0 while there is no process."""
        return self._running.pid if self._running and self.is_alive else 0

    @property
    def is_alive(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def start(self) -> None:
        options = [f"--server.port={self.port}", f"--server.address={HOST}"]
        options += [word for host in self.hosts for word in ("--server.allowedHosts", host)]
        # In a session of its own, as Ctrl+C in a terminal is for the site, which stops it. Streamlit's output
        # is dropped: the address it prints is not for visitors. A second signal would end it at once.
        self._running = self.guardian.start(
            [sys.executable, "-m", "streamlit", "run", str(ENTRY), *options],
            self.seconds,
            heeds_twice=False,
            cwd=PROJECT,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self._started, self._start_again = time.monotonic(), None
        self._pulse.reset()

    def end_if_hung(self) -> str:
        """Kill the process if it no longer answers; return a message about that, "" for none."""
        if self._running is None or not self.is_alive or not self._pulse.has_stopped():
            return ""
        self._pulse.reset()
        self._running.kill()
        self._running.wait()
        silent = PULSE_SECONDS * MOST_SILENCES
        return f"Process {self.name} has not answered for {silent:g} s: it is ended by force."

    def replace_if_dead(self) -> str:
        """Restart the process after a pause if it has died; return a message about that, "" for none."""
        if self.is_alive or self._running is None:
            return ""
        now = time.monotonic()
        if self._start_again is None:
            self.deaths = 1 if now - self._started > STABLE_SECONDS else self.deaths + 1
            pause = min(FIRST_PAUSE * 2 ** min(self.deaths - 1, 10), LONGEST_PAUSE)
            self._start_again = now + pause
            how = ended_how(self._running.returncode)
            return f"Process {self.name} has ended ({how}): another starts in {pause:g} s."
        if now >= self._start_again:
            self.start()
            self.is_awaited = True
        return ""

    def is_ready(self) -> bool:
        """Return True if the process reports that it can answer questions."""
        return set(self.readiness().values()) == {"ok"}

    def has_loaded(self) -> bool:
        """Return True if the process is ready, or reports what it lacks."""
        states = self.readiness()
        is_known = "unknown" not in states.values() or not _LACKING.isdisjoint(states.values())
        return states.get("process") == "ok" and is_known

    def lacking(self) -> str:
        """Describe the parts that keep the process from answering, "" for none."""
        states = self.readiness().items()
        return ", ".join(f"{part} {state}" for part, state in states if state not in ("ok", "unknown"))

    def readiness(self) -> Mapping[str, str]:
        """Return the state of each part as the process reports it, empty if it does not answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_PROBE_SECONDS)
        try:
            connection.request("GET", "/readyz")
            document = json.loads(connection.getresponse().read())
            return {str(part): str(state) for part, state in document.items() if part != "status"}
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            return {}
        finally:
            connection.close()

    def begin_to_stop(self) -> None:
        """Tell the process to finish its answers and end."""
        if self._running and self.is_alive:
            self._running.send_signal(signal.SIGTERM)

    def stop(self, deadline: float) -> None:
        """Wait until the process has ended, killing it at the deadline (monotonic seconds)."""
        if self._running is None:
            return
        try:
            self._running.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()
        self._running = None


def ended_how(code: int) -> str:
    """Describe a process's end by its exit code."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
