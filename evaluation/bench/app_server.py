"""The real app in its own process: as it is shipped, with Streamlit's stock settings, or behind nginx."""

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

# How the app is run; a number is so many processes behind nginx.
Manner = Literal["ours", "stock"] | int
HOST = "127.0.0.1"
STARTS_WITHIN_SECONDS = 180
_ENTRY = PROJECT / "streamlit_app.py"
# The same screens on Streamlit's own event loop, with its garbage collection and nothing loaded beforehand.
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
    (port,) = free_ports(1)
    # No settings but these: no model, no key.
    mine = {name for name in os.environ if name.startswith("PAPER_TRAIL_") or name == "TOGETHER_API_KEY"}
    environment = {name: os.environ[name] for name in os.environ.keys() - mine} | {
        "PAPER_TRAIL_HOME": str(home),
        "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{conversations}",
        "PYTHONPATH": str(PROJECT),
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.txt")
        with log.open("w") as output:
            server = subprocess.Popen(  # noqa: S603 - our own entry file or module
                _command(manner, Path(folder), port),
                cwd=PROJECT,
                env=environment,
                stdout=output,
                stderr=output,
            )
            try:
                deadline = time.monotonic() + STARTS_WITHIN_SECONDS
                while not _is_up(port):
                    if time.monotonic() > deadline or server.poll() is not None:
                        printed = log.read_text(encoding="utf-8")[-2000:]
                        raise EvaluationError(f"The app did not start: {printed}")
                    time.sleep(0.2)
                yield AppServer(manner, f"http://{HOST}:{port}", server.pid)
            finally:
                server.terminate()
                try:
                    server.wait(60 if isinstance(manner, int) else 10)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


def _command(manner: Manner, folder: Path, port: int) -> list[str]:
    if isinstance(manner, int):
        return [sys.executable, "-m", "deployment", "--processes", str(manner), "--port", str(port)]
    options = [f"--server.port={port}", f"--server.address={HOST}"]
    if manner == "ours":
        return [sys.executable, "-m", "streamlit", "run", str(_ENTRY), *options]
    entry = folder / "stock_app.py"
    entry.write_text(_STOCK_ENTRY, encoding="utf-8")
    return [sys.executable, "-c", _STOCK_START, "run", str(entry), *options, "--runner.postScriptGC=true"]


def _is_up(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def memory_mb(pid: int) -> int | None:
    """Return the resident memory of a process, None where the system does not tell."""
    found = [line.split()[1] for line in _read(pid, "status").splitlines() if line.startswith("VmRSS:")]
    return int(found[0]) // 1024 if found else None


def cpu_seconds(pid: int) -> float | None:
    """Return the processor time that all threads of a process have had, None where it is not known."""
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
