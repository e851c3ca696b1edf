"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from evaluation.bench import Figures, measure

app = typer.Typer(
    help="Measure Paper Trail.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
out = Console()


@app.callback()
def main() -> None:
    """Measure Paper Trail."""


@app.command()
def bench(
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
) -> None:
    """Measure speed: the build beside the bare encoder, search, and answers without a model."""
    figures = measure(anthology)
    out.print(_table(figures))
    typer.echo(json.dumps(figures))


def _table(figures: Figures) -> Table:
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    table.add_row("Collection", str(figures["collection"]))
    table.add_row("Passages", f"{figures['passages']:,}")
    table.add_row("Bare encoder, passages/s", f"{figures['bare_passages_per_s']:.1f}")
    table.add_row("Build, passages/s", f"{figures['build_passages_per_s']:.1f}")
    table.add_row("Build / bare encoder", f"{figures['build_to_bare']:.2f}")
    table.add_row("Passages embedded by a second build", str(figures["passages_embedded_again"]))
    table.add_row("Second build, s", f"{figures['rebuild_seconds']:.1f}")
    searches, answers = (
        f"{figures['search_ms_p50']:.0f} / {figures['search_ms_p95']:.0f}",
        f"{figures['answer_ms_p50']:.0f} / {figures['answer_ms_p95']:.0f}",
    )
    table.add_row("Search, ms, median / p95", searches)
    table.add_row("Answer without a model, ms, median / p95", answers)
    return table


if __name__ == "__main__":
    app()
