"""The `table` command: lists, one table, all of them, and the page that is written of these."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation import tables
from evaluation.__main__ import app
from evaluation.tables import results_page
from evaluation.tables.records import Asked, Column, Missing, Planned, Row, RowPlan, Say, SeedTable


def plan(asked: Asked, say: Say) -> Planned:
    for model in ("ours", *asked.models):
        yield RowPlan(model, {"limit": asked.limit}, lambda model=model: Row(model, {"share": 1 / 3}))
    if not asked.judge:
        yield Missing("marks", "name a judge with --judge.")


ALL = tuple(tables.TABLES.values())
TABLE = SeedTable("made-up", "TruthReader", "Table 0", "shares", (Column("share", 3),), (), plan)


@pytest.fixture(autouse=True)
def _one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evaluation.tables.TABLES", {"made-up": TABLE})
    monkeypatch.setattr("evaluation.tables.registry.TABLES", {"made-up": TABLE})
    monkeypatch.setattr(results_page, "PAGE", tmp_path / "results.md")


def run(tmp_path: Path, *arguments: str, code: int = 0) -> Any:
    folders = ("--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"))
    result = CliRunner().invoke(app, ["table", *arguments, *folders])
    assert result.exit_code == code, result.output
    return result


def told(result: Any) -> Any:
    return json.loads(result.stdout.splitlines()[-1])


def test_a_table_has_its_rows_what_is_missing_and_the_command_without_our_folders(tmp_path: Path) -> None:
    result = run(tmp_path, "made-up", "--model", "a model", "--limit", "5")
    assert [row["system"] for row in told(result)["measured"]] == ["ours", "a model"]
    command = "python -m evaluation table made-up --data DATA --model 'a model' --limit 5"
    assert told(result)["command"] == command
    assert "0.333" in result.stdout
    assert "Missing: marks: name a judge with --judge." in " ".join(result.stdout.split())


def test_with_json_nothing_else_is_printed_and_with_markdown_a_table_that_can_be_pasted(
    tmp_path: Path,
) -> None:
    assert len(run(tmp_path, "made-up", "--json").stdout.splitlines()) == 1
    assert run(tmp_path, "made-up", "--markdown").stdout.startswith(
        "|  | system | share |\n| --- | --- | ---: |"
    )


def test_all_tables_are_listed_with_what_is_not_here(tmp_path: Path) -> None:
    assert told(run(tmp_path, "--list")) == {"made-up": []}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "Name one table"),
        (("made-up", "--all"), "Name one table"),
        (("other",), "There is no table 'other'. There are: made-up."),
        (("made-up", "--update-docs"), "--update-docs goes with --all"),
        (("--all", "--update-docs", "--limit", "3"), "--update-docs goes with --all"),
        (("made-up", "--home", "demo"), "NAME=FOLDER"),
    ],
)
def test_what_cannot_be_measured_is_said(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    assert complaint in run(tmp_path, *arguments, code=2).stderr


def test_the_page_is_what_was_measured_and_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    results = told(run(tmp_path, "--all", "--update-docs"))
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == results
    assert "## TruthReader, Table 0: shares" in page
    assert "`python -m evaluation table made-up --data DATA`" in page
    assert str(tmp_path) not in page


def test_the_results_page_of_the_repository_is_of_the_tables_that_there_are() -> None:
    page = Path(results_page.__file__).parents[2] / "docs" / "results.md"
    told = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert [one["table"] for one in told] == [table.name for table in ALL]
    text = page.read_text(encoding="utf-8")
    for one in told:
        assert f"## {one['heading']}" in text and f"`{one['command']}`" in text
        assert all(row["system"] in text for row in (*one["measured"], *one["printed"]))
