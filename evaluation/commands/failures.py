"""How a command ends when nothing can be measured."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from assistant.records import AssistantError
from corpus.errors import CorpusError
from evaluation.input_files import EvaluationError
from indexer.errors import SourceError


@contextmanager
def failures_told() -> Iterator[None]:
    """End with what is wrong, when nothing can be measured."""
    try:
        yield
    except (AssistantError, CorpusError, EvaluationError, SourceError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
