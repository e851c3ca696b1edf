"""How a measurement becomes a command: its options, its tables for people, its JSON line for programs."""

import inspect
import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

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
COMMANDS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
)

# Text of papers and models is printed as it is: no markup, no emoji codes.
console = Console(emoji=False, markup=False, highlight=False)


@dataclass(frozen=True, slots=True)
class Report:
    """What a command prints: tables and lines for people, and last one line of JSON."""

    figures: object
    shown: Iterable[Table | str] = ()
    exit_code: int = 0


def say(line: str) -> None:
    """Print progress to standard error."""
    typer.echo(line, err=True)


def command(name: str) -> Callable[[Callable[..., Report | None]], Callable[..., None]]:
    """Make a function a Typer command with the texts of commands.toml.

    It prints the report that the function returns, or an error, which ends it with exit code 2.
    """
    texts = COMMANDS[name]

    def decorated(measure: Callable[..., Report | None]) -> Callable[..., None]:
        def run(**arguments: Any) -> None:
            try:
                report = measure(**arguments)
            except FAILURES as error:
                say(str(error))
                raise typer.Exit(2) from None
            if report is None:
                return
            for part in report.shown:
                console.print(part)
            typer.echo(json.dumps(report.figures, default=asdict))
            if report.exit_code:
                raise typer.Exit(report.exit_code)

        signature, types = inspect.signature(measure), get_type_hints(measure)
        parameters = [
            one.replace(
                kind=one.KEYWORD_ONLY,
                annotation=Annotated[types[one.name], _option(texts["options"][one.name])],
            )
            for one in signature.parameters.values()
        ]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__doc__, run.__name__ = texts["help"], measure.__name__
        return run

    return decorated


def _option(told: str | dict[str, Any]) -> Any:
    """Return a Typer option, or argument, by its entry: its help alone, or with name, min and max."""
    entry = {"help": told} if isinstance(told, str) else dict(told)
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
    """Return a table whose columns after the first `left` are right-aligned; None is a rule."""
    columns = [Column(name, justify="right" if at >= left else "left") for at, name in enumerate(head)]
    drawn = Table(*columns, box=SIMPLE_HEAD, title=title or None, caption=caption or None)
    for row in rows:
        if row is None:
            drawn.add_section()
        else:
            drawn.add_row(*map(str, row))
    return drawn


def decimals(figure: float | None, places: int = 3, missing: str = "") -> str:
    """Return a figure with so many decimals, `missing` for None."""
    return missing if figure is None else f"{figure:,.{places}f}"


def plain_table(figures: Figures, places: int) -> Table:
    """Return figures under the names that the JSON line has."""

    def shown(figure: object) -> str:
        if isinstance(figure, float):
            return f"{figure:,.{places}f}"
        return f"{figure:,}" if isinstance(figure, int) else str(figure)

    return table(("What", "Figure"), [(name, shown(figure)) for name, figure in figures.items()])


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, None where there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def share(part: int, whole: int) -> float | None:
    """Return `part` as a share of `whole`, None of nothing."""
    return part / whole if whole else None


def some_ids(ids: Sequence[str], most: int = 5) -> str:
    """Return the first ids and how many more there are."""
    more = f" and {len(ids) - most:,} more" if len(ids) > most else ""
    return f"{', '.join(ids[:most])}{more}"
