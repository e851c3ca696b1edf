"""The examples run as they are in the repository."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_example(root: Path, home: Path, name: str, *arguments: object) -> str:
    """Run an example with a corpus in `home` and return its output."""
    done = subprocess.run(
        [sys.executable, str(root / "examples" / name), *map(str, arguments)],
        env={**os.environ, "PAPER_TRAIL_HOME": str(home), "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_folder_is_indexed_and_asked(root: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "bats.md").write_text("# On Bats\n\n## Sleep\n\nBats sleep by day and hunt moths at night.\n")
    (papers / "broken.pdf").write_bytes(b"no PDF")
    printed = run_example(root, tmp_path / "home", "index_and_ask.py", papers, "When do bats sleep?")
    assert "1 papers added, 0 unchanged, 1 failed\n  broken.pdf: " in printed
    assert "Bats sleep by day and hunt moths at night [1]." in printed
    assert "[1] On Bats" in printed


def test_papers_are_compared_and_exported(root: Path, demo_home: Path, tmp_path: Path) -> None:
    papers = ("field-notes-retrieval/bm25", "field-notes-retrieval/rank-fusion")
    about = "How lexical and dense retrieval can be combined"
    printed = run_example(root, demo_home, "compare_and_export.py", tmp_path, about, *papers)
    assert "Planned\nExtracted\n" in printed
    assert "Rank Fusion" in (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert (tmp_path / "comparison.bib").read_text(encoding="utf-8").count("@") == 2


def test_the_notebook_runs(root: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    notebook = json.loads((root / "examples" / "explore.ipynb").read_text(encoding="utf-8"))
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in notebook["cells"])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec("\n".join("".join(source) for source in code), {})  # our own file
    assert "ColBERTv2" in printed.getvalue()
    assert "support 0." in printed.getvalue()
