"""Builds on a real Ray cluster, started here: the tables of a local build, whoever dies on the way."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from corpus.encoder_choice import SharedEncoder, open_encoder
from corpus.encoders.base import BUNDLED_SHA256
from corpus.errors import CorpusError
from corpus.places.folder import Folder
from corpus.settings import BUNDLED_ENCODER, PROJECT, Settings
from corpus.store.corpus import Corpus
from deployment.site import free_ports
from indexer.build.engines import open_engine
from indexer.build.ray_tasks import BlockWorker, EncodingPlan, identity
from tests.indexer.build.killable_build import rows_of
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.indexer.command_line import run_json

PAPERS = 24

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed: pip install 'paper-trail[cluster]'"
)


@dataclass(frozen=True)
class Cluster:
    """A Ray of two workers; files that its workers read lie in `files` meanwhile."""

    address: str
    files: Path
    head: int

    def workers(self, name: str) -> list[int]:
        """Return the processes of this cluster that do what is called so."""
        return [pid for pid in _processes() if name in _title(pid) and self.head in _ancestors(pid)]


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _title(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    return ""


def _ancestors(process: int) -> list[int]:
    found: list[int] = []
    while process > 1:
        try:
            stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
        except OSError:
            break
        process = int(stat.rpartition(")")[2].split()[1])
        found.append(process)
    return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    (port,) = free_ports(1)
    # Paths of sockets below it must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2"]
    command += [f"--port={port}", f"--temp-dir={folder}/s", "--object-store-memory=200000000"]
    command += ["--include-dashboard=false", "--disable-usage-stats"]
    patch = pytest.MonkeyPatch()
    # A token of its own: whatever else of Ray this machine has is another's.
    patch.setenv("RAY_AUTH_MODE", "token")
    patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    # It works elsewhere: what a worker needs comes with its task.
    with (folder / "log").open("wb") as log:
        environment = os.environ | {"TMPDIR": str(folder)}
        head = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _await_port(head, port, folder / "log")
        yield Cluster(f"127.0.0.1:{port}", folder, head.pid)
    finally:
        ours = [pid for pid in _processes() if head.pid in _ancestors(pid)]
        head.terminate()
        head.wait(60)
        for process in ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        patch.undo()


def _await_port(head: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Wait until the cluster says that it runs; its port answers before there is a worker."""
    for _ in range(600):
        assert head.poll() is None, log.read_text()
        if "Ray runtime started" in log.read_text():
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        time.sleep(0.1)
    pytest.fail(f"the cluster did not start: {log.read_text()}")


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    for number in range(PAPERS):
        animal = f"animal {number}"
        body = [f"{animal} eats {'much ' * number}grass.", f"It sleeps for {number} hours."]
        write_tei(folder / f"{number:02}.tei.xml", f"On {animal}", f"We watch {animal}.", body)
    write_paper_pdf(folder / "printed.pdf")
    (folder / "broken.tei.xml").write_text("<TEI")
    return folder


def _start(home: Path, papers: Path, address: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.indexer.build.ray_build", str(home), str(papers), address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _built(home: Path, papers: Path, address: str = "") -> list[str]:
    process = _start(home, papers, address)
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return printed.splitlines()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, papers: Path) -> tuple[Path, list[str]]:
    """Return the home of a build by processes, and what could not be read."""
    home = tmp_path_factory.mktemp("local")
    return home, _built(home, papers)


def _tables(home: Path) -> dict[str, list[dict[str, Any]]]:
    settings = Settings(home=home)
    return rows_of(Corpus.open(settings.corpus_path, open_encoder(settings)))


def _await_part(home: Path, process: "subprocess.Popen[str]") -> None:
    while not list((home / "staging").glob("*.papers.arrow")):
        assert process.poll() is None
        time.sleep(0.005)


