"""Tables measured row by row: what is kept, what is measured again, and what failure costs."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from pydantic import ValidationError

from corpus.settings import Settings
from evaluation.input_files import EvaluationError
from evaluation.tables import harness, sources
from evaluation.tables.commands import TABLES
from evaluation.tables.harness import (
    Asked, Column, Missing, Planned, Row, RowPlan, SeedTable, markdown_table, measure_table, printed_rows
)
from evaluation.tables.sources import DataSet, MissingError, data_sets, find
from tests.demo_home import PROJECT


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
    def plan(asked: Asked) -> Planned:
        yield Missing("a model", "name one")
        for system in systems:
            yield RowPlan(system, inputs or {}, measurements.of(system))

    return SeedTable("made-up", "ChatCite, Table 0: what is made up", (Column("figure", 2),), plan)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(data=tmp_path / "data", out=tmp_path / "out", settings=Settings(home=tmp_path))


def measured(table: SeedTable, asked: Asked) -> dict[str, float]:
    result = measure_table(table, asked, "paper-trail eval table made-up")
    return {one.row.system: one.row.figures["figure"] for one in result.rows}


def test_a_row_is_measured_once(asked: Asked) -> None:
    made = Measurements()
    first = measured(table_of(made, "a", "b"), asked)
    assert measured(table_of(made, "a", "b"), asked) == first == {"a": 1.0, "b": 2.0}
    assert made.made == ["a", "b"]


def test_a_row_is_measured_again_where_what_it_depends_on_has_changed(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_a_table_depends_on_the_code_that_it_names_and_on_where_tables_are() -> None:
    root = Path(harness.__file__).parents[2]
    for table in TABLES.values():
        assert table.code and all((root / part).exists() for part in table.code), table.name
    hashes = {harness.code_hash(parts) for parts in [("corpus",), ("corpus/text.py",), ("corpus", "indexer")]}
    assert len(hashes) == 3


def test_a_folder_is_told_apart_by_what_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    seen = {sources.content_hash(folder)}
    for name, text in (("a", ""), ("qrels/a", ""), ("a", "b"), ("b", "b")):
        (folder / name).write_text(text, encoding="utf-8")
        seen.add(sources.content_hash(folder))
    assert len(seen) == 5


def test_what_fails_costs_its_row_and_is_named(asked: Asked) -> None:
    made = Measurements(b=EvaluationError("The file is torn."), c=MissingError("SciDocs", "fetch it"))
    result = measure_table(table_of(made, "a", "b", "c", "d"), asked, "command")
    assert [one.row.system for one in result.rows] == ["a", "d"]
    assert [(one.what, one.advice) for one in result.missing] == [
        ("a model", "name one"),
        ("b", "The file is torn."),
        ("c, SciDocs", "fetch it"),
    ]


def test_after_a_kill_what_was_measured_is_there(asked: Asked) -> None:
    with pytest.raises(KeyboardInterrupt):
        measured(table_of(Measurements(b=KeyboardInterrupt()), "a", "b"), asked)
    made = Measurements()
    assert measured(table_of(made, "a", "b"), asked).keys() == {"a", "b"}
    assert made.made == ["b"]


@pytest.mark.parametrize("torn", ["", "{", '{"row": 1}', "null", "\xff"])
def test_a_kept_row_that_is_torn_is_measured_again(asked: Asked, torn: str) -> None:
    made = Measurements()
    measured(table_of(made, "a"), asked)
    (kept,) = (asked.out / "made-up").iterdir()
    kept.write_bytes(torn.encode("latin-1"))
    measured(table_of(made, "a"), asked)
    assert made.made == ["a", "a"]


def test_a_row_that_cannot_be_kept_is_shown_all_the_same(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    made = Measurements()
    measured(table_of(made, "a"), asked)
    (kept,) = (asked.out / "made-up").iterdir()
    kept.unlink()
    kept.mkdir()
    result = measure_table(table_of(made, "a", "b"), asked, "command")
    assert [one.row.system for one in result.rows] == ["a", "b"]
    assert f"{kept} cannot be written: " in capsys.readouterr().err


def test_a_row_on_the_way_to_which_something_failed_is_not_kept(asked: Asked) -> None:
    made: list[Row] = []

    def measure() -> Row:
        made.append(Row("a", {"figure": float(len(made))}, is_whole=bool(made)))
        return made[-1]

    def plan(asked: Asked) -> Planned:
        yield RowPlan("a", {}, measure)

    table = replace(table_of(Measurements()), plan=plan)
    assert [measured(table, asked)["a"] for _ in range(3)] == [0, 1, 1]


# A table of ten rows, each of which says that it was begun; the fourth may take forever.
PROGRAM = """
import sys, time
from pathlib import Path
from corpus.settings import Settings
from evaluation.tables.harness import Asked, Column, Row, RowPlan, SeedTable, measure_table

def measured(number):
    print(number, flush=True)
    time.sleep(300 if number == 3 and "hang" in sys.argv else 0.02)
    return Row(str(number), {"figure": float(number)})

