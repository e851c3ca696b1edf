"""Output of commands: results on standard output, messages on standard error."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from assistant.records import AssistantError
from corpus.errors import CorpusError
from corpus.text import storable


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """End as every other command does whose reader has gone; rich's own status would mean something."""
        raise BrokenPipeError


out, err = _Console(highlight=False), _Console(stderr=True, highlight=False)


JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


def print_json(value: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def show(text: str, style: str = "", on: Console = out) -> None:
    """Print a text, which may be anybody's: nothing in it acts on the terminal."""
    on.print(storable(text), style=style, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """Say something on the way, which is no part of the result."""
    show(text, "dim", err)


def warn(text: str, style: str = "yellow") -> None:
    """Say what readers of the result should know of it."""
    show(text, style, err)


def fail(error: Exception, as_json: bool, done: Mapping[str, Any] | None = None) -> NoReturn:
    """Say what went wrong and end; `done` is what was done before it."""
    if as_json:
        print_json({**(done or {}), "error": str(error)})
    warn(str(error), "red")
    raise typer.Exit(2)


@contextmanager
def failing(*, as_json: bool, done: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Let the errors of the product, within a `with` block, end the command in a sentence."""
    try:
        yield
    except (AssistantError, CorpusError) as error:
        fail(error, as_json, done)
