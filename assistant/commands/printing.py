"""What commands print: results on standard output, everything said on the way on standard error."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

out, err = Console(highlight=False), Console(stderr=True, highlight=False)

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


def print_json(value: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def say(text: str) -> None:
    """Say something on the way, which is no part of the result."""
    err.print(text, style="dim", markup=False, soft_wrap=True)


def fail(error: Exception, as_json: bool, done: Mapping[str, Any] | None = None) -> NoReturn:
    """Say what went wrong and end; `done` is what was done before it."""
    if as_json:
        print_json({**(done or {}), "error": str(error)})
    err.print(str(error), style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)
