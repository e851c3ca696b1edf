"""The command that measures the papers' tables, and the tables there are."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import typer

from corpus.settings import read_settings
from evaluation.harness import Report, command, console, table
from evaluation.input_files import EvaluationError, named_folders
from evaluation.tables import chatcite, encoders, instructions, results_page, summaries, systems
from evaluation.tables.harness import Asked, SeedTable, markdown_table, measure_table, shown_table
from evaluation.tables.sources import not_here

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
        named_folders(home or ()),
        limit,
        repeat,
    )
    if update_docs and not every:
        page = results_page.PAGE.with_suffix(".json")
        results_page.write_results(results_page.read_results(page, TABLES), asked)
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
        results_page.write_results(results, asked)
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
