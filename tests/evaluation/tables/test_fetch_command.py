"""`evaluation fetch` against a hub over real sockets: whole files in their places, or what to do."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from tests.evaluation.commands import invoke
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
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandinHub]:
    """Return a hub that this process asks; the library reads where it is when it is imported."""
    with StandinHub(FILES, {}) as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.removeprefix(constants.ENDPOINT)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{hub.address}{template}")
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield hub


def fetch(data: Path, *names: str) -> tuple[int, str]:
    done = invoke("fetch", *names, "--data", data)
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


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (Fault(404, "EntryNotFound"), "the hub has no corpus.jsonl.gz in BeIR/scifact any more"),
        (Fault(404, "RevisionNotFound"), "the hub has no corpus.jsonl.gz in BeIR/scifact any more"),
        (Fault(401, "RepoNotFound"), "the hub has no data set BeIR/scifact, or it needs an account"),
        (Fault(403, "GatedRepo"), "accept them, and set HF_TOKEN"),
        (Fault(410, "Gone"), "the hub answered 410"),
        (Fault(kind="strange"), "the model hub cannot be reached"),
        (Fault(kind="short"), "Consistency check failed"),
        (Fault(kind="reset"), "could not be fetched"),
        (Fault(kind="other"), "has the SHA-256"),
    ],
)
def test_a_failed_download_leaves_no_file_and_is_reported(
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
