"""What reads foreign files calls nobody: by no kind of socket, from no thread, and from nothing it starts."""

import platform
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.parsers.sandbox import IsolatedProcesses
from tests.demo_home import PROJECT
from tests.hostile_listener import Listener

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64"),
    reason="this system has no filter of system calls",
)
CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).sendall(b'x\\n')"


def connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(b"called out\n")


def from_a_thread(port: int) -> None:
    failed: list[BaseException] = []

    def call() -> None:
        try:
            connect(port)
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def from_a_program(port: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, str(port)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PermissionError(done.stderr[-200:])


def by_datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"called out", ("127.0.0.1", port))


def by_the_newer_address(_: int) -> None:
    socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close()


WAYS: list[Callable[[int], None]] = [
    connect,
    from_a_thread,
    from_a_program,
    by_datagram,
    by_the_newer_address,
]


def how_it_went(name: str, port: int) -> str:
    """Call out and return what came of it, in a process that reads files or, to compare, in this one."""
    way = next(one for one in WAYS if one.__name__ == name)
    try:
        way(port)
    except PermissionError as error:
        return f"refused: {error}"
    except OSError as error:
        return f"failed: {error}"
    return "called"


def test_a_parser_that_tries_to_call_out_is_refused_by_the_system() -> None:
    processes = IsolatedProcesses(how_it_went, 1)
    with Listener() as listener:
        port = int(listener.address.rpartition(":")[2])
        assert how_it_went("connect", port) == "called"
        for _ in range(100):
            if listener.heard:
                break
            threading.Event().wait(0.05)
        assert listener.heard.pop() == "called out"
        told = {way.__name__: processes.run(way.__name__, port) for way in WAYS}
    processes.close()
    assert {name: said.partition(":")[0] for name, said in told.items()} == dict.fromkeys(told, "refused")
    assert listener.heard == []


def test_what_stays_within_the_machine_stays_allowed() -> None:
    processes = IsolatedProcesses(pair_of_sockets, 1)
    assert processes.run() == b"within"
    processes.close()


def pair_of_sockets() -> bytes:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"within")
        return other.recv(10)


READS = """
import socket, sys
import indexer.uploads.paper
place = "127.0.0.1", int(sys.argv[2])
indexer.uploads.paper.read_file = lambda *_, **__: socket.create_connection(place, 5)
from indexer.uploads.reading import read
read(sys.argv[1])
"""


def test_a_visitors_document_is_read_without_network(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# A note\n\nIt calls nobody.\n")
    with Listener() as listener:
        port = listener.address.rpartition(":")[2]
        command = [sys.executable, "-c", READS, str(tmp_path / "note.md"), port]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert "PermissionError" in done.stderr
    assert listener.heard == []
