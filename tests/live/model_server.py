"""The environment of the live tests, and a real model server in a process of its own."""

import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.demo_home import PROJECT

ENVIRONMENT = PROJECT / ".venv-live"
PYTHON = ENVIRONMENT / "bin" / "python"
FOLDER = Path(__file__).parent
TEMPLATES = FOLDER / "templates"
# A machine that is busy takes many times as long to load weights.
LONGEST_START = 120.0


def missing(*packages: str) -> list[str]:
    """Return the packages missing from the environment of the live tests."""
    if not PYTHON.exists():
        return list(packages)
    asked = f"from importlib.util import find_spec; print(*(p for p in {packages!r} if not find_spec(p)))"
    done = subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.split()


class ModelServer:
    """A llama.cpp server over tiny weights, for a `with` block; `template` names a file of `templates`.

    They are those of a base model, or of one that follows instructions (`instruct`).

    Its own log and its slots are what it says of the calls that it was given.
    """

    def __init__(
        self, log: Path, *, template: str = "", slots: int = 2, context: int = 8192, instruct: bool = False
    ) -> None:
        self._log = log
        options = ["--slots", str(slots), "--context", str(context)]
        options += ["--template", str(TEMPLATES / f"{template}.jinja")] if template else []
        options += ["--instruct"] if instruct else []
        self._command = [str(PYTHON), str(FOLDER / "serve.py"), *options]

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        # Ends the reading below where the server never says that it can be asked.
        alarm = threading.Timer(LONGEST_START, self._process.kill)
        alarm.start()
        assert self._process.stdout
        self.address = self._process.stdout.readline().strip()
        alarm.cancel()
        assert self.address, self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.communicate()

    def kill(self) -> None:
        self._process.kill()

    @property
    def url(self) -> str:
        """The address as users give it, with the version at its end."""
        return f"{self.address}/v1"

    @property
    def served(self) -> str:
        """The name by which the server says that it replies, whatever it was asked for."""
        return str(self._read("/v1/models")["data"][0]["id"])

    @property
    def calls(self) -> int:
        """The number of calls it has begun to answer, by its own log."""
        return self._log.read_text(encoding="utf-8", errors="replace").count("| processing task")

    def written(self) -> int:
        """Count the tokens written so far in unfinished replies."""
        slots = self._read("/slots")
        return sum(slot["next_token"][0]["n_decoded"] for slot in slots if slot["is_processing"])

    def is_idle(self) -> bool:
        return not any(slot["is_processing"] for slot in self._read("/slots"))

    def _read(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.address}{path}", timeout=30) as reply:
            return json.load(reply)


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Return whether something became so in time."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
