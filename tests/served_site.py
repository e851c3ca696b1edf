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
def served(home: Path, folder: Path, processes: int = 2, **settings: str) -> Iterator[Served]:
    """Run a site on a home, with the settings of its environment and a log in a folder."""
    (port,) = free_ports(1, but=ports_of_metrics(settings.get("PAPER_TRAIL_METRICS", ""), processes))
    environment = {key: value for key, value in os.environ.items() if key != "TOGETHER_API_KEY"}
    environment |= {"PAPER_TRAIL_HOME": str(home), "PAPER_TRAIL_ENCODER_RUNTIME": "torch", **settings}
    log = folder / "site.log"
    command = [sys.executable, "-m", "deployment", "--processes", str(processes), "--port", str(port)]
    with log.open("wb") as output:
        program = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=output, stderr=output)
        try:
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
