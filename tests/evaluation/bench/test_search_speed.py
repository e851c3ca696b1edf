"""The measurement of search speed on a few synthetic passages."""

import json

import pytest
from typer.testing import CliRunner

from corpus.store import tables
from evaluation.__main__ import app
from evaluation.bench import search as search_speed


@pytest.mark.parametrize(("index_from", "recall"), [(10_000, 1.0), (1000, 0.95)])
def test_the_bench_measures_search_alone(
    monkeypatch: pytest.MonkeyPatch, index_from: int, recall: float
) -> None:
    monkeypatch.setattr(tables, "INDEX_VECTORS_FROM", index_from)
    monkeypatch.setattr(search_speed, "QUERIES", 10)
    done = CliRunner().invoke(app, ["bench", "--search-rows", "1205"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["search_rows"] == 1205
    assert recall <= figures["search_recall"] <= 1
    assert recall <= figures["search_filtered_recall"] <= 1
    assert 0 < figures["search_rows_ms_p50"] <= figures["search_rows_ms_p95"]
    assert 0 < figures["search_filtered_ms_p50"] <= figures["search_filtered_ms_p95"]
