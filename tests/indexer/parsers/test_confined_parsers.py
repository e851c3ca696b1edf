"""A process that reads a foreign file can reach nothing but that file, whatever the file makes it do."""

import os
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.records import Paper
from corpus.sandbox.confinement import offered_confinement
from indexer.errors import ParseError
from indexer.parsers.sandbox import IsolatedProcesses
from indexer.prepare.preparer import LocalWorkers, Task, accepted, prepare
from indexer.sources.protocol import SourcePaper
from tests.demo_home import PROJECT
from tests.hostile_listener import Listener
from tests.hostile_parser import attempt, calls_not_refused

pytestmark = pytest.mark.skipif(
    not offered_confinement(), reason=f"this system has no {offered_confinement().missing}"
)


@pytest.fixture(scope="module")
def parser() -> Iterator[IsolatedProcesses[str]]:
    processes = IsolatedProcesses(attempt, 1, seconds=20)
    yield processes
    processes.close()


def test_fault_a_parser_could_read_the_servers_files(parser: IsolatedProcesses[str], tmp_path: Path) -> None:
    own, key = tmp_path / "paper.pdf", tmp_path / "server.key"
    own.write_text("%PDF-1.7")
    key.write_text("secret")
    assert parser.run("read_file", str(own), readable=[own]) == "done: %PDF-1.7"
    for way, target in [
        ("read_file", key),
        ("list_folder", tmp_path),
        ("write_file", own),
        ("write_file", tmp_path / "new"),
        ("change_mode", key),
        ("cut_off", key),
        ("read_file", Path("/etc/passwd")),
        ("list_folder", PROJECT),
        ("list_folder", Path.home()),
    ]:
        assert (way, target, parser.run(way, str(target), readable=[own])) == (way, target, "refused")
    assert key.read_text() == "secret"


def test_fault_a_parser_could_reach_the_process_that_started_it(parser: IsolatedProcesses[str]) -> None:
    process = str(os.getpid())
    for way in ("read_environment", "read_memory", "copy_memory", "take_descriptor", "attach", "send_signal"):
        assert attempt(way, process) != "refused" or way in ("attach", "take_descriptor")
        assert (way, parser.run(way, process)) == (way, "refused")
    assert parser.run("leave_session", "") == "refused"
    assert parser.run("raise_limit", "") == "refused"


def test_fault_a_parser_was_given_the_servers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "canary")
    processes = IsolatedProcesses(environment, 1)
    assert "canary" not in processes.run()
    processes.close()


def environment() -> str:
    return Path("/proc/self/environ").read_text()


def test_fault_a_parser_could_connect_to_sockets_of_the_machine(
    parser: IsolatedProcesses[str], tmp_path: Path
) -> None:
    abstract = f"@paper-trail-test-{os.getpid()}"
    for address, kind in [
        (abstract, socket.SOCK_STREAM),
        (str(tmp_path / "stream"), socket.SOCK_STREAM),
        (f"{abstract}-datagrams", socket.SOCK_DGRAM),
        (str(tmp_path / "datagrams"), socket.SOCK_DGRAM),
    ]:
        with socket.socket(socket.AF_UNIX, kind) as server:
            server.bind(address.replace("@", "\0", 1))
            ways = ["connect_half_of_pair", "send_over_half_of_pair"]
            if kind == socket.SOCK_STREAM:
                server.listen()
                ways = ["connect_to_unix_socket"]
            for way in ways:
                assert attempt(way, address).startswith("done")
                assert parser.run(way, address) == "refused"


def test_a_parser_that_tries_to_call_out_is_refused_by_the_system(parser: IsolatedProcesses[str]) -> None:
    ways = (
        "connect",
        "connect_from_thread",
        "connect_from_program",
        "send_datagram",
        "open_socket_of_version_6",
    )
    with Listener() as listener:
        port = listener.address.rpartition(":")[2]
        assert attempt("connect", port) == "done: called"
        for _ in range(100):
            if listener.heard:
                break
            threading.Event().wait(0.05)
        assert listener.heard.pop() == "called out"
        assert {way: parser.run(way, port) for way in ways} == dict.fromkeys(ways, "refused")
    assert listener.heard == []


