"""Command lines whose commands are imported when they are run."""

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

# The exit code that a shell reports for a program that SIGPIPE ended.
BROKEN_PIPE = 141
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group of commands: `target` is "module:function" or "module:typer_app".

    The list of commands shows `help` under the heading `panel`. A command that `is_brief` ends before garbage
    collection would pay.
    """

    name: str
    target: str
    help: str
    panel: str = "Commands"
    is_brief: bool = False

    def load(self) -> Any:
        """Import the command and return it as click knows it."""
        module, _, attribute = self.target.partition(":")
        with _ended_by_interrupts():
            app = getattr(import_module(module), attribute)
        if not isinstance(app, typer.Typer):
            function, app = app, new_app()
            app.command(self.name)(function)
        return get_command(app)


def new_app(**options: Any) -> typer.Typer:
    """Return a Typer application with the settings that all command lines of the product share."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, **options)


def lazy_app(about: str, commands: Sequence[Command], version: str = "") -> typer.Typer:
    """Return a Typer application that imports a command only when that command is run.

    Its option `--version` prints `version`; with "" there is no such option.
    """

    class Group(_LazyGroup):
        known: ClassVar = {command.name: command for command in commands}

    app = new_app(cls=Group, no_args_is_help=True)
    app.callback(help=about)(_version_option(version) if version else lambda: None)
    return app


def _version_option(version: str) -> Callable[..., None]:
    def print_version(value: bool) -> None:
        if value:
            typer.echo(version)
            raise typer.Exit

    option = typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")

    def program(*, version: Annotated[bool, option] = False) -> None: ...

    return program


class _LazyGroup(TyperGroup):
    """Commands by name; prints one sentence if their results cannot be written."""

    known: ClassVar[dict[str, Command]] = {}

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(self.known)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        command = self.known.get(cmd_name)
        return _Unloaded(command) if command else None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            _drop_output()
            raise typer.Exit(BROKEN_PIPE) from error
        except OSError as error:
            if error.filename is not None:  # a file that the command uses, not standard output
                raise
            _drop_output()
            typer.secho(f"The result cannot be printed: {error.strerror}.", fg="red", err=True)
            raise typer.Exit(2) from error


class _Unloaded(TyperCommand):
    """The name and help of a command that is imported when its arguments are parsed."""

    def __init__(self, command: Command) -> None:
        super().__init__(command.name, help=command.help, rich_help_panel=command.panel)
        self._command = command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if self._command.is_brief:
            gc.disable()
        return self._command.load().make_context(info_name, args, parent, **extra)


@contextlib.contextmanager
def _ended_by_interrupts() -> Iterator[None]:
    """End the process without a traceback on Ctrl+C: importing a command can take seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _drop_output() -> None:
    """Discard the output that is not yet written: Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
