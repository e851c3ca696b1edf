"""The data command, run on a stand-in server."""

import json
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from tests.standin_chat import StandinChat
from training.__main__ import app

MODELS = '[[models]]\nid = "m"\nlabel = "M"\nprovider = "openai-compatible"\ncontext = 8192\n'


def environment(tmp_path: Path, url: str) -> dict[str, str]:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    return {"PAPER_TRAIL_MODEL_URL": url, "PAPER_TRAIL_MODELS_FILE": str(models)}


def make(
    tmp_path: Path, documents: Path, server: StandinChat, name: str = "rows", *options: str
) -> tuple[Result, Path]:
    out = tmp_path / f"{name}.jsonl"
    command = ["data", "--documents", str(documents), "--out", str(out), "--model", "m", *options]
    return CliRunner().invoke(app, command, env=environment(tmp_path, server.url)), out


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
