"""Fixtures of the tests of commands."""

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
