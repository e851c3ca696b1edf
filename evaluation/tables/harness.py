"""Measures the rows of the papers' tables, stores them, and prints them beside the papers' own rows.

A `SeedTable` plans its rows, which are measured one by one. A stored row is used again if its inputs and our
code are unchanged.
"""

import hashlib
import json
import os
import platform
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from rich.table import Table

from assistant.exports.escaping import escaped
from assistant.models.protocol import ChatModel
from corpus.settings import PROJECT, Settings
from evaluation.harness import FAILURES, say, table
from evaluation.input_files import make_folder
from evaluation.reply_cache import CachedModel, ReplyCache, replies_file, write_whole
from evaluation.tables.sources import MissingError, content_hash, find_data_set

OURS, PRINTED = "Ours", "Printed"
# A table with more columns is printed transposed.
MOST_COLUMNS = 8
ENTRIES = Path(__file__).with_name("tables.toml")
# Files that can change a figure: our code and its data.
_CODE_SUFFIXES = frozenset({".py", ".toml", ".md", ".onnx", ".safetensors", ".json", ".jsonl", ".txt"})
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Row:
    """A system's figures by column, with the standard deviations of some.

    `note` says how the row differs from others. A row that is not `is_whole` is measured again by the next
    run. `date`, `seconds` and `machine` are set for measured rows.
    """

    system: str
    figures: Mapping[str, float]
    deviations: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    is_whole: bool = True
    date: str = ""
    seconds: float = 0.0
    machine: str = ""

    def to_json(self) -> dict[str, Any]:
        optional: dict[str, Any] = {"deviations": dict(self.deviations), "note": self.note}
        if self.date:
            optional |= {"date": self.date, "seconds": self.seconds, "machine": self.machine}
        filled = {name: value for name, value in optional.items() if value or name == "seconds"}
        return {"system": self.system, "figures": dict(self.figures), **filled}


@dataclass(frozen=True, slots=True)
class RowPlan:
    """A row that can be measured.

    `inputs` has everything that its figures depend on except our code; paths are compared by content.
    """

    system: str
    inputs: Mapping[str, object]
    measure: Callable[[], Row]


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a table lacks, and the advice on how to get it."""

    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The command's options: folders of data sets and results, models, judge, encoders, homes, limits.

    Experiments whose results vary are run `repeat` times.
    """

    data: Path
    out: Path
    settings: Settings
    models: tuple[str, ...] = ()
    judge: str = ""
    encoders: tuple[str, ...] = ()
    homes: Mapping[str, Path] = field(default_factory=dict)
    limit: int | None = None
    repeat: int = 1

    def cached(self, model: ChatModel, how: str = "") -> CachedModel:
        """Wrap a model so that its replies are cached in the folder of results."""
        return CachedModel(model, ReplyCache(replies_file(self.out, model.id)), how)


PlannedRows = Iterator[RowPlan | Missing]


class SeedTable(BaseModel, frozen=True, extra="forbid"):
    """A table of one of the three papers: its entry in tables.toml, and the function that plans our rows.

    `columns` maps columns to decimals and `rows` has the paper's printed rows. `sets` names data sets of
    sources.toml, `remarks` say how our measurement differs, and `code` has the files and folders that figures
    depend on. `asks_corpora` is True if it needs existing corpora. `plan` yields the rows that can be
    measured here, and what is missing for the others.
    """

    name: str
    seed: Literal["GenGO Ultra", "TruthReader", "ChatCite"]
    number: str
    title: str
    columns: dict[str, int]
    plan: Callable[[TableOptions], PlannedRows] = Field(exclude=True)
    sets: tuple[str, ...] = ()
    code: tuple[str, ...] = ("assistant", "corpus", "evaluation", "indexer")
    asks_corpora: bool = False
    remarks: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.seed}, {self.number}: {self.title}"


@dataclass(frozen=True, slots=True)
class TableResult:
    """A measured table: the printed rows, our rows, and what is missing."""

    table: SeedTable
    command: str
    printed: tuple[Row, ...]
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]
    stand_ins: tuple[str, ...]

    @property
    def labelled_rows(self) -> list[tuple[str, Row]]:
        """Our rows and the printed ones, each with its heading."""
        return [*((OURS, row) for row in self.rows), *((PRINTED, row) for row in self.printed)]

    @property
    def notes(self) -> list[str]:
        """Remarks, replaced data sets, notes on rows, and missing rows."""
        return [
            *self.table.remarks,
            *(f"Stands in: {stand_in}" for stand_in in self.stand_ins),
            *(f"{row.system}: {row.note}" for _, row in self.labelled_rows if row.note),
            *(f"Missing: {gap.what}: {gap.advice}" for gap in self.missing),
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table.name,
            "heading": self.table.heading,
            "command": self.command,
            "columns": list(self.table.columns),
            "printed": [row.to_json() for row in self.printed],
            "measured": [row.to_json() for row in self.rows],
            "missing": [asdict(gap) for gap in self.missing],
            "stand_ins": list(self.stand_ins),
        }


def seed_table(name: str, plan: Callable[[TableOptions], PlannedRows]) -> SeedTable:
    """Build a table from its entry in tables.toml and the function that plans its rows."""
    return SeedTable(name=name, plan=plan, **_entries()[name])


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads(ENTRIES.read_text(encoding="utf-8"))


