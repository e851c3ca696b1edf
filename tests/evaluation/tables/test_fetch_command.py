"""`evaluation fetch` against a hub over real sockets: whole files in their places, or what to do."""

import gzip
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.tables import sources
from evaluation.tables.sources import data_sets
from tests.standin_hub import Fault, StandinHub

CORPUS, QUERIES = b'{"_id": "d1", "title": "T", "text": "t"}\n' * 4000, b'{"_id": "q1", "text": "t"}\n'
JUDGED = b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"
PACKED = ("BeIR/scifact", "corpus.jsonl.gz")
FILES = {
    PACKED: gzip.compress(CORPUS, compresslevel=0),
    ("BeIR/scifact", "queries.jsonl.gz"): gzip.compress(QUERIES),
    ("BeIR/scifact-qrels", "test.tsv"): JUDGED,
    ("allenai/SciRIFF", "4096/test-00000-of-00001.parquet"): b"PAR1",
}
HUB = "https://huggingface.co/datasets"


@pytest.fixture
def served() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def hub(served: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandinHub:
    """Return a hub that this process asks; the library reads where it is when it is imported."""
    hub = served.enter_context(StandinHub(FILES, {}))
    ask(monkeypatch, hub.address, tmp_path)
    return hub


def ask(monkeypatch: pytest.MonkeyPatch, address: str, folder: Path) -> None:
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.removeprefix(constants.ENDPOINT)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{address}{template}")
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


def fetch(data: Path, *names: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["fetch", *names, "--data", str(data)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_data_set_is_fetched_unpacked_and_not_again(hub: StandinHub, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert fetch(data, "scifact")[0] == 0
    expected = {"scifact/corpus.jsonl": CORPUS, "scifact/queries.jsonl": QUERIES}
    assert files_in(data) == {**expected, "scifact/qrels/test.tsv": JUDGED}
    hub.requests.clear()
    code, said = fetch(data, "scifact")
    assert (code, f"SciFact (BEIR) is at {data / 'scifact'}." in said, hub.requests) == (0, True, [])


def test_the_revision_that_is_known_is_asked_for(
    hub: StandinHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = data_sets()["sciriff"]
    (file,) = known.hub
    file = file.model_copy(update={"revision": "refs/convert/parquet"})
    changed = {"sciriff": known.model_copy(update={"hub": (file,)})}
    monkeypatch.setattr(sources, "data_sets", lambda: changed)
    assert fetch(tmp_path / "data", "sciriff")[0] == 0
    assert hub.revisions == {"refs/convert/parquet"}


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (Fault(404, "EntryNotFound"), "the hub has no corpus.jsonl.gz in BeIR/scifact any more"),
        (Fault(404, "RevisionNotFound"), "the hub has no corpus.jsonl.gz in BeIR/scifact any more"),
        (Fault(401, "RepoNotFound"), "the hub shows no data set BeIR/scifact, or not without an account"),
        (Fault(403, "GatedRepo"), "accept them, and set HF_TOKEN"),
        (Fault(410, "Gone"), "the hub answered 410"),
        (Fault(kind="strange"), "what answers in place of the hub is none"),
        (Fault(kind="short"), "Consistency check failed"),
        (Fault(kind="reset"), "the connection to the hub broke"),
        (Fault(kind="other"), "has the SHA-256"),
    ],
)
def test_what_cannot_be_fetched_is_not_there_and_said(
    hub: StandinHub, tmp_path: Path, fault: Fault, complaint: str
) -> None:
    hub.faults = {PACKED: fault}
    data = tmp_path / "data"
    code, said = fetch(data, "scifact")
    assert (code, files_in(data)) == (2, {})
    assert complaint in said
    # All that the set still lacks, each with its place.
    for repository, path in list(FILES)[:3]:
        assert f"{HUB}/{repository}/resolve/main/{path} at {data}/scifact/" in said


def test_a_file_that_is_damaged_on_the_hub_is_not_half_unpacked(hub: StandinHub, tmp_path: Path) -> None:
    for damaged in (FILES[PACKED][:-200], b"no gzip", FILES[PACKED][:400] + b"\xff" * 400):
        hub.files = {**FILES, PACKED: damaged}
        code, said = fetch(tmp_path / "data", "scifact")
        assert (code, "is damaged" in said, files_in(tmp_path / "data")) == (2, True, {})


def test_a_connection_that_is_cut_is_taken_up_again(hub: StandinHub, tmp_path: Path) -> None:
    hub.faults = {PACKED: Fault(kind="cut")}
    assert fetch(tmp_path / "data", "scifact")[0] == 0
    assert (tmp_path / "data/scifact/corpus.jsonl").read_bytes() == CORPUS
    assert len([one for one in hub.requests if one.startswith("GET") and "corpus" in one]) == 2


def test_what_fails_costs_its_data_set_alone(hub: StandinHub, tmp_path: Path) -> None:
    hub.faults = {("BeIR/scifact-qrels", "test.tsv"): Fault(404, "EntryNotFound")}
    data = tmp_path / "data"
    code, said = fetch(data, "scifact", "cacm", "sciriff")
    assert (code, "SciRIFF (4096) is at" in said) == (2, True)
    assert f"put it at {data / 'retrieval/cacm'} (corpus.jsonl, queries.jsonl, qrels.tsv)" in said
    # What came whole stays; what is said is only what is lacking.
    assert "scifact/corpus.jsonl" in files_in(data)
    assert "corpus.jsonl.gz at" not in said


@pytest.mark.parametrize("offline", ["forbidden", "out of reach"])
def test_without_a_hub_what_it_gave_before_is_used(
    hub: StandinHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: str
) -> None:
    assert fetch(tmp_path / "first", "sciriff")[0] == 0
    if offline == "forbidden":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        fetched = fetch(tmp_path / "second", "sciriff"), fetch(tmp_path / "second", "scifact")
    else:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, never listening: every connection is refused
            ask(monkeypatch, f"http://127.0.0.1:{taken.getsockname()[1]}", tmp_path)
            fetched = fetch(tmp_path / "second", "sciriff"), fetch(tmp_path / "second", "scifact")
    (found, _), (lacking, said) = fetched
    assert (found, lacking, list(files_in(tmp_path / "second"))) == (0, 2, ["sciriff/test.parquet"])
    assert "the model hub cannot be reached, or HF_HUB_OFFLINE forbids it" in said
    assert f"{HUB}/BeIR/scifact/resolve/main/corpus.jsonl.gz at" in said


def test_a_place_that_cannot_be_written_is_said(hub: StandinHub, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sciriff").write_text("a file where a folder has to be")
    code, said = fetch(tmp_path / "data", "sciriff")
    assert (code, "test.parquet cannot be written: " in said) == (2, True)
    assert list(files_in(tmp_path / "data")) == ["sciriff"]


def test_a_name_that_is_not_known_is_refused(tmp_path: Path) -> None:
    code, said = fetch(tmp_path, "scifacts")
    assert (code, "There is no data set 'scifacts'. There are: " in said) == (2, True)


def test_the_command_asks_the_hub_that_the_environment_names(
    served: ExitStack, tmp_path: Path, root: Path
) -> None:
    hub = served.enter_context(StandinHub(FILES, {}))
    told = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-m", "evaluation", "fetch", "sciriff", "--data", str(tmp_path / "data")]
    done = subprocess.run(
        command, cwd=root, env=os.environ | told, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert files_in(tmp_path / "data") == {"sciriff/test.parquet": b"PAR1"}


def test_what_is_fetched_is_the_first_form_of_its_data_set() -> None:
    for name, data_set in data_sets().items():
        if data_set.hub:
            first = data_set.forms[0]
            places = [f"{first.path}/{file}" for file in first.files] or [first.path]
            assert [file.to for file in data_set.hub] in ([*places], sorted(places)), name
