"""TruthReader's table of histories by its command: a row for each query and history that can differ."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from tests.evaluation.test_histories import TURNS

ENCODER = "all-MiniLM-L6-v2"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data" / "rewriting" / "mtrag_answerable.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in TURNS), encoding="utf-8")
    return tmp_path / "data"


def run(data: Path, *arguments: str) -> dict[str, Any]:
    given = ["--data", str(data), "--out", str(data.parent / "out"), *arguments]
    result = CliRunner().invoke(app, ["table", "truthreader-histories", *given])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return told


def test_rows_are_those_that_can_differ_and_have_the_figures_of_the_histories(data: Path) -> None:
    told = run(data)
    rows = {row["system"].removeprefix(f"{ENCODER}, "): row["figures"] for row in told["measured"]}
    assert list(rows) == [
        "the question alone",
        *(f"its history behind it, {kind}" for kind in ("relevant history", "irrelevant history")),
        "its history behind it, both histories",
        *(f"as we rewrite it, {kind}" for kind in ("no history", "relevant history", "irrelevant history")),
        "as we rewrite it, both histories",
    ]
    turns = str(data / "rewriting" / "mtrag_answerable.jsonl")
    alone = CliRunner().invoke(app, ["histories", "--turns", turns, "--runtime", "torch"])
    recall = json.loads(alone.stdout.splitlines()[-1])["recall"]
    wanted = {f"Recall@{depth}": 100 * recall["ours"]["both"][f"recall@{depth}"] for depth in (1, 2, 3, 4)}
    assert rows["as we rewrite it, both histories"] == pytest.approx(wanted)
    assert rows["its history behind it, relevant history"]["Recall@1"] == 100
    assert rows["its history behind it, irrelevant history"]["Recall@1"] < 100
    assert "MTRAG" in told["stand_ins"][0]
    assert told["printed"][2]["figures"] == {"Recall@1": 82.8, "Recall@4": 90.4}
    assert told["measured"][0]["note"] == "3 turns among 5 passages"


def test_a_limit_takes_the_first_turns_among_all_passages(data: Path) -> None:
    assert run(data, "--limit", "1")["measured"][0]["note"] == "1 turn among 5 passages"


def test_without_the_turns_it_says_where_they_come_from(tmp_path: Path) -> None:
    (missing,) = run(tmp_path / "nothing")["missing"]
    assert "mt-rag-benchmark" in missing["advice"]


def test_an_encoder_that_cannot_be_opened_costs_its_own_rows(data: Path) -> None:
    told = run(data, "--encoder", "no/such-encoder")
    assert len(told["measured"]) == 8
    assert {one["what"].partition(",")[0] for one in told["missing"]} == {"no/such-encoder"}
