"""The real app in two processes behind nginx: who goes where, what dies, and what is told of it."""

import asyncio
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from assistant.records import Conversation
from assistant.storage.conversations import ConversationStore
from corpus.settings import PROJECT
from deployment import app_process
from deployment.guardian import Guardian
from deployment.site import READY_WITHIN_SECONDS, free_ports, remove_stale_folders
from evaluation.bench.visitor import VisitError, visiting
from explorer.app.owner import HOST_COOKIE, OWNER_COOKIE, owner_of
from tests.assistant.storage.test_conversations import make_turn
from tests.postgres_server import PROGRAMS, PostgresServer, postgres_server
from tests.served_site import NGINX, Served, descendants, is_ready, is_running, served, until

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")
COOKIE = "paper_trail_process"
PAGE = {"accept": "text/html"}
KEY = "deployment-test-0123456789"


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer | None]:
    """Run a PostgreSQL server where one is installed; without, the site has SQLite."""
    with ExitStack() as stack:
        yield stack.enter_context(postgres_server()) if PROGRAMS else None


def path_to_slow_nginx(folder: Path) -> str:
    """Return a path for programs in which nginx begins a second late, as on a busy machine."""
    slow = folder / "nginx"
    slow.write_text(f'#!/bin/sh\n[ "$1" = -t ] || sleep 1\nexec {NGINX} "$@"\n')
    slow.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def place(database: PostgresServer | None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a database for the site."""
    file = tmp_path_factory.mktemp("stored") / "conversations.sqlite"
    return database.new_database() if database else f"sqlite:///{file}"


@pytest.fixture(scope="module")
def site(demo_home: Path, place: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("site")
    settings = {
        "PAPER_TRAIL_API_KEYS": f"tests:{KEY}:0",
        "PAPER_TRAIL_CONVERSATIONS": place,
        "PAPER_TRAIL_STOP_SECONDS": "20",
        "PATH": path_to_slow_nginx(tmp_path_factory.mktemp("programs")),
    }
    with served(demo_home, folder, **settings) as site:
        yield site


def cookie_of(reply: httpx.Response) -> str:
    found = re.search(rf"{COOKIE}=(p\d)", reply.headers.get("set-cookie", ""))
    return found[1] if found else ""


def screen_drawn(site: Served, process: str) -> str:
    """Have a screen of the real app drawn over its websocket; return the process that drew it."""

    async def look() -> str:
        async with visiting(site.address, "collection", f"{COOKIE}={process}") as visitor:
            await visitor.show("", "Search titles")
            given = visitor.received_cookies
        return next(
            (variable.partition("=")[2][:2] for variable in given if variable.startswith(COOKIE)), process
        )

    return asyncio.run(look())


def nginx_of(site: Served) -> int:
    """Return the process of the site's nginx that has started the others."""
    started = descendants(site.program.pid)
    masters = [pid for pid in started if b"nginx: master" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    (found,) = masters
    return found


def refused(home: Path, *options: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Start a site that cannot be served; return what it said, which nobody may take for an address."""
    done = subprocess.run(
        [sys.executable, "-m", "deployment", *options],
        cwd=PROJECT,
        env=os.environ | {"PAPER_TRAIL_HOME": str(home), **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done


def test_pages_and_screens_of_a_visitor_come_from_one_healthy_process(site: Served) -> None:
    assert httpx.get(site.address, headers=PAGE).status_code == 200
    given = {cookie_of(httpx.get(site.address, headers=PAGE)) for _ in range(6)}
    assert given == {"p1", "p2"}
    for process in given:
        page = httpx.get(site.address, headers=PAGE, cookies={COOKIE: process})
        assert cookie_of(page) == ""
        assert screen_drawn(site, process) == process
    for address in site.addresses.values():
        assert httpx.get(f"{address}/healthz").json() == {"status": "alive"}
        ready = httpx.get(f"{address}/readyz")
        every = dict.fromkeys(("process", "corpus", "encoder", "database"), "ok")
        assert (ready.status_code, ready.json()) == (200, {"status": "ready", **every})


def test_fault_over_https_a_cookie_that_a_sibling_host_had_set_decided_what_is_listed(
    site: Served, place: str
) -> None:
    planted = httpx.get(site.address, headers=PAGE).cookies[OWNER_COOKIE]
    with closing(ConversationStore(place)) as store:
        store.put(owner_of(planted), Conversation("", "Of who planted it", (make_turn(),)), from_file=False)

    async def shows(cookie: str, expected: str, **headers: str) -> bool:
        try:
            async with visiting(site.addresses["p1"], "ask", f"{cookie}={planted}", **headers) as visitor:
                await visitor.show("", expected)
        except VisitError:
            return False
        return True

    https = {"x_forwarded_proto": "https"}
    assert asyncio.run(shows(OWNER_COOKIE, "Of who planted it"))
    assert asyncio.run(shows(HOST_COOKIE, "Of who planted it", **https))
    assert not asyncio.run(shows(OWNER_COOKIE, "Of who planted it", **https))
    assert asyncio.run(shows(OWNER_COOKIE, "stored before this site used HTTPS", **https))


def test_an_answer_of_a_program_comes_through_as_it_is_made(site: Served) -> None:
    headers = {"authorization": f"Bearer {KEY}", "accept": "text/event-stream"}
    asked = {"question": "How is reciprocal rank fusion computed?"}
    with httpx.stream(
        "POST", f"{site.address}/api/v1/ask", json=asked, headers=headers, timeout=120
    ) as reply:
        names = [line.removeprefix("event: ") for line in reply.iter_lines() if line.startswith("event: ")]
    assert names[0] == "rewritten"
    assert names[-1] == "answered"


def test_it_is_not_ready_while_its_database_is_down(site: Served, database: PostgresServer | None) -> None:
    if database is None:
        pytest.skip("no PostgreSQL server is installed")
    address = site.addresses["p1"]
    database.stop()
    try:
        until(lambda: httpx.get(f"{address}/readyz", timeout=30).status_code == 503)
        told = httpx.get(f"{address}/readyz", timeout=30)
        assert told.json()["database"] == "unusable"
        assert told.json()["corpus"] == "ok"
        assert "secret" not in told.text
        assert httpx.get(f"{address}/healthz").status_code == 200
        assert screen_drawn(site, "p1") == "p1"
    finally:
        database.start()
    until(lambda: httpx.get(f"{address}/readyz", timeout=30).status_code == 200)


def test_a_process_that_is_killed_is_replaced_and_its_visitors_are_served_meanwhile(site: Served) -> None:
    os.kill(site.pids["p1"], signal.SIGKILL)
    page = httpx.get(site.address, headers=PAGE, cookies={COOKIE: "p1"})
    assert (page.status_code, cookie_of(page)) == (200, "p2")
    assert screen_drawn(site, "p1") == "p2"
    until(lambda: is_ready(site.addresses["p1"]), 120)
    assert "Process p1 has ended (signal SIGKILL)" in site.log.read_text()
    until(lambda: re.search(r"Process p1 is ready again, process \d+\.", site.log.read_text()))
    assert screen_drawn(site, "p1") == "p1"


def test_all_processes_are_replaced_in_turn_and_the_site_stays_up(site: Served) -> None:
    site.tell(signal.SIGHUP)
    statuses = []

    def is_renewed() -> bool:
        statuses.append(httpx.get(site.address, headers=PAGE, timeout=120).status_code)
        return "All processes have been replaced." in site.log.read_text()

    until(is_renewed, 180)
    assert set(statuses) == {200}
    assert all(map(is_ready, site.addresses.values()))
    with pytest.raises(ProcessLookupError):
        os.kill(site.pids["p2"], 0)
    told = re.findall(r"Process p2 is ready again, process (\d+)\.", site.log.read_text())
    os.kill(int(told[-1]), 0)


def test_fault_ports_of_other_programs_were_told_as_its_own(demo_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = refused(demo_home, "--processes", "1", "--port", str(port))
    assert done.stderr.startswith(
        f"Another program listens at port {port} of 127.0.0.1: process {os.getpid()} ("
    )
    assert done.stderr.endswith(f" To end it: kill {os.getpid()}.\n")
    # Metrics at the port of visitors were taken for the site.
    (port,) = free_ports(1)
    done = refused(
        demo_home, "--processes", "2", "--port", str(port), PAPER_TRAIL_METRICS=f"127.0.0.1:{port - 1}"
    )
    assert f"Visitors come to port {port}, where metrics would be told too" in done.stderr
    # Metrics at a port that is taken were reported as if they were there.
    with socket.create_server(("127.0.0.1", 0)) as other:
        metrics = f"127.0.0.1:{other.getsockname()[1]}"
        done = refused(demo_home, "--port", str(free_ports(1)[0]), PAPER_TRAIL_METRICS=metrics)
    taken = f"Another program listens at port {metrics.rpartition(':')[2]} of 127.0.0.1: process "
    assert done.stderr.startswith(taken)
    assert done.stderr.endswith(". Metrics would be told there (PAPER_TRAIL_METRICS).\n")


@pytest.mark.parametrize(
    ("settings", "lacking"),
    [
        ({"PAPER_TRAIL_CONVERSATIONS": "sqlite:////proc/nowhere/a.sqlite"}, "database unusable"),
        ({"PAPER_TRAIL_HOME": "/proc/nowhere"}, "corpus missing"),
    ],
)
def test_fault_without_its_database_nobody_was_served_for_minutes(
    demo_home: Path, tmp_path: Path, settings: dict[str, str], lacking: str
) -> None:
    clock = time.monotonic()
    with served(demo_home, tmp_path, processes=1, **settings) as site:
        assert time.monotonic() - clock < READY_WITHIN_SECONDS
        page = httpx.get(site.address, headers=PAGE)
    assert page.status_code == 200
    assert f"Process p1 is not ready ({lacking})." in site.log.read_text()


@pytest.mark.parametrize(
    ("options", "settings", "message"),
    [
        ([], {"PAPER_TRAIL_METRICS": "127.0.0.1:65535"}, "choose a lower one in PAPER_TRAIL_METRICS"),
        ([], {"PAPER_TRAIL_METRICS": ":9464"}, "it has to be HOST:PORT"),
        ([], {"PAPER_TRAIL_METRICS": "127.0.0.1:0"}, "it has to be HOST:PORT"),
        ([], {"PAPER_TRAIL_HOME": "~nobody-of-that-name/x"}, "there is no user of that name"),
        ([], {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "20MB"}, "a number of megabytes"),
        (["--host", "https://papers.example.org"], {}, "is no host"),
        (
            ["--address", "192.0.2.1"],
            {},
            "Nothing can listen at 192.0.2.1 here: Cannot assign requested address.",
        ),
        (["--address", "nowhere.invalid"], {}, "Nothing can listen at nowhere.invalid here: "),
        (["--key", str(PROJECT / "README.md")], {}, "given together"),
    ],
)
def test_what_cannot_be_served_is_said_in_words(
    demo_home: Path, options: list[str], settings: dict[str, str], message: str
) -> None:
    done = refused(demo_home, "--port", str(free_ports(1)[0]), *options, **settings)
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_ports_that_are_to_be_another_programs_are_not_given() -> None:
    low, high = range(20_000, 25_000), range(25_000, 32_000)
    assert all(port in high for port in free_ports(50, but=low))


def test_an_app_that_cannot_start_is_not_started_for_ever(demo_home: Path, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text("this is [no TOML")
    with pytest.raises(AssertionError, match="The app does not start"):  # noqa: SIM117
        with served(demo_home, tmp_path, processes=1, STREAMLIT_SECRETS_FILES=str(secrets)):
            raise RuntimeError("it has started")
    assert "its secrets" in (tmp_path / "site.log").read_text()
    assert "nginx has ended" not in (tmp_path / "site.log").read_text()


def test_fault_workers_of_an_nginx_that_was_killed_kept_its_port(demo_home: Path, tmp_path: Path) -> None:
    with served(demo_home, tmp_path, processes=1) as site:
        os.kill(nginx_of(site), signal.SIGKILL)
        assert site.program.wait(60) == 1
        with pytest.raises(httpx.ConnectError):
            httpx.get(site.address)
    assert "nginx has ended (signal SIGKILL): everything is stopped." in site.log.read_text()


@pytest.mark.parametrize("also", ["", "its nginx"])
def test_fault_a_site_that_was_killed_went_on_serving_and_none_could_take_its_place(
    tmp_path: Path, also: str
) -> None:
    """Without a corpus: a site of that kind starts quickly."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    with served(tmp_path, first, processes=1) as site:
        supervisor, port = site.program.pid, int(site.address.rpartition(":")[2])
        started = descendants(supervisor)
        folders = set(Path(tempfile.gettempdir()).glob("paper-trail-nginx-*"))

        def kill_the_first(log: Path) -> None:
            until(lambda: "This start goes on once it has ended." in log.read_text())
            assert f"process {supervisor} (" in log.read_text()
            assert f"To end it: kill {supervisor}." in log.read_text()
            for pid in (supervisor, nginx_of(site)) if also else (supervisor,):
                os.kill(pid, signal.SIGKILL)
            until(lambda: not any(map(is_running, started)))

        with served(tmp_path, second, processes=1, port=port, while_it_starts=kill_the_first) as another:
            assert another.address == site.address
            assert httpx.get(another.address, headers=PAGE).status_code == 200
    assert not any(map(is_running, started))
    assert folders - set(Path(tempfile.gettempdir()).glob("paper-trail-nginx-*")), "nothing is left behind"


def test_fault_folders_of_sites_that_were_killed_stayed_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, running, new = (tmp_path / f"paper-trail-nginx-{name}" for name in ("left", "running", "new"))
    for folder in (left, running, new):
        folder.mkdir()
        (folder / "lock").touch()
    for folder in (left, running):
        os.utime(folder, (time.time() - 3600, time.time() - 3600))
    with (running / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_stale_folders()
    assert [folder.exists() for folder in (left, running, new)] == [False, True, True]


def test_fault_a_process_that_hung_was_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tmp_path / "app.py"
    entry.write_text("import streamlit as st\nst.write('a screen')\n")
    monkeypatch.setattr(app_process, "ENTRY", entry)
    monkeypatch.setattr(app_process, "PULSE_SECONDS", 2.0)
    port, told = free_ports(1)[0], list[str]()

    def answers() -> bool:
        assert process.end_if_hung() == "", "it is not taken for hung while it starts or answers"
        try:
            return httpx.get(f"http://{process.address}/healthz", timeout=1).status_code == 200
        except httpx.TransportError:
            return False

    with Guardian() as guardian:
        process = app_process.AppProcess("p1", port, ["127.0.0.1"], {}, guardian, 5.0)
        process.start()
        try:
            until(answers, 60)
            answering = time.monotonic() + 5
            while time.monotonic() < answering:
                assert answers()
            first = process.pid
            os.kill(first, signal.SIGSTOP)
            until(lambda: told.append(process.end_if_hung()) or any(told), 30)
            assert any("has not answered for 6 s: it is ended by force." in line for line in told)
            until(lambda: process.replace_if_dead() == "" and process.pid, 30)
            assert process.pid != first
            until(answers, 60)
        finally:
            process.begin_to_stop()
            process.stop(time.monotonic() + 10)


def test_everything_ends_when_it_is_told_to(site: Served) -> None:
    site.tell(signal.SIGTERM)
    assert site.program.wait(60) == 0
    assert "deployment/site.py" not in site.log.read_text(), "it ends without an error of its own"
    for address in (site.address, *site.addresses.values()):
        with pytest.raises(httpx.TransportError):
            httpx.get(address)
