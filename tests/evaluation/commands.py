"""Commands of the evaluation as tests run them, lines of JSON for them, and a model of a stand-in server."""

import json
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from assistant.models.together import Patience, TogetherModel
from evaluation.__main__ import app
from tests.standin_chat import StandinChat


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def figures_in(result: Result) -> Any:
    """Return the JSON line that ends what a command printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


def figures(*arguments: object) -> Any:
    return figures_in(invoke(*arguments))


def measured_table(folder: Path, name: str, *more: object) -> dict[str, Any]:
    """Run a table's command on `folder`/data, its rows stored in `folder`/out; return its figures."""
    told: dict[str, Any] = figures("table", name, "--data", folder / "data", "--out", folder / "out", *more)
    return told


def write_lines(file: Path, *records: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    file.write_text("".join(lines), encoding="utf-8")
    return file


def model_of(server: StandinChat, name: str = "judge-model") -> TogetherModel:
    return TogetherModel(
        name,
        "M",
        api_key="k",
        base_url=server.url,
        patience=Patience(5.0, 5.0),
        first_wait=0.01,
        structured=True,
    )
