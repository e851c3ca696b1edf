"""Kept libraries from the terminal, for who runs the server."""

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant.__main__ import app
from tests.assistant.libraries.own_documents import MARKER, brought, files_with, notes, opened, visit
from tests.indexer.build.killable_build import HashEncoder


def test_libraries_are_listed_shown_renamed_taken_away_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(home))
    uploads = visit(home, HashEncoder(tmp_path / "log"), ("notes.md", notes()))
    libraries = opened(home)
    identifier = libraries.keep("browser-x", "Reading", brought(uploads), uploads.encoder).library_id
    uploads.close()

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["libraries", *words])
        assert result.exit_code == code, result.output
        return result.output

    (listed,) = json.loads(run("list", "--json"))["libraries"]
    assert (listed["id"], listed["title"], listed["documents"]) == (identifier, "Reading", 1)
    assert json.loads(run("list", "--owner", "another", "--json")) == {"libraries": []}
    assert f"On {MARKER} pages (notes.md)" in run("show", identifier)
    run("rename", identifier, "Read")
    assert "Read" in run("list")
    run("export", identifier, str(tmp_path / "out.zip"))
    assert "documents/001-notes.md" in zipfile.ZipFile(tmp_path / "out.zip").namelist()
    gone = json.loads(run("delete", identifier, "--json"))
    assert gone == {"deleted": identifier, "documents": 1, "conversations": [], "comparisons": []}
    assert files_with(home) == []
    assert "has been deleted" in run("delete", identifier, code=2)
    libraries.store.close()