def plan(asked):
    for number in range(10):
        yield RowPlan(str(number), {}, lambda number=number: measured(number))

code = ("corpus/text.py",)
table = SeedTable("made-up", "t", (Column("figure"),), plan, code=code)
asked = Asked(Path("data"), Path(sys.argv[1]), Settings())
result = measure_table(table, asked, "command")
assert [one.row.figures["figure"] for one in result.rows] == list(range(10))
"""


def running(out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(out), *more]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    with running(tmp_path, "hang") as killed:
        assert killed.stdout is not None
        begun = [killed.stdout.readline() for _ in range(4)]
        killed.kill()
    assert begun == ["0\n", "1\n", "2\n", "3\n"]
    with running(tmp_path) as second:
        assert second.communicate(timeout=120)[0].split() == [str(number) for number in range(3, 10)]
    assert second.returncode == 0


@pytest.mark.long
def test_two_runs_at_once_leave_whole_rows_and_nothing_else(tmp_path: Path) -> None:
    with running(tmp_path) as one, running(tmp_path) as other:
        for run in (one, other):
            run.communicate(timeout=120)
    assert (one.returncode, other.returncode) == (0, 0)
    kept = list((tmp_path / "made-up").iterdir())
    assert len(kept) == 10 and {path.suffix for path in kept} == {".json"}
    assert all(json.loads(path.read_text(encoding="utf-8"))["row"]["system"].isdigit() for path in kept)


def test_nowhere_to_keep_rows_is_said(asked: Asked) -> None:
    asked.out.write_text("a file", encoding="utf-8")
    with pytest.raises(EvaluationError, match="cannot be made"):
        measured(table_of(Measurements(), "a"), asked)


def test_a_table_says_in_markdown_what_belongs_to_it(asked: Asked) -> None:
    hostile = "a \\| b <script>\n# heading ![x](https://example.org/x.png) `"
    table = replace(table_of(Measurements(), hostile), remarks=("Ours is of another set.",))
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


def test_every_printed_figure_has_its_column() -> None:
    for name, table in TABLES.items():
        columns = {column.name for column in table.columns}
        for row in printed_rows(name):
            assert row.figures.keys() <= columns, (name, row.system)
    assert tomllib.loads(harness.ENTRIES.read_text(encoding="utf-8")).keys() == TABLES.keys()


def test_every_table_is_of_known_sets_and_has_its_own_name() -> None:
    for name, table in TABLES.items():
        assert table.name == name
        assert set(table.sets) <= data_sets().keys()
        assert table.columns and len({column.name for column in table.columns}) == len(table.columns)


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b"])
def test_data_sets_lie_below_the_data_folder(path: str) -> None:
    known = {"title": "A", "licence": "MIT", "address": "https://example.org"}
    with pytest.raises(ValidationError, match="not below the data folder"):
        DataSet.model_validate({**known, "forms": [{"path": path}]})


@pytest.mark.parametrize(
    "change",
    [
        {"license": "MIT"},
        {"forms": [{"path": "a", "file": ["b"]}]},
        {"forms": [{"path": "a", "files": ["../b"]}]},
        {"forms": [{"path": "a", "files": ["/etc/passwd"]}]},
        {"hub": [{"repository": "a/b", "path": "c", "to": "../c"}]},
        {"hub": [{"repository": "a/b", "path": "c", "to": "c", "sha256": "abc"}]},
        {"hub": [{"repository": "a/b", "path": "c"}]},
        {"title": 1},
    ],
)
def test_what_is_said_of_a_data_set_is_read_strictly(change: dict[str, object]) -> None:
    known = {"title": "A", "licence": "MIT", "address": "https://example.org"}
    assert DataSet.model_validate(known).title == "A"
    with pytest.raises(ValidationError):
        DataSet.model_validate({**known, **change})


@pytest.mark.parametrize(
    "row",
    [
        'system = "a", figures = { figure = "1" }',
        'system = "a", figures = { figure = 1 }, remark = "x"',
        "figures = { figure = 1 }",
    ],
)
def test_printed_rows_are_read_strictly(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "printed.toml"
    file.write_text(f"[made-up]\nseed = 'ChatCite'\nnumber = '0'\ntitle = 't'\ncolumns = {{}}\nrows = [{{ {row} }}]\n", encoding="utf-8")
    monkeypatch.setattr(harness, "ENTRIES", file)
    monkeypatch.setattr(harness, "_entries", harness._entries.__wrapped__)
    with pytest.raises(ValidationError):
        printed_rows("made-up")


def test_a_set_that_is_not_there_is_said_with_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(MissingError) as raised:
        find("corwa", tmp_path)
    assert str(tmp_path / "related_work" / "corwa.jsonl") in raised.value.advice
    assert "ODC-By" in raised.value.advice


def test_a_table_without_its_sets_says_so_and_measures_nothing(asked: Asked) -> None:
    result = measure_table(TABLES["chatcite-summaries"], asked, "command")
    assert result.rows == ()
    assert any("CORWA" in note for note in result.notes)
    assert json.loads(json.dumps(result.to_json()))["measured"] == []
