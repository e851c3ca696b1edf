"""Tables measured row by row: what is kept, what is measured again, and what failure costs."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from corpus.settings import Settings
from evaluation.input_files import EvaluationError
from evaluation.tables import harness
from evaluation.tables.commands import TABLES
from evaluation.tables.harness import (
    Missing,
    PlannedRows,
    Row,
    RowPlan,
    SeedTable,
    TableOptions,
    markdown_table,
    measure_table,
)
from evaluation.tables.sources import MissingError, data_sets


class Measurements:
    """Counts how often each system was measured; `faults` are raised instead."""

    def __init__(self, **faults: BaseException) -> None:
        self.made: list[str] = []
        self.faults = faults

    def of(self, system: str) -> Callable[[], Row]:
        def measure() -> Row:
            self.made.append(system)
            if fault := self.faults.get(system):
                raise fault
            return Row(system, {"figure": float(len(self.made))}, {"figure": 0.5}, note="of one")

        return measure


def table_of(
    measurements: Measurements, *systems: str, inputs: Mapping[str, object] | None = None
) -> SeedTable:
    def plan(asked: TableOptions) -> PlannedRows:
        yield Missing("a model", "name one")
        for system in systems:
            yield RowPlan(system, inputs or {}, measurements.of(system))

    return SeedTable(
        name="made-up", seed="ChatCite", number="Table 0", title="made up", columns={"figure": 2}, plan=plan
    )


@pytest.fixture
def asked(tmp_path: Path) -> TableOptions:
    return TableOptions(data=tmp_path / "data", out=tmp_path / "out", settings=Settings(home=tmp_path))


def measured(table: SeedTable, asked: TableOptions) -> dict[str, float]:
    result = measure_table(table, asked, "paper-trail eval table made-up")
    return {row.system: row.figures["figure"] for row in result.rows}


def test_a_row_is_measured_again_where_what_it_depends_on_has_changed(
    asked: TableOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Measurements()
    file = tmp_path / "set.jsonl"
    for content in ("one", "two", "one"):
        file.write_text(content, encoding="utf-8")
        measured(table_of(made, "a", inputs={"file": file, "limit": None}), asked)
    assert len(made.made) == 2
    measured(table_of(made, "a", inputs={"file": file, "limit": 3}), asked)
    assert len(made.made) == 3
    monkeypatch.setattr(harness, "code_hash", lambda _: "other code")
    measured(table_of(made, "a", inputs={"file": file, "limit": 3}), asked)
    assert len(made.made) == 4


def test_what_fails_costs_its_row_and_is_named(asked: TableOptions) -> None:
    made = Measurements(b=EvaluationError("The file is torn."), c=MissingError("SciDocs", "fetch it"))
    result = measure_table(table_of(made, "a", "b", "c", "d"), asked, "command")
    assert [row.system for row in result.rows] == ["a", "d"]
    assert [(gap.what, gap.advice) for gap in result.missing] == [
        ("a model", "name one"),
        ("b", "The file is torn."),
        ("c, SciDocs", "fetch it"),
    ]


@pytest.mark.parametrize("torn", ["", "{", '{"row": 1}', "null", "\xff"])
def test_a_kept_row_that_is_torn_is_measured_again(asked: TableOptions, torn: str) -> None:
    made = Measurements()
    measured(table_of(made, "a"), asked)
    (kept,) = (asked.out / "made-up").iterdir()
    kept.write_bytes(torn.encode("latin-1"))
    measured(table_of(made, "a"), asked)
    assert made.made == ["a", "a"]


def test_a_table_says_in_markdown_what_belongs_to_it(asked: TableOptions) -> None:
    hostile = "a \\| b <script>\n# heading ![x](https://example.org/x.png) `"
    table = table_of(Measurements(), hostile).model_copy(update={"remarks": ("Ours is of another set.",)})
    text = markdown_table(measure_table(table, asked, "paper-trail eval table made-up"))
    (row,) = (line for line in text.splitlines() if line.startswith("| Ours |"))
    assert row == (
        "| Ours | a \\\\\\| b \\<script\\> \\# heading"
        " \\!\\[x\\](https\\://example.org/x.png) \\` | 1.00 ± 0.50 |"
    )
    assert MarkdownIt("commonmark").enable("table").render(text).count("<td") == 3
    assert "`paper-trail eval table made-up`" in text
    assert "- Ours is of another set." in text
    assert "- Missing: a model: name one" in text
    assert not any(line.startswith("#") for line in text.splitlines())


def test_tables_have_their_entries_and_printed_figures_their_columns() -> None:
    assert tomllib.loads(harness.ENTRIES.read_text(encoding="utf-8")).keys() == TABLES.keys()
    for name, table in TABLES.items():
        assert table.name == name and table.columns
        assert set(table.sets) <= data_sets().keys()
        for row in table.rows:
            assert row.figures.keys() <= table.columns.keys(), (name, row.system)