def measure_table(seed: SeedTable, options: TableOptions, command: str) -> TableResult:
    """Measure all rows that can be measured here; a row that fails is listed as missing."""
    rows: list[Row] = []
    missing: list[Missing] = []
    folder = options.out / seed.name
    make_folder(folder)
    try:
        for planned in seed.plan(options):
            outcome = planned if isinstance(planned, Missing) else _measure(planned, folder, seed.code)
            (rows if isinstance(outcome, Row) else missing).append(outcome)  # type: ignore[arg-type]
    except MissingError as error:
        missing.append(Missing(error.what, error.advice))
    return TableResult(
        seed, command, seed.rows, tuple(rows), tuple(missing), tuple(_stand_ins(seed, options))
    )


def _measure(plan: RowPlan, folder: Path, code: tuple[str, ...]) -> Row | Missing:
    """Return the stored row, or measure and store it."""
    inputs = {name: _comparable(value) for name, value in plan.inputs.items()}
    key = json.dumps([plan.system, inputs, code_hash(code)], sort_keys=True)
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
    try:
        return TypeAdapter(Row).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        say(f"Measuring {plan.system}.")
    clock = time.perf_counter()
    try:
        row = plan.measure()
    except MissingError as error:
        return Missing(f"{plan.system}, {error.what}", error.advice)
    except FAILURES as error:
        return Missing(plan.system, str(error))
    measured = replace(
        row,
        date=datetime.now(UTC).date().isoformat(),
        seconds=round(time.perf_counter() - clock, 1),
        machine=f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python"
        f" {platform.python_version()}",
    )
    try:
        if row.is_whole:
            write_whole(path, json.dumps(asdict(measured)))
    except OSError as error:
        say(f"{path} cannot be written: {error.strerror}. The next run measures {row.system} again.")
    return measured


def _comparable(value: object) -> object:
    """Convert an input to JSON values that change when the input does; a path becomes its content's hash."""
    if isinstance(value, Path):
        return content_hash(value)
    if isinstance(value, Mapping):
        return {str(name): _comparable(part) for name, part in value.items()}
    return value if isinstance(value, str | int | float | None) else repr(value)


@cache
def code_hash(parts: tuple[str, ...]) -> str:
    """Return a hash of our own code in files and folders."""
    files = {
        file
        for part in parts
        for file in ((PROJECT / part).rglob("*") if (PROJECT / part).is_dir() else [PROJECT / part])
        if file.suffix in _CODE_SUFFIXES and file.name != "README.md"
    }
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(PROJECT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _stand_ins(seed: SeedTable, options: TableOptions) -> Iterator[str]:
    """Yield a description of each data set that replaces one of the paper."""
    for name in seed.sets:
        try:
            found = find_data_set(name, options.data)
        except MissingError:
            continue
        if found.form.stands_in:
            yield f"{found.data_set.title}: {found.form.stands_in}"


def once(work: Callable[[], Value]) -> Callable[[], Value]:
    """Wrap a function so that it runs at the first call; later calls return its result or raise its error."""
    outcome: Future[Value] = Future()

    def result() -> Value:
        if not outcome.done():
            try:
                outcome.set_result(work())
            except FAILURES as error:
                outcome.set_exception(error)
        return outcome.result()

    return result


def terminal_table(result: TableResult) -> Table:
    """Build a table for the terminal: our rows, a line, and the printed rows.

    It is transposed if it has more than `MOST_COLUMNS` columns.
    """
    columns = result.table.columns
    rows = [(f"{heading}: {row.system}", _cells(row, columns)) for heading, row in result.labelled_rows]
    if len(columns) > MOST_COLUMNS:
        transposed = [[column, *(cells[index] for _, cells in rows)] for index, column in enumerate(columns)]
        built = table(("", *(label for label, _ in rows)), transposed, title=result.table.heading)
    else:
        lines: list[list[str] | None] = []
        for count, part in ((len(result.rows), rows[: len(result.rows)]), (0, rows[len(result.rows) :])):
            for position, (label, cells) in enumerate(part):
                lines.append([label if position == 0 else f"  {label.partition(': ')[2]}", *cells])
            lines += [None] if count or part else []
        built = table(("System", *columns), lines, title=result.table.heading)
    built.caption = "\n".join(result.notes)
    built.caption_justify = "left"
    return built


def _cells(row: Row, columns: Mapping[str, int]) -> list[str]:
    cells = []
    for column, places in columns.items():
        figure, deviation = row.figures.get(column), row.deviations.get(column)
        text = "" if figure is None else f"{figure:.{places}f}"
        cells.append(text if deviation is None else f"{text} ± {deviation:.{places}f}")
    return cells


def markdown_table(result: TableResult) -> str:
    """Format a table with its command, dates, machines and notes as Markdown."""
    columns = result.table.columns
    rows = [
        ["", "system", *map(escaped, columns)],
        ["---", "---", *["---:"] * len(columns)],
    ]
    rows += [[heading, escaped(row.system), *_cells(row, columns)] for heading, row in result.labelled_rows]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    dates = sorted({row.date for row in result.rows})
    spanned = " and ".join(dict.fromkeys((*dates[:1], *dates[-1:])))
    command = _code(result.command)
    measured = f"{command}, {escaped(f'measured on {spanned}')}" if dates else command
    machines = sorted({escaped(row.machine) for row in result.rows})
    notes = "\n".join(f"- {escaped(note)}" for note in result.notes)
    return "\n".join([*lines, "", " · ".join([measured, *machines]), *(["", notes] if notes else [])])


def _code(text: str) -> str:
    """Format inline code, fenced by more backticks than the longest run of them in the text."""
    line = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
