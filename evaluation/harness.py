"""Turns a measurement into a command: its options, its tables for people, its JSON line for programs."""

import inspect
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from assistant.records import AssistantError
from corpus.errors import CorpusError
from evaluation.input_files import EvaluationError
from indexer.errors import SourceError

# Errors that end a measurement with one sentence, or cost a table one row.
FAILURES = (AssistantError, CorpusError, EvaluationError, SourceError)

Figures = dict[str, Any]
Row = TypeVar("Row")
COMMANDS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
)

# Text of papers and models is printed as it is: no markup, no emoji codes.
console = Console(emoji=False, markup=False, highlight=False)


@dataclass(frozen=True, slots=True)
class Report:
    """The output of a command: tables and lines for people, and last one line of JSON."""

    figures: object
    printed: Iterable[Table | str] = ()
    exit_code: int = 0


def say(line: str) -> None:
    """Print progress to standard error."""
    typer.echo(line, err=True)


def command(
    name: str, commands: Mapping[str, Any] = COMMANDS, extra: str = "dev"
) -> Callable[[Callable[..., Report | None]], Callable[..., None]]:
    """Turn a function into a Typer command whose help comes from commands.toml.

    The command prints the report that the function returns. An error is printed and ends it with exit code 2.
    `extra` names the optional dependencies to install when a package is missing.
    """
    texts = commands[name]

    def decorate(measure: Callable[..., Report | None]) -> Callable[..., None]:
        def run(**arguments: Any) -> None:
            try:
                report = measure(**arguments)
            except ModuleNotFoundError as error:
                say(f"{error.name} is missing: pip install -e '.[{extra}]'")
                raise typer.Exit(2) from None
            except FAILURES as error:
                say(str(error))
                raise typer.Exit(2) from None
            if report is None:
                return
            for part in report.printed:
                console.print(part)
            typer.echo(json.dumps(report.figures, default=asdict))
            if report.exit_code:
                raise typer.Exit(report.exit_code)

        signature, types = inspect.signature(measure), get_type_hints(measure)
        parameters = [
            parameter.replace(
                kind=parameter.KEYWORD_ONLY,
                annotation=Annotated[types[parameter.name], _option(texts["options"][parameter.name])],
            )
            for parameter in signature.parameters.values()
        ]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__doc__ = "\n\n".join(texts[part] for part in ("help", "more") if part in texts)
        run.__name__ = measure.__name__
        return run

    return decorate


def _option(text: str | dict[str, Any]) -> Any:
    """Return the Typer option or argument for an entry of commands.toml: its help, or a table of settings."""
    entry = {"help": text} if isinstance(text, str) else dict(text)
    kind = typer.Argument if entry.pop("argument", False) else typer.Option
    names = [entry.pop("name")] if "name" in entry else []
    return kind(*names, **entry)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[object] | None],
    *,
    title: str = "",
    caption: str = "",
    left: int = 1,
) -> Table:
    """Build a table whose columns after the first `left` are right-aligned; None draws a line."""
    columns = [
        Column(name, justify="right" if position >= left else "left") for position, name in enumerate(head)
    ]
    table_with_rows = Table(*columns, box=SIMPLE_HEAD, title=title or None, caption=caption or None)
    for row in rows:
        if row is None:
            table_with_rows.add_section()
        else:
            table_with_rows.add_row(*map(str, row))
    return table_with_rows


def grouped_table(
    head: Sequence[str], groups: Mapping[str, Iterable[Sequence[object]]], title: str = ""
) -> Table:
    """Build a table of groups; a group's name stands in its first row only."""
    rows: list[Sequence[object] | None] = []
    for name, group in groups.items():
        rows += [(name if position == 0 else "", *row) for position, row in enumerate(group)]
        rows.append(None)
    return table(head, rows, title=title, left=2)


def decimals(figure: float | None, places: int = 3, missing: str = "") -> str:
    """Format a figure with `places` decimals; `missing` for None."""
    return missing if figure is None else f"{figure:,.{places}f}"


def cell(figure: object, places: int = 3) -> str:
    """Format a figure of the JSON line: floats with `places` decimals, nothing for None."""
    if isinstance(figure, int):
        return f"{figure:,}"
    return decimals(figure, places) if isinstance(figure, float | None) else str(figure)


def plain_table(figures: Figures, places: int) -> Table:
    """Build a table with one row for each figure, named as in the JSON line."""
    rows = [(name, "None" if figure is None else cell(figure, places)) for name, figure in figures.items()]
    return table(("What", "Figure"), rows)


def figures_table(
    head: str, rows: Mapping[str, Figures], columns: Mapping[str, str], places: int = 3, title: str = ""
) -> Table:
    """Build a table with a row for each name; `columns` maps keys of the figures to headings."""
    cells = [(name, *(cell(figures[key], places) for key in columns)) for name, figures in rows.items()]
    return table((head, *columns.values()), cells, title=title)


def group_by(rows: Iterable[Row], key: str | Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Group rows by an attribute or by the result of a function; groups and rows keep their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, key) if isinstance(key, str) else key(row), []).append(row)
    return groups


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def share(part: int, whole: int) -> float | None:
    """Return `part` / `whole`, None if `whole` is 0."""
    return part / whole if whole else None


def list_ids(ids: Sequence[str], most: int = 5) -> str:
    """List the first `most` ids and the number of the others."""
    more = f" and {len(ids) - most:,} more" if len(ids) > most else ""
    return f"{', '.join(ids[:most])}{more}"