@needs_ray
def test_a_build_on_a_cluster_gives_the_tables_of_a_local_one(
    tmp_path: Path, cluster: Cluster, papers: Path, local: tuple[Path, list[str]]
) -> None:
    home, unread = local
    assert _built(tmp_path, papers, cluster.address) == unread
    assert [line.partition(":")[0] for line in unread] == ["broken.tei.xml"]
    assert _tables(tmp_path) == _tables(home)
    assert [file.name for file in (tmp_path / "pdf").iterdir()] == [
        file.name for file in (home / "pdf").iterdir()
    ]
    assert not list((tmp_path / "staging").iterdir())


@pytest.mark.long
@needs_ray
def test_workers_that_are_killed_lose_and_double_nothing(
    tmp_path: Path, cluster: Cluster, papers: Path, local: tuple[Path, list[str]]
) -> None:
    """A paper whose worker dies each time is named; one that encodes is killed in the middle."""
    more = tmp_path / "papers"
    shutil.copytree(papers, more)
    (more / "zz-deadly.md").write_text("# On Cats\n\n" + "They sleep by day, and hunt.\n\n" * 60_000)
    killed: list[int] = []
    process = _start(tmp_path / "home", more, cluster.address)
    over = threading.Event()

    def kill_who_reads_it() -> None:
        while not over.wait(0.005):
            for file in cluster.files.glob("paper-trail-*/zz-deadly.md"):
                reader = int(file.parent.name.split("-")[2])
                file.unlink(missing_ok=True)
                os.kill(reader, signal.SIGKILL)
                killed.append(reader)

    killer = threading.Thread(target=kill_who_reads_it)
    killer.start()
    try:
        _await_part(tmp_path / "home", process)
        encoders = cluster.workers("BlockWorker")
        os.kill(encoders[0], signal.SIGKILL)
        printed, _ = process.communicate(timeout=300)
    finally:
        over.set()
        killer.join()
    assert process.returncode == 0
    home, unread = local
    deadly = [line for line in printed.splitlines() if line.startswith("zz-deadly.md")]
    assert [line for line in printed.splitlines() if line not in deadly] == unread
    assert ["was lost 4 times" in line for line in deadly] == [True]
    assert len(killed) == 4
    assert _tables(tmp_path / "home") == _tables(home)


@pytest.mark.long
@needs_ray
def test_a_build_whose_driver_was_killed_is_gone_on_with_by_processes(
    tmp_path: Path, cluster: Cluster, papers: Path, local: tuple[Path, list[str]]
) -> None:
    home, unread = local
    process = _start(tmp_path, papers, cluster.address)
    _await_part(tmp_path, process)
    process.kill()
    process.wait()
    assert process.stdout
    process.stdout.close()
    assert not (tmp_path / "corpus" / "manifest.json").exists()
    assert _built(tmp_path, papers) == unread
    assert _tables(tmp_path) == _tables(home)


@needs_ray
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1:1", "cannot be joined"),
        ("no-such-host.invalid:6379", "cannot be joined"),
        ("ray://127.0.0.1:10001", "is no address of a cluster that a build can join"),
        ("here", "cannot be joined"),
    ],
)
def test_a_cluster_that_is_not_there_is_named(address: str, reason: str) -> None:
    error = run_json("demo", "--engine", "ray", "--address", address, code=2)["error"]
    assert address in error
    assert reason in error


def test_without_ray_or_its_option_the_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "[cluster]" in run_json("demo", "--engine", "ray", code=2)["error"]
    with pytest.raises(CorpusError, match="add --engine ray"), open_engine("process", "auto"):
        pass


@pytest.mark.parametrize("told", ["3", None])
def test_workers_use_the_drivers_threads(told: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # As Ray tells its workers.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    shared = SharedEncoder(BUNDLED_ENCODER, BUNDLED_SHA256, "torch", Folder(PROJECT / "README.md"))
    plan = EncodingPlan(identity(), shared, Folder(PROJECT / "build"), "key", told)
    BlockWorker(plan).open()
    assert os.environ.get("OMP_NUM_THREADS") == told
