"""Work in processes of its own: what kills a process costs one call."""

import ctypes
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexer.errors import ParseError
from indexer.parsers.sandbox import IsolatedProcesses


def work(task: str) -> str:
    if task == "crash":
        ctypes.string_at(0)
    if task == "hang":
        time.sleep(60)
    if task == "complain":
        raise ParseError("this is not a paper")
    return f"{task} done"


def test_what_kills_a_process_costs_one_call() -> None:
    tasks = ["a", "crash", "b", "hang", "c", "complain", "d"]
    processes = IsolatedProcesses(work, workers=2, seconds=1)

    def outcome(task: str) -> str:
        try:
            return processes.run(task)
        except ParseError as error:
            return str(error)

    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(outcome, tasks))
    processes.close()
    broke_down = "the parser broke down on this file, or took more than 1 s or 4 GiB"
    expected = ["a done", broke_down, "b done", broke_down, "c done", "this is not a paper", "d done"]
    assert outcomes == expected


STARTER = """
import sys, time
from indexer.parsers.sandbox import IsolatedProcesses
from tests.indexer.parsers.test_isolation import own_id
print(IsolatedProcesses(own_id, workers=1).run(), flush=True)
time.sleep(60)
"""


def own_id() -> int:
    return os.getpid()


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
