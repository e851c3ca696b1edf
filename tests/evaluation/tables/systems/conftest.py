"""What the tests of systems share: models of a stand-in server, and tables measured by their command."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus.store import Corpus
from evaluation.__main__ import app
from tests.evaluation.tables.systems.standin_reader import JudgedReader, write_models
from tests.standin_chat import StandinChat

Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def reader(demo_corpus: Corpus) -> JudgedReader:
    return JudgedReader(demo_corpus)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reader: JudgedReader) -> Iterator[StandinChat]:
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(write_models(tmp_path)))
    monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", "2")
    with StandinChat(default=reader.quote) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        yield server


@pytest.fixture
def measure(tmp_path: Path, demo_home: Path) -> Measure:
    """Measure a table by its command, the demonstration being the home of what is given as a name."""

    def measure(table: str, *arguments: str, home: str = "demo") -> dict[str, Any]:
        homes = ["--home", f"{home}={demo_home}"] if home else []
        given = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), *homes, *arguments]
        result = CliRunner().invoke(app, ["table", table, *given])
        assert result.exit_code == 0, result.output
        told: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
        return told

    return measure
