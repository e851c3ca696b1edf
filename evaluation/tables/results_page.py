"""docs/results.md, written from measured tables: every figure with its command, date and machine."""

import json
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from corpus.durable import replace_durably
from evaluation.input_files import EvaluationError
from evaluation.tables.records import Asked, Measured, Missing, Row, TableResult
from evaluation.tables.registry import table_named
from evaluation.tables.report import markdown_table

_ROOT = Path(__file__).parents[2]
PAGE = _ROOT / "docs" / "results.md"
# What to do about a row that is missing is advice, not a manual; the command itself says all of it.
LONGEST_ADVICE = 300
LARGEST = 4 * 1024 * 1024
_AGAIN = "Measure them: paper-trail eval table --all --update-docs"

_HEAD = """# Results

Every table of the three papers, with what Paper Trail reaches beside what they print. This page is written
by `paper-trail eval table --all --update-docs`; do not edit it. “Ours” was measured by the command under
each table; a printed figure is the paper's own, of its data and its models. What is missing is said, with
what to do about it. DATA is the folder of the data sets. Quality does not depend on the machine; times do.
"""


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _ToldRow(_Told):
    system: str
    figures: dict[str, float]
    deviations: dict[str, float] = {}
    note: str = ""

    def row(self) -> Row:
        return Row(self.system, self.figures, self.deviations, self.note)


class _ToldMeasured(_ToldRow):
    date: str
    seconds: float
    machine: str


class _ToldMissing(_Told):
    what: str
    advice: str


class _ToldTable(_Told):
    """What `TableResult.to_json` says."""

    table: str
    heading: str
    command: str
    columns: tuple[str, ...]
    printed: tuple[_ToldRow, ...]
    measured: tuple[_ToldMeasured, ...]
    missing: tuple[_ToldMissing, ...]
    stand_ins: tuple[str, ...]


class _ToldResults(_Told):
    tables: tuple[_ToldTable, ...]


def results_page(results: Sequence[TableResult]) -> str:
    """Return the page: a section for each table."""
    sections = [f"## {result.table.heading}\n\n{markdown_table(result)}" for result in results]
    return "\n\n".join([_HEAD.strip(), *sections]) + "\n"


def write_results(results: Sequence[TableResult], asked: Asked) -> None:
    """Write the page, and the same as JSON beside it for programs; raises EvaluationError.

    Folders of this machine are called what readers call theirs.
    """
    shown = [for_readers(result, asked) for result in results]
    told = json.dumps([result.to_json() for result in shown], indent=1, ensure_ascii=False)
    for path, text in ((PAGE, results_page(shown)), (PAGE.with_suffix(".json"), f"{told}\n")):
        try:
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            temporary.write_text(text, encoding="utf-8")
            replace_durably(temporary, path)
        except OSError as error:
            raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error


def rewrite_results(asked: Asked) -> None:
    """Write the page again from the JSON beside it, measuring nothing; raises EvaluationError."""
    write_results(read_results(PAGE.with_suffix(".json")), asked)


def read_results(path: Path) -> tuple[TableResult, ...]:
    """Return the tables that were written; raises EvaluationError where the file holds something else."""
    try:
        if path.stat().st_size > LARGEST:
            raise EvaluationError(f"{path} is too large to hold results.")
        told = _ToldResults.model_validate_json(b'{"tables": %b}' % path.read_bytes())
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. {_AGAIN}") from error
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise EvaluationError(f"{path} does not hold results ({where}). {_AGAIN}") from None
    return tuple(_result(table, path) for table in told.tables)


def _result(told: _ToldTable, path: Path) -> TableResult:
    table = table_named(told.table)
    columns = tuple(column.name for column in table.columns)
    if (told.heading, told.columns) != (table.heading, columns):
        raise EvaluationError(f"{path} has another table {told.table!r} than there is now. {_AGAIN}")
    known = {figure for row in (*told.printed, *told.measured) for figure in row.figures}
    if not known <= set(columns):
        raise EvaluationError(f"{path} has figures in {told.table!r} that are in none of its columns.")
    return TableResult(
        table,
        told.command,
        tuple(row.row() for row in told.printed),
        tuple(Measured(row.row(), row.date, row.seconds, row.machine) for row in told.measured),
        tuple(Missing(one.what, one.advice) for one in told.missing),
        told.stand_ins,
    )


def for_readers(result: TableResult, asked: Asked) -> TableResult:
    """Return a result as it is published: short advice, and no folder that only this machine has."""
    names = _names_of_folders(asked)
    return replace(
        result,
        rows=tuple(
            replace(one, row=replace(one.row, note=_with_names(one.row.note, names))) for one in result.rows
        ),
        missing=tuple(
            Missing(_with_names(one.what, names), _shortened(_with_names(one.advice, names)))
            for one in result.missing
        ),
    )


def _shortened(advice: str) -> str:
    return textwrap.shorten(advice, LONGEST_ADVICE, placeholder=" …")


def _names_of_folders(asked: Asked) -> Mapping[str, str]:
    """Return what readers call the folders of this run, by all paths that these may be told by."""
    named = [
        (asked.data, "DATA"),
        (asked.out, "OUT"),
        *((folder, name.upper()) for name, folder in asked.homes.items()),
        (asked.settings.home, "HOME"),
        (_ROOT, "."),
        (Path.home(), "~"),
    ]
    found: dict[str, str] = {}
    for folder, name in named:
        for path in (folder, folder.absolute(), folder.resolve()):
            # A root, or the folder that commands are run in, would be found in every path.
            if path.parts[1:] or not path.is_absolute():
                found.setdefault(str(path), name)
    found.pop(".", None)
    return found


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with other names for folders, the longest path first."""
    for path in sorted(names, key=len, reverse=True):
        text = names[path].join(_as_folder(path).split(text))
    return text


def _as_folder(path: str) -> re.Pattern[str]:
    # A name without a slash may be a word of the text, unless something lies in it.
    ends = r"(?![\w-])" if "/" in path else r"(?=/)"
    return re.compile(rf"(?<![\w./~-]){re.escape(path)}{ends}")
