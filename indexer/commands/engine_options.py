"""The options that say who does the work of a build, for every command that builds."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from indexer.build.engines import EngineName, open_engine

_ENGINE = typer.Option("--engine", help="What does the work: processes of this machine, or a Ray cluster.")
_ADDRESS = typer.Option(
    "--address", help="The Ray cluster's, such as 10.0.0.1:6379, or auto; without it Ray is started here."
)
_ENCODERS = typer.Option(
    "--encoders", min=0, help="So many workers of the cluster encode; 0 is one on each machine."
)


def _option(name: str, kind: Any, default: object, option: Any) -> inspect.Parameter:
    annotation = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_OPTIONS = (
    _option("engine", EngineName, "process", _ENGINE),
    _option("address", str, "", _ADDRESS),
    _option("encoders", int, 0, _ENCODERS),
)


def on_an_engine(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the three options in the place of its parameter `engine`, which is an Engine.

    The command raises CorpusError where the engine cannot be had.
    """

    @wraps(command)
    def run(*, engine: EngineName, address: str, encoders: int, **others: Any) -> None:
        with open_engine(engine, address, encoders) as opened:
            command(engine=opened, **others)

    own = inspect.signature(command)
    parameters = [*(one for one in own.parameters.values() if one.name != "engine"), *_OPTIONS]
    # Typer reads both.
    run.__dict__["__signature__"] = own.replace(parameters=parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
