"""What is measured of corpora as they grow, on a few synthetic passages."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.store import passage_index
from evaluation.__main__ import app
from evaluation.bench import growth


@pytest.mark.long
def test_the_bench_measures_corpora_of_several_sizes() -> None:
    done = CliRunner().invoke(app, ["bench", "--search-rows", "205"])
    assert done.exit_code == 0, done.output
    assert "Ten papers more published" in done.stdout
    figures = json.loads(done.stdout.splitlines()[-1])[0]
    assert figures["passages"] == 205
    assert 0.98 <= figures["recall"] <= figures["filtered_recall"] == 1
    assert 0 < figures["search_ms_p50"] <= figures["search_ms_p95"]
    assert figures["publication_seconds"] > 0 and figures["mb"] > 0
    assert figures["memory_mib"] > 100
    assert figures["loading_seconds"] > 0


def test_recall_is_of_what_is_near_in_signs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(passage_index, "_COMPARED_PER_FOUND", 1)
    monkeypatch.setattr(growth, "QUERIES", 10)
    growth.write(tmp_path, 1205)
    assert 0.5 < growth.read(tmp_path)["recall"] < 0.95
