"""The indexer's command line, run in this process."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from indexer.__main__ import app


def run(*arguments: object, code: int = 0) -> Result:
    """Run a command that ends with this code, and with no error that nobody foresaw."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    assert code == 0 or done.exception is None or isinstance(done.exception, SystemExit)
    return done


def run_json(*arguments: object, code: int = 0) -> dict[str, Any]:
    """Return the one JSON document on standard output."""
    printed = run(*arguments, "--json", code=code).stdout
    assert printed.endswith("\n")
    assert printed.count("\n") == 1
    found: dict[str, Any] = json.loads(printed)
    return found
