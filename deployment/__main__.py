"""python -m deployment: the app in several processes behind nginx."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from corpus.errors import CorpusError
from corpus.settings import read_settings
from deployment.errors import ServeError
from deployment.site import Site, SiteOptions

# A name, a wildcard (*.example.org), or an address.
_HOST = re.compile(r"\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|(?=[0-9A-Fa-f]*+:)[0-9A-Fa-f:]++")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def serve(
    *,
    processes: Annotated[int, typer.Option(help="Processes of the app.", min=1, max=64)] = 2,
    port: Annotated[int, typer.Option(help="The port that visitors come to.", min=1, max=65535)] = 8501,
    address: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    host: Annotated[
        list[str] | None, typer.Option(help="A host that requests may be addressed to; may be repeated.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="A certificate with its chain (PEM), to speak HTTPS.", exists=True)
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The key of the certificate (PEM).", exists=True)] = None,
) -> None:
    """Run processes of the app behind nginx; one that dies is replaced, SIGHUP replaces all in turn."""
    if (certificate is None) != (key is None):
        raise typer.BadParameter("A certificate and its key are given together.")
    if wrong := [name for name in host or () if not _HOST.fullmatch(name)]:
        raise typer.BadParameter(f"{wrong[0]!r} is no host. Write its name alone, as papers.example.org.")
    options = SiteOptions(processes, address, port, tuple(host or ()), certificate, key)
    try:
        settings = read_settings()
        code = Site(options, settings, _print_json if settings.log == "json" else _print).run()
    except (ServeError, CorpusError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    raise typer.Exit(code)


def _print(line: str) -> None:
    print(line, flush=True)


def _print_json(line: str) -> None:
    when = datetime.now(UTC).isoformat(timespec="milliseconds")
    _print(json.dumps({"time": when, "level": "info", "event": "site", "message": line.strip()}))


if __name__ == "__main__":
    app()
