"""The engine options of every command that builds."""

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


def with_engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `engine`, an Engine, by the options --engine, --address and --encoders.

    The command raises CorpusError where the engine is not available.
    """

    @wraps(command)
    def run(*, engine: EngineName, address: str, encoders: int, **arguments: Any) -> None:
        with open_engine(engine, address, encoders) as opened:
            command(engine=opened, **arguments)

    signature = inspect.signature(command)
    unchanged = (option for option in signature.parameters.values() if option.name != "engine")
    parameters = [*unchanged, *_OPTIONS]
    # Typer reads the signature and the annotations.
    run.__dict__["__signature__"] = signature.replace(parameters=parameters)
    run.__annotations__ = {option.name: option.annotation for option in parameters}
    return run
