"""What commands print: tables for people and, last, one JSON line."""

import json
from collections.abc import Mapping

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

out = Console()


def print_figures(figures: Mapping[str, object], decimals: int) -> None:
    """Print figures under the names that the JSON line has for them, and that line."""
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    for name, figure in figures.items():
        shown = f"{figure:,.{decimals}f}" if isinstance(figure, float) else str(figure)
        table.add_row(name, f"{figure:,}" if isinstance(figure, int) else shown)
    out.print(table)
    typer.echo(json.dumps(figures))
