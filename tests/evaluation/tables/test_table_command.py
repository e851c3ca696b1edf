"""The `table` command: lists, one table, all of them, and the page that is written of these."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpus.settings import Settings
from evaluation.tables import commands
from evaluation.tables.commands import TABLES
from evaluation.tables.harness import (
    Missing,
    PlannedRows,
    Row,
    RowPlan,
    SeedTable,
    TableOptions,
    TableResult,
)
from tests.evaluation.commands import invoke


def plan(asked: TableOptions) -> PlannedRows:
    for model in ("ours", *asked.models):
        yield RowPlan(model, {"limit": asked.limit}, lambda model=model: Row(model, {"share": 1 / 3}))
    if not asked.judge:
        yield Missing("marks", "name a judge with --judge.")


ALL = tuple(TABLES.values())
# A path that is part of no address and follows no placeholder such as DATA/.
_FOLDER_OF_ONE_MACHINE = re.compile(r"(?<![\w:/.~\\-])(?:\.\.)?/\w[\w.-]{0,100}/")
TABLE = SeedTable(
    name="made-up", seed="TruthReader", number="Table 0", title="shares", columns={"share": 3}, plan=plan
)


@pytest.fixture(autouse=True)
def _one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evaluation.tables.commands.TABLES", {"made-up": TABLE})
    monkeypatch.setattr(commands, "PAGE", tmp_path / "results.md")


def run(tmp_path: Path, *arguments: str, code: int = 0) -> Any:
    result = invoke("table", *arguments, "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert result.exit_code == code, result.output
    return result


def told(result: Any) -> Any:
    return json.loads(result.stdout.splitlines()[-1])


def test_a_table_has_its_rows_what_is_missing_and_the_command_without_our_folders(tmp_path: Path) -> None:
    result = run(tmp_path, "made-up", "--model", "a model", "--limit", "5")
    assert [row["system"] for row in told(result)["measured"]] == ["ours", "a model"]
    command = "paper-trail eval table made-up --data DATA --model 'a model' --limit 5"
    assert told(result)["command"] == command
    assert "0.333" in result.stdout
    assert "Missing: marks: name a judge with --judge." in " ".join(result.stdout.split())


def test_a_page_is_written_again_of_what_it_says_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, "--all", "--update-docs")
    page = tmp_path / "results.md"
    written = page.read_text(encoding="utf-8")
    page.write_text("somebody's own words", encoding="utf-8")
    monkeypatch.setattr("evaluation.tables.commands.measure_table", None)
    assert run(tmp_path, "--update-docs").stdout == ""
    assert page.read_text(encoding="utf-8") == written


def test_folders_of_this_machine_are_named_as_readers_name_theirs(tmp_path: Path) -> None:
    data, home = tmp_path / "data", tmp_path / "homes" / "demo"
    asked = TableOptions(data, Path("out"), Settings(home=tmp_path / "own"), homes={"demo": home})
    told_as = {
        f"fetch corwa --data {data}, or put it at {data}/corwa.jsonl.":
            "fetch corwa --data DATA, or put it at DATA/corwa.jsonl.",
        f"{home}/corpus, {tmp_path / 'own' / 'corpus'} and {Path.home() / '.cache'}":
            "DEMO/corpus, HOME/corpus and ~/.cache",
        "out/a is no word, but out is one.": "OUT/a is no word, but out is one.",
        f"{tmp_path / 'data-of-others'} at https://a.org{data}/x":
            f"{tmp_path / 'data-of-others'} at https://a.org{data}/x",
        "words " * 100: f"{'words ' * 48}words …",
    }  # fmt: skip
    missing = tuple(Missing(f"{data}/corwa", advice) for advice in told_as)
    row = Row("ours", {"share": 0.5}, note=f"kept in {Path('out').absolute()}", date="2026-11-23")
    shown = commands.for_readers(TableResult(TABLE, "c", (), (row,), missing, ()), asked)
    assert [gap.what for gap in shown.missing] == ["DATA/corwa"] * len(told_as)
    assert [gap.advice for gap in shown.missing] == list(told_as.values())
    assert shown.rows[0].note == "kept in OUT"


def changed(result: dict[str, Any], **fields: object) -> str:
    return json.dumps([{**result, **fields}])


def test_results_that_are_none_of_these_tables_are_said_to_be_none(tmp_path: Path) -> None:
    (result,) = told(run(tmp_path, "--all", "--update-docs"))
    row = result["measured"][0]
    page = (tmp_path / "results.md").read_bytes()
    broken = [
        "", "[", "{}", "null", f"{changed(result)[:-20]}", changed(result, other=1),
        changed(result, table="other"), changed(result, columns=["share", "other"]),
        changed(result, heading="TruthReader, Table 1: shares"),
        changed(result, measured=[{**row, "figures": {"other": 1.0}}]),
        changed(result, measured=[{**row, "figures": {"share": "0.5"}}]), f'{changed(result)}, "more": 1',
    ]  # fmt: skip
    for text in broken:
        (tmp_path / "results.json").write_text(text, encoding="utf-8")
        assert run(tmp_path, "--update-docs", code=2).stderr, text[:80]
    (tmp_path / "results.json").unlink()
    assert "paper-trail eval table --all --update-docs" in run(tmp_path, "--update-docs", code=2).stderr
    assert (tmp_path / "results.md").read_bytes() == page


def test_the_results_page_of_the_repository_is_what_its_figures_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody edits it by hand; where a table has changed, `table --update-docs` writes it again."""
    page = Path(commands.__file__).parents[2] / "docs" / "results.md"
    kept = page.with_suffix(".json")
    if not page.exists() and not kept.exists():
        pytest.skip("docs/results.md is not written: paper-trail eval table --all --update-docs")
    results = commands.read_results(kept, {table.name: table for table in ALL})
    assert [result.table.name for result in results] == [table.name for table in ALL]
    text = page.read_text(encoding="utf-8")
    assert text == commands.results_page(results)
    assert not _FOLDER_OF_ONE_MACHINE.findall(text)
