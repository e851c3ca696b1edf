"""How a measurement becomes a command: its options, its tables for people, its JSON line for programs."""

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from assistant.records import AssistantError
from corpus.encoders import Runtime
from corpus.errors import CorpusError
from evaluation.input_files import EvaluationError
from indexer.errors import SourceError

# Errors that end a measurement with one sentence, or cost a table one row.
FAILURES = (AssistantError, CorpusError, EvaluationError, SourceError)

Figures = dict[str, Any]
Say = Callable[[str], None]
Options = ParamSpec("Options")

RuntimeOption = Annotated[Runtime | None, typer.Option(help="What runs the encoder.")]
EncoderOption = Annotated[str | None, typer.Option(help="The encoder to measure instead of the setting's.")]
CorpusOption = Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")]
AnthologyOption = Annotated[
    Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
]
NamedHomes = Annotated[
    list[str], typer.Option(help="Where a corpus of the questions was built: NAME=FOLDER, once for each.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")]

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


def command(measure: Callable[Options, Report | None]) -> Callable[Options, None]:
    """Return a Typer command that prints the report of `measure`, or an error and exit code 2."""

    @functools.wraps(measure)
    def run(*args: Options.args, **kwargs: Options.kwargs) -> None:
        try:
            report = measure(*args, **kwargs)
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

    return run


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
