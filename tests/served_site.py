"""The app in several processes behind nginx, as `make serve` runs it, at ports of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from deployment.site import free_ports, ports_of_metrics
from tests.demo_home import PROJECT

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
_STARTED = re.compile(r"\b(p\d): (http://[^/]+)/readyz, process (\d+)")


@dataclass(frozen=True, slots=True)
class Served:
    """A site that runs: its own address, and of each process its address and number as they were at first."""

    address: str
    addresses: Mapping[str, str]
    pids: Mapping[str, int]
    program: "subprocess.Popen[bytes]"
    log: Path

    def tell(self, number: signal.Signals) -> None:
        self.program.send_signal(number)


@contextmanager
def served(
    home: Path,
    folder: Path,
    processes: int = 2,
    *,
    port: int = 0,
    while_it_starts: Callable[[Path], None] | None = None,
    **settings: str,
) -> Iterator[Served]:
    """Run a site on a home, with the settings of its environment and a log in a folder."""
    if not port:
        (port,) = free_ports(1, but=ports_of_metrics(settings.get("PAPER_TRAIL_METRICS", ""), processes))
    environment = {key: value for key, value in os.environ.items() if key != "TOGETHER_API_KEY"}
    environment |= {"PAPER_TRAIL_HOME": str(home), **settings}
    log = folder / "site.log"
    command = [sys.executable, "-m", "deployment", "--processes", str(processes), "--port", str(port)]
    with log.open("wb") as output:
        program = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=output, stderr=output)
        try:
            if while_it_starts:
                while_it_starts(log)
            until(lambda: "Paper Trail: " in log.read_text() or program.poll() is not None, 400)
            assert program.poll() is None, log.read_text()
            until(lambda: len(_STARTED.findall(log.read_text())) == processes)
            found = _STARTED.findall(log.read_text())
            addresses = {name: address for name, address, _ in found}
            pids = {name: int(pid) for name, _, pid in found}
            yield Served(f"http://127.0.0.1:{port}", addresses, pids, program, log)
        finally:
            program.terminate()
            program.wait(240)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid for child in map(int, children) for pid in (child, *descendants(child))]


def is_running(pid: int) -> bool:
    """Return True if there is such a process, and not only its exit code that nobody has asked for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def is_ready(address: str) -> bool:
    """Return True if a process says that it can answer."""
    try:
        return httpx.get(f"{address}/readyz", timeout=10).status_code == 200
    except httpx.TransportError:
        return False


def until(is_so: Callable[[], object], seconds: float = 240.0) -> None:
    """Wait until something is so; fail where it never is."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be so in time"
        time.sleep(0.05)
