"""The command that measures the papers' tables, the list of these tables, and the page of results."""

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
from evaluation.reply_cache import write_whole
from evaluation.tables import chatcite, encoders, instructions, summaries, system_answers, truthreader
from evaluation.tables.harness import (
    Missing,
    Row,
    SeedTable,
    TableOptions,
    TableResult,
    markdown_table,
    measure_table,
    terminal_table,
)
from evaluation.tables.sources import missing_titles

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
    """Return the page of results in Markdown, a section for each table."""
    sections = [f"## {result.table.heading}\n\n{markdown_table(result)}" for result in results]
    return "\n\n".join([_HEAD.strip(), *sections]) + "\n"


def write_results(results: Sequence[TableResult], options: TableOptions) -> None:
    """Write the page and its JSON, with local folders replaced by names; raises EvaluationError."""
    published = [for_readers(result, options) for result in results]
    json_text = json.dumps([result.to_json() for result in published], indent=1, ensure_ascii=False)
    for path, text in ((PAGE, results_page(published)), (PAGE.with_suffix(".json"), f"{json_text}\n")):
        try:
            write_whole(path, text)
        except OSError as error:
            raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error


def read_results(path: Path, tables: Mapping[str, SeedTable]) -> list[TableResult]:
    """Read the results of a page's JSON; raises EvaluationError if they are not of the present tables."""
    try:
        stored = json.loads(path.read_bytes())
        results = [_result(table, tables[table["table"]]) for table in stored]
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. {_AGAIN}") from error
    except (LookupError, TypeError, ValueError):
        results, stored = [], None
    if [result.to_json() for result in results] != stored:
        raise EvaluationError(f"{path} has no results of the present tables. {_AGAIN}")
    return results


def _result(stored: dict[str, Any], seed: SeedTable) -> TableResult:
    printed, measured = (_ROWS.validate_python(stored[name]) for name in ("printed", "measured"))
    if not all(row.figures.keys() <= seed.columns.keys() for row in (*printed, *measured)):
        raise ValueError("a figure has no column")
    missing = tuple(Missing(**gap) for gap in stored["missing"])
    return TableResult(seed, stored["command"], printed, measured, missing, tuple(stored["stand_ins"]))


def for_readers(result: TableResult, options: TableOptions) -> TableResult:
    """Return a result for publication: advice is shortened, local folders are replaced by names."""
    names = _folder_names(options)

    def advice(text: str) -> str:
        return textwrap.shorten(_replace_folders(text, names), LONGEST_ADVICE, placeholder=" …")

    return replace(
        result,
        rows=tuple(replace(row, note=_replace_folders(row.note, names)) for row in result.rows),
        missing=tuple(
            Missing(_replace_folders(gap.what, names), advice(gap.advice)) for gap in result.missing
        ),
    )


def _folder_names(options: TableOptions) -> Mapping[str, str]:
    """Return the published name of each folder of this run by its relative, absolute and real path."""
    folders = [
        (options.data, "DATA"),
        (options.out, "OUT"),
        *((folder, name.upper()) for name, folder in options.homes.items()),
        (options.settings.home, "HOME"),
        (PROJECT, "."),
        (Path.home(), "~"),
    ]
    names: dict[str, str] = {}
    for folder, name in folders:
        for path in (folder, folder.absolute(), folder.resolve()):
            # Without a root or the current folder, which would match in every path.
            if path.parts[1:] or not path.is_absolute():
                names.setdefault(str(path), name)
    names.pop(".", None)
    return names


def _replace_folders(text: str, names: Mapping[str, str]) -> str:
    """Replace paths of folders in a text by their names, the longest path first."""
    for path in sorted(names, key=len, reverse=True):
        # A path without a slash may be a word of the text, unless a slash follows it.
        ends = r"(?![\w-])" if "/" in path else r"(?=/)"
        text = names[path].join(re.split(rf"(?<![\w./~-]){re.escape(path)}{ends}", text))
    return text


TABLES: Mapping[str, SeedTable] = {
    seed.name: seed
    for seed in (
        *(encoders.TABLE, encoders.OTHERS, summaries.TABLE, instructions.TABLE),
        *(system_answers.SYSTEM, truthreader.ANSWERS, truthreader.HISTORIES_TABLE, truthreader.ROBUSTNESS),
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
        missing = {seed.name: missing_titles(seed.sets, data) for seed in TABLES.values()}
        rows = [(seed.name, seed.heading, ", ".join(missing[seed.name]) or "-") for seed in TABLES.values()]
        return Report(missing, [table(("Name", "Table", "Not here"), rows, left=3)])
    if update_docs and (name or limit):
        raise EvaluationError("--update-docs needs --all, without a table's name and --limit.")
    if every == bool(name) and not update_docs:
        raise EvaluationError("Name one table, or use --all or --list.")
    if name and name not in TABLES:
        raise EvaluationError(f"There is no table {name!r}. There are: {', '.join(TABLES)}.")
    options = TableOptions(
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
        write_results(read_results(PAGE.with_suffix(".json"), TABLES), options)
        return None
    chosen = TABLES.values() if every else [TABLES[name]]
    results = []
    for seed in chosen:
        results.append(measure_table(seed, options, _command(seed, options)))
        if markdown:
            typer.echo(f"{markdown_table(results[-1])}\n")
        elif not as_json:
            console.print(terminal_table(results[-1]))
    if update_docs:
        write_results(results, options)
    figures = [result.to_json() for result in results]
    return Report(figures if every else figures[0])


def _command(seed: SeedTable, options: TableOptions) -> str:
    """Return the command that measures one table, with names in place of folders."""
    arguments = [
        *(("--model", model) for model in options.models),
        *([("--judge", options.judge)] if options.judge else []),
        *(("--encoder", encoder) for encoder in options.encoders),
        *(("--home", f"{home}={home.upper()}") for home in options.homes if seed.asks_corpora),
        *([] if options.limit is None else [("--limit", str(options.limit))]),
        *([("--repeat", str(options.repeat))] if options.repeat > 1 else []),
    ]
    words = (word for argument in arguments for word in argument)
    return shlex.join(["paper-trail", "eval", "table", seed.name, "--data", "DATA", *words])
