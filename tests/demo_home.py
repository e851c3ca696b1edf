"""The demonstration corpus, built once for all tests of a run by the indexer's own command."""

import os
import shutil
from pathlib import Path

from filelock import FileLock
from typer.testing import CliRunner

PROJECT = Path(__file__).resolve().parents[1]


def build_demo_home(base: Path) -> Path:
    """Return a PAPER_TRAIL_HOME under `base` with the demonstration corpus, built when it is not there.

    Of several processes that run the tests the first builds it, and each has a copy of its own.
    """
    home = base / "demo-home"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return home if _is_built(home) else _build(home)
    shared = base.parent / "demo-home"
    with FileLock(base.parent / "demo-home.lock"):
        if not _is_built(shared):
            _build(shared)
    if not _is_built(home):
        shutil.copytree(shared, home)
    return home


def _is_built(home: Path) -> bool:
    return (home / "corpus" / "manifest.json").exists()


def _build(home: Path) -> Path:
    import torch  # noqa: PLC0415 - seconds to import, as the next one, which few tests need

    from indexer.__main__ import app  # noqa: PLC0415

    # A fresh home exports the encoder, which takes ten seconds.
    settings = {"PAPER_TRAIL_HOME": str(home), "PAPER_TRAIL_ENCODER_RUNTIME": "torch"}
    # The other processes wait for it.
    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    built = CliRunner().invoke(app, ["demo"], env=settings)
    torch.set_num_threads(threads)
    assert built.exit_code == 0, built.output
    return home
