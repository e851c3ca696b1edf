"""The real app in a process of its own: as it is shipped, or with Streamlit's stock settings.

What that process has taken so far is known where the system tells (Linux does).
"""

import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus.settings import PROJECT
from deployment.site import free_ports
from evaluation.input_files import EvaluationError

Manner = Literal["ours", "stock"]
HOST = "127.0.0.1"
STARTS_WITHIN_SECONDS = 180
_ENTRY = PROJECT / "streamlit_app.py"

# The same screens as Streamlit serves them by itself: its event loop, garbage collected after every run of a
# screen and nothing kept from that, what is needed loaded when the first visitor comes.
_STOCK_ENTRY = f"import streamlit as st\napp = st.App({str(_ENTRY)!r})\n"
_STOCK_START = (
    "import sys; sys.modules['uvloop'] = None; "
    "from streamlit.web.cli import main; main(prog_name='streamlit')"
)


@dataclass(frozen=True, slots=True)
class AppServer:
    """The app while it runs."""

    manner: Manner
    address: str
    pid: int


@contextmanager
def serving(home: Path, conversations: Path, manner: Manner) -> Iterator[AppServer]:
    """Run the app on a home until the end of the block; raises EvaluationError where it does not start."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.txt")
        (port,) = free_ports(1)
        with log.open("w") as output:
            server = subprocess.Popen(  # noqa: S603 - our own entry file
                _command(manner, Path(folder), port),
                cwd=PROJECT,
                env=_environment(home, conversations),
                stdout=output,
                stderr=output,
            )
            try:
                _wait_for(port, server, log)
                yield AppServer(manner, f"http://{HOST}:{port}", server.pid)
            finally:
                server.terminate()
                _ended(server)


@dataclass(frozen=True, slots=True)
class Site:
    """So many processes behind nginx while they run."""

    processes: int
    address: str


@contextmanager
def serving_site(home: Path, conversations: Path, processes: int) -> Iterator[Site]:
    """Run processes of the app behind nginx until the end of the block; raises EvaluationError."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "deployment", "--processes", str(processes), "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.txt")
        with log.open("w") as output:
            server = subprocess.Popen(  # noqa: S603 - our own module
                command, cwd=PROJECT, env=_environment(home, conversations), stdout=output, stderr=output
            )
            try:
                _wait_for(port, server, log)
                yield Site(processes, f"http://{HOST}:{port}")
            finally:
                server.terminate()
                _ended(server, 60)


def _command(manner: Manner, folder: Path, port: int) -> list[str]:
    if manner == "ours":
        start, entry = ["-m", "streamlit"], _ENTRY
    else:
        entry = folder / "stock_app.py"
        entry.write_text(_STOCK_ENTRY, encoding="utf-8")
        start = ["-c", _STOCK_START]
    options = [f"--server.port={port}", f"--server.address={HOST}"]
    if manner == "stock":
        options.append("--runner.postScriptGC=true")
    return [sys.executable, *start, "run", str(entry), *options]


def _environment(home: Path, conversations: Path) -> dict[str, str]:
    """Return an environment that has no settings but these: no model, no key."""
    mine = {name for name in os.environ if name.startswith("PAPER_TRAIL_") or name == "TOGETHER_API_KEY"}
    kept = {name: os.environ[name] for name in os.environ.keys() - mine}
    return kept | {
        "PAPER_TRAIL_HOME": str(home),
        "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{conversations}",
        "PYTHONPATH": str(PROJECT),
        "HF_HUB_OFFLINE": "1",
    }


def _wait_for(port: int, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if _is_up(port):
            return
        time.sleep(0.2)
    raise EvaluationError(f"The app did not start: {log.read_text(encoding='utf-8')[-2000:]}")


def _is_up(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _ended(server: "subprocess.Popen[bytes]", seconds: float = 10) -> None:
    try:
        server.wait(seconds)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def memory_mb(pid: int) -> int | None:
    """Return the resident memory of a process."""
    status = _read(pid, "status").splitlines()
    found = [line.split()[1] for line in status if line.startswith("VmRSS:")]
    return int(found[0]) // 1024 if found else None


def cpu_seconds(pid: int) -> float | None:
    """Return the processor time that all threads of a process have had."""
    _, _, after_name = _read(pid, "stat").rpartition(")")
    if not after_name:
        return None
    user, system = after_name.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")
    except OSError:
        return ""
