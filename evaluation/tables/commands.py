"""The command that measures the papers' tables, the tables there are, and the page written of them."""

import json
import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter

from corpus.settings import PROJECT, read_settings
from evaluation.harness import Report, command, console, table
from evaluation.input_files import EvaluationError, parse_named_folders
from evaluation.reply_cache import keep_file
from evaluation.tables import chatcite, encoders, instructions, summaries, systems
from evaluation.tables.harness import (
    Asked,
    Missing,
    Row,
    SeedTable,
    TableResult,
    markdown_table,
    measure_table,
    shown_table,
)
from evaluation.tables.sources import not_here

PAGE = PROJECT / "docs" / "results.md"
LONGEST_ADVICE = 300
_ROWS = TypeAdapter(tuple[Row, ...])
_AGAIN = "Measure them: paper-trail eval table --all --update-docs"

_HEAD = """# Results

Every table of the three papers, with Paper Trail's figures beside the printed ones. This page is written by
`paper-trail eval table --all --update-docs`; do not edit it. “Ours” is measured by the command under each
table; a printed figure is the paper's own, on its data and with its models. A missing figure is marked, with
the data or command that it needs. DATA is the folder of the data sets. Quality does not depend on the
machine; times do.
"""


def results_page(results: Sequence[TableResult]) -> str:
    """Return the page: a section for each table."""
    sections = [f"## {result.table.heading}\n\n{markdown_table(result)}" for result in results]
    return "\n\n".join([_HEAD.strip(), *sections]) + "\n"


def write_results(results: Sequence[TableResult], asked: Asked) -> None:
    """Write the page and its JSON, with readers' names for folders; raises EvaluationError."""
    shown = [for_readers(result, asked) for result in results]
    told = json.dumps([result.to_json() for result in shown], indent=1, ensure_ascii=False)
    for path, text in ((PAGE, results_page(shown)), (PAGE.with_suffix(".json"), f"{told}\n")):
        keep_file(path, text)


def read_results(path: Path, tables: Mapping[str, SeedTable]) -> list[TableResult]:
    """Return the tables that were written; raises EvaluationError where the file holds something else."""
    try:
        written = json.loads(path.read_bytes())
        results = [_result(table, tables[table["table"]]) for table in written]
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. {_AGAIN}") from error
    except (LookupError, TypeError, ValueError):
        results, written = [], None
    if [result.to_json() for result in results] != written:
        raise EvaluationError(f"{path} does not hold results of the tables that there are now. {_AGAIN}")
    return results


def _result(written: dict[str, Any], seed: SeedTable) -> TableResult:
    printed, measured = (_ROWS.validate_python(written[name]) for name in ("printed", "measured"))
    if not all(row.figures.keys() <= seed.columns.keys() for row in (*printed, *measured)):
        raise ValueError("figures in no column")
    missing = tuple(Missing(**gap) for gap in written["missing"])
    return TableResult(seed, written["command"], printed, measured, missing, tuple(written["stand_ins"]))


def for_readers(result: TableResult, asked: Asked) -> TableResult:
    """Return a result as it is published: short advice, and no folder of this machine."""
    names = _names_of_folders(asked)

    def advice(text: str) -> str:
        return textwrap.shorten(_with_names(text, names), LONGEST_ADVICE, placeholder=" …")

    return replace(
        result,
        rows=tuple(replace(row, note=_with_names(row.note, names)) for row in result.rows),
        missing=tuple(Missing(_with_names(gap.what, names), advice(gap.advice)) for gap in result.missing),
    )


def _names_of_folders(asked: Asked) -> Mapping[str, str]:
    """Return readers' names of the folders of this run, by all their paths."""
    named = [
        (asked.data, "DATA"),
        (asked.out, "OUT"),
        *((folder, name.upper()) for name, folder in asked.homes.items()),
        (asked.settings.home, "HOME"),
        (PROJECT, "."),
        (Path.home(), "~"),
    ]
    found: dict[str, str] = {}
    for folder, name in named:
        for path in (folder, folder.absolute(), folder.resolve()):
            # A root, or the current folder, would be found in every path.
            if path.parts[1:] or not path.is_absolute():
                found.setdefault(str(path), name)
    found.pop(".", None)
    return found


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with other names for folders, the longest path first."""
    for path in sorted(names, key=len, reverse=True):
        # A name without a slash may be a word of the text, unless something lies in it.
        ends = r"(?![\w-])" if "/" in path else r"(?=/)"
        text = names[path].join(re.split(rf"(?<![\w./~-]){re.escape(path)}{ends}", text))
    return text


TABLES: Mapping[str, SeedTable] = {
    seed.name: seed
    for seed in (
        *(encoders.TABLE, encoders.OTHERS, summaries.TABLE, instructions.TABLE),
        *(systems.SYSTEM, systems.ANSWERS, systems.HISTORIES_TABLE, systems.ROBUSTNESS),
        *(chatcite.RESULTS, chatcite.ABLATIONS),
    )
}


@command("table")
def measure_tables(
    name: str = "",
    *,
    data: Path = Path("evaluation-data"),
    out_folder: Path = Path("evaluation-results"),
    model: list[str] | None = None,
    judge: str = "",
    encoder: list[str] | None = None,
    home: list[str] | None = None,
    limit: int | None = None,
    repeat: int = 1,
    list_all: bool = False,
    every: bool = False,
    update_docs: bool = False,
    markdown: bool = False,
    as_json: bool = False,
) -> Report | None:
    if list_all:
        missing = {seed.name: not_here(seed.sets, data) for seed in TABLES.values()}
        rows = [(seed.name, seed.heading, ", ".join(missing[seed.name]) or "-") for seed in TABLES.values()]
        return Report(missing, [table(("Name", "Table", "Not here"), rows, left=3)])
    if update_docs and (name or limit):
        raise EvaluationError("--update-docs goes with --all and without --limit.")
    if every == bool(name) and not update_docs:
        raise EvaluationError("Name one table, or give --all or --list.")
    if name and name not in TABLES:
        raise EvaluationError(f"There is no table {name!r}. There are: {', '.join(TABLES)}.")
    asked = Asked(
        data,
        out_folder,
        read_settings(),
        tuple(model or ()),
        judge,
        tuple(encoder or ()),
        parse_named_folders(home or ()),
        limit,
        repeat,
    )
    if update_docs and not every:
        write_results(read_results(PAGE.with_suffix(".json"), TABLES), asked)
        return None
    chosen = TABLES.values() if every else [TABLES[name]]
    results = []
    for seed in chosen:
        results.append(measure_table(seed, asked, _command(seed, asked)))
        if markdown:
            typer.echo(f"{markdown_table(results[-1])}\n")
        elif not as_json:
            console.print(shown_table(results[-1]))
    if update_docs:
        write_results(results, asked)
    told = [result.to_json() for result in results]
    return Report(told if every else told[0])


def _command(seed: SeedTable, asked: Asked) -> str:
    """Return the command that measures one table, with names for its folders."""
    options = [
        *(("--model", model) for model in asked.models),
        *([("--judge", asked.judge)] if asked.judge else []),
        *(("--encoder", encoder) for encoder in asked.encoders),
        *(("--home", f"{home}={home.upper()}") for home in asked.homes if seed.asks_corpora),
        *([] if asked.limit is None else [("--limit", str(asked.limit))]),
        *([("--repeat", str(asked.repeat))] if asked.repeat > 1 else []),
    ]
    given = (word for option in options for word in option)
    return shlex.join(["paper-trail", "eval", "table", seed.name, "--data", "DATA", *given])
