"""The commands for the papers' tables: measure them, and fetch what they are measured on."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from corpus.settings import read_settings
from evaluation.commands.failures import failures_told
from evaluation.input_files import EvaluationError, named_folders

if TYPE_CHECKING:
    from evaluation import tables

DATA, OUT = Path("evaluation-data"), Path("evaluation-results")

Data = Annotated[Path, typer.Option(help="The folder of the data sets.")]


def table(
    name: Annotated[str, typer.Argument(help="The table; --list names all.")] = "",
    *,
    data: Data = DATA,
    out_folder: Annotated[Path, typer.Option("--out", help="Where what is measured is kept.")] = OUT,
    model: Annotated[
        list[str] | None, typer.Option(help="A model to measure as a writer; may be repeated.")
    ] = None,
    judge: Annotated[str, typer.Option(help="The model that judges, in tables that take one.")] = "",
    encoder: Annotated[list[str] | None, typer.Option(help="An encoder to measure; may be repeated.")] = None,
    home: Annotated[
        list[str] | None, typer.Option(help="A corpus that was built: NAME=FOLDER; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Take so many items of each set.", min=1)] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name the tables, and what is not here.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Measure every table.")] = False,
    update_docs: Annotated[
        bool,
        typer.Option("--update-docs", help="With --all: write docs/results.md; alone: of what it says."),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Measure a table of one of the three papers, with its printed rows beside ours."""
    # What measures takes seconds to import.
    from evaluation import tables  # noqa: PLC0415

    if list_all:
        missing = {one: tables.not_here(it.sets, data) for one, it in tables.TABLES.items()}
        _console().print(tables.listed(list(tables.TABLES.values()), missing))
        typer.echo(json.dumps(missing))
        return
    with failures_told():
        _check_asked(name, every=every, limit=limit, update_docs=update_docs)
        asked = tables.Asked(
            data=data,
            out=out_folder,
            settings=read_settings(),
            models=tuple(model or ()),
            judge=judge,
            encoders=tuple(encoder or ()),
            homes=named_folders(home or ()),
            limit=limit,
        )
        if update_docs and not every:
            tables.rewrite_results(asked)
            return
        results = []
        for one in tables.TABLES.values() if every else [tables.table_named(name)]:
            results.append(tables.measure_table(one, asked, _command(one, asked), _say))
            if markdown:
                typer.echo(f"{tables.markdown_table(results[-1])}\n")
            elif not as_json:
                _console().print(tables.shown_table(results[-1]))
        if update_docs:
            tables.write_results(results, asked)
    told = [result.to_json() for result in results]
    typer.echo(json.dumps(told if every else told[0]))


def _check_asked(name: str, *, every: bool, limit: int | None, update_docs: bool) -> None:
    if update_docs and (name or limit):
        raise EvaluationError("--update-docs goes with --all and without --limit.")
    if every == bool(name) and not update_docs:
        raise EvaluationError("Name one table, or give --all or --list.")


def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets by name; by default all.")] = None,
    *,
    data: Data = DATA,
) -> None:
    """Fetch the data sets of the tables, or say which file to put where."""
    from evaluation import tables  # noqa: PLC0415

    with failures_told():
        lacking = list(tables.fetch(names or (), data, _say))
    for line in lacking:
        typer.echo(line, err=True)
    if lacking:
        raise typer.Exit(2)


def _console() -> Console:
    # The split in ":train:" is no picture of a tram.
    return Console(emoji=False)


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _command(table: "tables.SeedTable", asked: "tables.Asked") -> str:
    """Return the command that measures one table as it is measured now, with names for its folders."""
    options = [
        *(("--model", model) for model in asked.models),
        *([("--judge", asked.judge)] if asked.judge else []),
        *(("--encoder", encoder) for encoder in asked.encoders),
        *(("--home", f"{home}={home.upper()}") for home in asked.homes if table.asks_corpora),
        *([] if asked.limit is None else [("--limit", str(asked.limit))]),
    ]
    given = (word for option in options for word in option)
    return shlex.join(["paper-trail", "eval", "table", table.name, "--data", "DATA", *given])
