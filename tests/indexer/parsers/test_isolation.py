"""Work in processes of its own: what kills a process costs one call."""

import ctypes
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus.sandbox.limits import grant
from indexer.errors import ParseError
from indexer.parsers.sandbox import IsolatedProcesses


def work(task: str) -> str:
    if task == "crash":
        ctypes.string_at(0)
    if task == "hang":
        time.sleep(60)
    while task == "toil":
        pass
    if task == "complain":
        raise ParseError("this is not a paper")
    return f"{task} done"


@pytest.mark.long
def test_what_kills_a_process_costs_one_call() -> None:
    tasks = ["a", "crash", "b", "hang", "toil", "c", "complain", "d"]
    processes = IsolatedProcesses(work, workers=2, seconds=1, patience=3)

    def outcome(task: str) -> str:
        try:
            return processes.run(task)
        except ParseError as error:
            return str(error)

    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(outcome, tasks))
    processes.close()
    broke_down = "the parser broke down on this file, or took more than 4 GiB of memory"
    too_long = (
        "reading this file took more than 1 s of processor time, or 3 s by the clock; "
        "pages of scans are given more"
    )
    expected = ["a done", broke_down, "b done", too_long, too_long]
    assert outcomes == [*expected, "c done", "this is not a paper", "d done"]


def wait_then_toil(seconds: float) -> float:
    """Wait by the clock, as a process does that others leave no processor to, then take time of it."""
    time.sleep(seconds)
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    return seconds


def test_fault_a_busy_machine_cost_a_scan_its_text() -> None:
    # The limit was one of the clock: at a load of ten a scan's eight pages took longer than they might.
    processes = IsolatedProcesses(wait_then_toil, workers=1, seconds=2, patience=30)
    assert processes.run(1.5) == 1.5
    processes.close()
    processes = IsolatedProcesses(toil_by_grants, workers=1, seconds=1, patience=30)
    assert processes.run(3, granted=3) == 3
    processes.close()


def toil_by_grants(pages: int) -> int:
    for _ in range(pages):
        grant(1)
        wait_then_toil(0.7)
    return pages


STARTER = """
import sys, time
from indexer.parsers.sandbox import IsolatedProcesses
from tests.indexer.parsers.test_isolation import own_id
print(IsolatedProcesses(own_id, workers=1).run(), flush=True)
time.sleep(60)
"""


def own_id() -> int:
    return os.getppid()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_no_process_outlives_the_one_that_started_it(root: Path) -> None:
    starter = subprocess.Popen([sys.executable, "-c", STARTER], cwd=root, stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    started = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 20
    while _runs(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(started)


def _runs(process: int) -> bool:
    try:
        # A process that has ended but was not waited for is a zombie.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
