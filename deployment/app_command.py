"""The command that starts the screens in one process."""

import os
import subprocess
import sys
from typing import Annotated

import typer

from corpus.errors import CorpusError
from corpus.settings import read_settings
from deployment.app_process import ENTRY
from deployment.errors import ServeError
from deployment.site import check_address

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def app(
    *,
    port: Annotated[int, typer.Option(help="The port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    host: Annotated[
        list[str] | None, typer.Option(help="A host that requests may be addressed to; may be repeated.")
    ] = None,
) -> None:
    """Start the screens in one process.

    Where there is no corpus yet the demonstration collection is indexed first.
    """
    try:
        settings = read_settings()
        check_address(address, port)
    except (CorpusError, ServeError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    if not settings.address and not (settings.home / "corpus" / "manifest.json").exists():
        typer.echo(f"No corpus in {settings.home} yet: indexing the demonstration collection.", err=True)
        done = subprocess.run([sys.executable, "-m", "indexer", "demo"], check=False)
        if done.returncode:
            raise typer.Exit(done.returncode)
    options = [f"--server.port={port}", f"--server.address={address}"]
    if host:
        options += [word for name in (*_LOCAL_HOSTS, *host) for word in ("--server.allowedHosts", name)]
    typer.echo(f"Paper Trail: http://{address}:{port}   (stop with Ctrl+C)", err=True)
    command = [sys.executable, "-m", "streamlit", "run", str(ENTRY), *options]
    os.execv(sys.executable, command)  # noqa: S606 - our program
