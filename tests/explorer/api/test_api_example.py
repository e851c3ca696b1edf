"""The example program that asks over HTTP."""

import json
import subprocess
import sys
from pathlib import Path

import httpx

from tests.explorer.api.conftest import KEY


def test_the_example_asks_over_http(root: Path, address: str, api: httpx.Client) -> None:
    assert api.get("/collections").status_code == 200
    command = [sys.executable, str(root / "examples" / "ask_over_http.py"), address, KEY]
    done = subprocess.run(
        [*command, "How does ColBERTv2 compress its token vectors?"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "ColBERTv2" in json.dumps(json.loads(done.stdout))
