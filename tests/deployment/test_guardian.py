"""Programs whose parent is killed, each of the two ways in which they end alone."""

import os
import signal
import subprocess
import sys

import pytest

from tests.demo_home import PROJECT
from tests.served_site import is_running, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

# Starts three programs, one of which starts another, and prints their numbers: of the last one two.
PARENT = """
import subprocess, sys, time
from deployment import guardian

if sys.argv[1] == "the pipe":
    guardian._prctl = None
sleeper = "import signal, sys, time; signal.signal(signal.SIGTERM, {}); print(1, flush=True); time.sleep(600)"
wants = (
    [sys.executable, "-c", sleeper.format("signal.SIG_DFL")],
    [sys.executable, "-c", sleeper.format("signal.SIG_IGN")],
    ["sh", "-c", "sleep 600 & echo $!; exec sleep 600"],
)
with guardian.Guardian() as own:
    children = [own.start(one, 0.2, stdout=subprocess.PIPE) for one in wants]
    first_lines = [one.stdout.readline() for one in children]
    print(own._program.pid, *(one.pid for one in children), int(first_lines[-1]), flush=True)
    time.sleep(600)
"""


def killed(way: str) -> tuple[list[int], list[int]]:
    """Kill a parent, where `way` is not "both" without the other one; return who ends, and who may not."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, way], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        watching, plain, stubborn, leader, follower = map(int, parent.stdout.readline().split())
        ends, may_not = [plain, leader, stubborn, follower], []
        if way == "the kernel":
            os.kill(watching, signal.SIGKILL)
            ends, may_not = [plain, leader], [stubborn, follower]
        elif way == "the pipe":
            # The leader of a group that is killed too leaves the group behind.
            os.kill(leader, signal.SIGKILL)
        parent.kill()
    return [watching, *ends], may_not


@pytest.mark.parametrize("way", ["the kernel", "the pipe", "both"])
def test_fault_children_of_a_killed_parent_lived_on(way: str) -> None:
    ends, may_not = killed(way)
    try:
        until(lambda: not any(map(is_running, ends)), 60)
    finally:
        for pid in filter(is_running, (*ends, *may_not)):
            os.kill(pid, signal.SIGKILL)