def test_fault_a_parser_could_leave_a_daemon_behind_or_run_code_in_the_driver(
    parser: IsolatedProcesses[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    assert parser.run("leave_daemon", str(mark)) == "refused"
    # One that may start programs, as those that read scans do, starts none that outlives it.
    programs = [Path("/bin")]
    assert parser.run("leave_daemon", str(mark), programs=programs) == "refused"
    assert parser.run("leave_process_in_group", str(mark), programs=programs) == "done: left"
    time.sleep(1.3)
    assert not mark.exists()
    assert not _running(str(mark))
    # Replies came by pickle.
    with pytest.raises(ParseError, match=r"makes no sense|broke down"):
        parser.run("overwrite_reply", "")
    assert parser.run("read_file", "/etc/passwd") == "refused"


def _running(part: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if part.encode() in process.read_bytes():
                found.append(process.parent.name)
        except OSError:
            continue
    return found


def test_fault_a_parser_without_its_timers_waited_for_ever() -> None:
    processes = IsolatedProcesses(attempt, 1, seconds=1, patience=1)
    with pytest.raises(ParseError, match="by the clock"):
        processes.run("run_for_ever", "")
    processes.close()


def test_every_listed_system_call_is_refused_and_a_pair_of_sockets_allowed() -> None:
    processes = IsolatedProcesses(calls_not_refused, 1)
    assert processes.run() == {}
    processes.close()
    paired = IsolatedProcesses(pair_of_sockets, 1)
    assert paired.run() == "within"
    paired.close()


def pair_of_sockets() -> str:
    ours, other = socket.socketpair()
    with ours, other:
        ours.sendall(b"within")
        return other.recv(10).decode()


def _task(pdf: Path) -> Task:
    paper = Paper("bats/one", "bats", "On Bats", (), 2020, "", "Bats sleep by day.")
    return Task(SourcePaper("one", paper, pdf), "made of this", "ab12", "ab12")


@pytest.mark.parametrize(
    "claim",
    [
        {"id": "bats/two"},
        {"collection_id": "owls"},
        {"pdf_sha256": "cd34"},
        {"fingerprint": "something else"},
        {"scan_confidence": float("inf")},
    ],
)
def test_fault_a_parser_could_reply_for_another_paper(tmp_path: Path, claim: dict[str, object]) -> None:
    task = _task(tmp_path / "bats.pdf")
    honest = prepare(task, None)
    assert accepted(task, honest).paper == honest.paper
    with pytest.raises(ParseError, match="makes no sense"):
        accepted(task, replace(honest, paper=replace(honest.paper, **claim)))  # type: ignore[arg-type]


def test_fault_a_parser_could_name_the_file_that_is_kept_as_its_pdf(tmp_path: Path) -> None:
    task = _task(tmp_path / "bats.pdf")
    told = replace(prepare(task, None), pdf=Path("/etc/shadow"), listed="{}", name="two")
    kept = accepted(task, told)
    assert (kept.pdf, kept.name) == (tmp_path / "bats.pdf", "one")
    assert "On Bats" in kept.listed


def test_papers_of_every_kind_are_read_by_confined_processes(tmp_path: Path) -> None:
    (tmp_path / "bats.md").write_text("# On Bats\n\n## Sleep\n\nBats sleep by day.\n")
    paper = Paper("bats/one", "bats", "", (), None, "", "")
    task = Task(SourcePaper("bats", paper, tmp_path / "bats.md"), "f")
    prepared = LocalWorkers(1).prepare(task, tmp_path / "bats.md")
    assert prepared.paper.title == "On Bats"
    assert [passage.text for passage in prepared.passages][1:] == ["Bats sleep by day."]


CONFINED = "import sys; sys.path.insert(0, {!r}); from corpus.sandbox.confinement import confine; {}"


def _confined(code: str) -> str:
    command = [sys.executable, "-c", CONFINED.format(str(PROJECT), code)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_fault_a_sandbox_that_failed_or_was_not_there_was_ignored() -> None:
    other_thread = (
        "import threading, time; threading.Thread(target=time.sleep, args=[9], daemon=True).start();"
    )
    assert "it has other threads already" in _confined(f"{other_thread} confine()")
    unknown = "import platform; platform.machine = lambda: 'riscv64';"
    assert _confined(f"{unknown} confine()") == ""
    assert "it has no seccomp" in _confined(f"{unknown} confine(required=True)")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
def test_a_call_by_another_convention_is_refused() -> None:
    processes = IsolatedProcesses(call_by_another_convention, 1)
    assert processes.run() == 13
    processes.close()


def call_by_another_convention() -> int:
    import ctypes  # noqa: PLC0415

    ctypes.CDLL(None, use_errno=True).syscall(0x40000000 + 39)
    return ctypes.get_errno()
