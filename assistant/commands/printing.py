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
        """Raise BrokenPipeError as other commands do; rich would exit with a status of its own."""
        raise BrokenPipeError


out, err = _Console(highlight=False), _Console(stderr=True, highlight=False)


JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


def print_json(value: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def show(text: str, style: str = "", on: Console = out) -> None:
    """Print foreign text without control sequences or markup."""
    on.print(storable(text), style=style, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a message that is not part of the result."""
    show(text, "dim", err)


def warn(text: str, style: str = "yellow") -> None:
    """Print a warning about the result."""
    show(text, style, err)


def fail(error: Exception, as_json: bool, done: Mapping[str, Any] | None = None) -> NoReturn:
    """Print an error and exit; `done` is the partial result for JSON."""
    if as_json:
        print_json({**(done or {}), "error": str(error)})
    warn(str(error), "red")
    raise typer.Exit(2)


@contextmanager
def failing(*, as_json: bool, done: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Turn the product's errors in a `with` block into a message and an exit status."""
    try:
        yield
    except (AssistantError, CorpusError) as error:
        fail(error, as_json, done)
