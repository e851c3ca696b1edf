"""The demonstration corpus, built once for all tests of a run through the indexer's own command."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def build_demo_home(base: Path) -> Path:
    """Return a PAPER_TRAIL_HOME under `base` with the demonstration corpus, built when it is not there."""
    home = base / "demo-home"
    if not (home / "corpus" / "manifest.json").exists():
        environment = {
            **os.environ,
            "PAPER_TRAIL_HOME": str(home),
            # A fresh home exports the encoder, which takes ten seconds.
            "PAPER_TRAIL_ENCODER_RUNTIME": "torch",
        }
        subprocess.run(
            [sys.executable, "-m", "indexer", "demo"],
            cwd=PROJECT,
            env=environment,
            check=True,
            capture_output=True,
            timeout=300,
        )
    return home
