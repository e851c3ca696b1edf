"""The exported encoder and the demonstration corpus, each made once for all tests of a run."""

import os
import shutil
from pathlib import Path

from filelock import FileLock
from typer.testing import CliRunner

from corpus.encoders.base import Runtime, SentenceEncoder
from corpus.encoders.export import export

PROJECT = Path(__file__).resolve().parents[1]


def exported_encoder(base: Path) -> Path:
    """Return the file of the bundled encoder under `base`, exported unless another process has done it."""
    path = _shared(base) / "bundled.int8.onnx"
    export(SentenceEncoder(), path)
    return path


def build_demo_home(base: Path, runtime: Runtime = "onnx-int8") -> Path:
    """Return a PAPER_TRAIL_HOME under `base` with the demonstration corpus, built when it is not there.

    Of several processes that run the tests the first builds it, and each has a copy of its own.
    """
    home = base / f"demo-home-{runtime}"
    shared = _shared(base) / home.name
    with FileLock(shared.with_suffix(".lock")):
        if not _is_built(shared):
            _build(shared, runtime)
    if not _is_built(home):
        shutil.copytree(shared, home)
    return home


def _shared(base: Path) -> Path:
    """Return the folder that all processes of a run share."""
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _is_built(home: Path) -> bool:
    return (home / "corpus" / "manifest.json").exists()


def _build(home: Path, runtime: Runtime) -> None:
    from indexer.__main__ import app  # noqa: PLC0415 - seconds to import, which few tests need

    settings = {"PAPER_TRAIL_HOME": str(home), "PAPER_TRAIL_ENCODER_RUNTIME": runtime}
    built = CliRunner().invoke(app, ["demo"], env=settings)
    assert built.exit_code == 0, built.output
