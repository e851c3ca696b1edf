"""The indexer's command line: what it prints, where, and how it ends."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.commands import building
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.indexer.command_line import run, run_json

NOTES = ("--collection", "notes", "--title", "My [bold] notes")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Return a folder of two papers and a broken file, in both formats."""
    folder = tmp_path / "my papers"
    write_tei(folder / "cats.tei.xml", "On cats")
    write_tei(folder / "owls.tei.xml", "On owls")
    write_paper_pdf(folder / "dogs.pdf", "On Dogs")
    (folder / "broken [red].tei.xml").write_text("<TEI")
    (folder / "broken [red].pdf").write_bytes(b"no PDF")
    return folder


def _run(root: Path, home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "indexer", *map(str, arguments)],
        cwd=root,
        env=os.environ | {"PAPER_TRAIL_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_early_interrupts_end_quietly(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Stands before the real one on the path, and is among the first to be loaded.
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = _run(root, tmp_path / "home", "status")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_fault_the_command_line_could_not_read_a_document(root: Path, home: Path, tmp_path: Path) -> None:
    """Regression: its libraries have threads, with which a process cannot be confined."""
    paper = write_paper_pdf(tmp_path / "read" / "dogs.pdf", "On Dogs")
    done = _run(root, home, "read", paper, "--name", "My dogs.pdf", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["document"]["paper"]["title"] == "On Dogs"
    done = _run(root, home, "read", tmp_path / "missing.pdf")
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


def test_a_stopped_build_says_how_to_resume(
    home: Path, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "build_collections", stopped)
    done = run("tei", papers, *NOTES, code=130)
    assert "The same command goes on from here" in " ".join(done.stderr.split())


def test_the_real_command_keeps_standard_output_for_the_json(root: Path, home: Path, papers: Path) -> None:
    done = _run(root, home, "tei", papers, *NOTES, "--json")
    assert done.returncode == 0
    assert "notes" in done.stderr
    (build,) = json.loads(done.stdout)["builds"]
    assert done.stdout.count("\n") == 1
    assert (build["added"], build["passages"], build["collection_id"]) == (2, 4, "notes")
    assert [failure["item"] for failure in build["failures"]] == ["broken [red].tei.xml"]


def test_status_says_what_the_corpus_holds(home: Path, papers: Path) -> None:
    run("tei", papers, *NOTES)
    run("pdfs", papers, "--collection", "prints", "--title", "Prints")
    status = run_json("status")
    assert status["papers"] == 3
    assert status["home"] == str(home)
    wanted = ("id", "title", "papers", "passages", "full_texts", "failed")
    notes, prints = ({key: entry[key] for key in wanted} for entry in status["collections"])
    assert notes == {
        "id": "notes",
        "title": "My [bold] notes",
        "papers": 2,
        "passages": 4,
        "full_texts": 2,
        "failed": 1,
    }
    assert (prints["id"], prints["papers"], prints["failed"]) == ("prints", 1, 1)
    assert status["passages"] == notes["passages"] + prints["passages"]
    shown = run("status").stdout
    assert "My [bold] notes" in shown
    assert "Prints" in shown


def test_a_removed_collection_is_gone_and_an_unknown_one_is_not_removed(home: Path, papers: Path) -> None:
    run("tei", papers, *NOTES)
    for name in ("nots", "' OR 1=1 --", ""):
        assert "It holds: notes." in run_json("remove", name, code=2)["error"]
    assert run_json("status")["papers"] == 2
    assert run_json("remove", "notes") == {"removed": "notes", "papers": 2}
    status = run_json("status")
    assert (status["papers"], status["passages"], status["collections"]) == (0, 0, [])
    assert "no collection 'notes'. It holds: none." in run_json("remove", "notes", code=2)["error"]
    done = run("tei", papers, "--collection", "notes-with-a-long-name", "--title", "Notes")
    assert run_json("status")["papers"] == 2
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), "the report does not fit a terminal"
    assert any("New" in line and "Seconds" in line for line in lines)
    assert "broken [red].tei.xml" in done.stdout
    assert "not well-formed" in done.stdout


def test_a_folder_of_nothing_but_broken_files_ends_in_failure(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.pdf").write_bytes(b"no PDF")
    (build,) = run_json("pdfs", tmp_path / "bad", *NOTES, code=2)["builds"]
    assert build["failures"] == [{"item": "a.pdf", "reason": "a.pdf is not a PDF"}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("status",), "There is no corpus at"),
        (("remove", "notes"), "There is no corpus at"),
        (("pdfs", "nowhere", *NOTES), "There is no folder nowhere"),
        (("tei", "EMPTY", *NOTES), "holds no file that ends in"),
        (("tei", "PAPERS", "--collection", "a/b", "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "x' OR 1=1", "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "", "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "../x", "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "a" * 81, "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "notes\n", "--title", "T"), "cannot be a collection's id"),
        (("tei", "PAPERS", "--collection", "notes", "--title", " \x00"), "has no title"),
        (("acl", "2022.acl-long", "--anthology", "EMPTY"), "There is no Anthology data in"),
    ],
)
def test_a_mistake_gets_one_clear_message_and_code_2(
    home: Path, papers: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"EMPTY": str(tmp_path / "empty"), "PAPERS": str(papers)}
    given = [places.get(argument, argument) for argument in arguments]
    plain = run(*given, code=2)
    assert plain.stdout == ""
    assert message in plain.stderr
    assert message in run_json(*given, code=2)["error"]
    assert not (home / "corpus").exists()


def test_another_encoder_is_refused(home: Path, papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_ENCODER", "nobody/no-such-model")
    assert "'nobody/no-such-model' could not be loaded" in run("tei", papers, *NOTES, code=2).stderr
    monkeypatch.delenv("PAPER_TRAIL_ENCODER")
    run("tei", papers, *NOTES)
    monkeypatch.setenv("PAPER_TRAIL_ENCODER", "nobody/no-such-model")
    for arguments in (("status",), ("remove", "notes"), ("tei", papers, *NOTES)):
        assert "PAPER_TRAIL_ENCODER=all-MiniLM-L6-v2" in run(*arguments, code=2).stderr


def test_an_unwritable_home_is_named(papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "file" / "home"))
    assert "cannot be written" in run_json("tei", papers, *NOTES, code=2)["error"]


def test_a_full_disk_is_said_in_words_and_loses_nothing(home: Path, papers: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    run("tei", papers, *NOTES)
    long = "Cats are written about at length here. " * 400
    write_tei(papers / "long.tei.xml", "On length", body=[long])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        error = run_json("tei", papers, *NOTES, code=2)["error"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written" in error
    assert run_json("status")["papers"] == 2


def test_a_real_volume_is_indexed_whole_and_once(home: Path, shared: Path) -> None:
    arguments = ("acl", "2022.acl-demo", "--anthology", shared / "data" / "acl_anthology")
    (build,) = run_json(*arguments)["builds"]
    assert (build["collection_id"], build["added"], build["passages"]) == ("2022.acl-demo", 27, 27)
    (build,) = run_json(*arguments)["builds"]
    assert (build["added"], build["unchanged"], build["passages"]) == (0, 27, 0)
    (held,) = run_json("status")["collections"]
    assert (held["id"], held["papers"], held["full_texts"]) == ("2022.acl-demo", 27, 0)
