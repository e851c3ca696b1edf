"""The visitors' process, which looks at pages when it is told to."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from corpus.settings import PROJECT
from evaluation.bench.app_load import Load
from evaluation.input_files import EvaluationError


@dataclass(frozen=True, slots=True)
class Visitors:
    """Visitors in a process of their own: what they take of the machine is not the app's."""

    process: "subprocess.Popen[str]"

    def look(self, load: Load) -> dict[str, Any]:
        """Return what visitors saw; raises EvaluationError where their process has ended."""
        assert self.process.stdin and self.process.stdout, "it was opened with pipes"
        self.process.stdin.write(json.dumps(asdict(load)) + "\n")
        self.process.stdin.flush()
        told = self.process.stdout.readline()
        if not told:
            raise EvaluationError("The process of the visitors has ended. What it printed says why.")
        looks: dict[str, Any] = json.loads(told)
        return looks


@contextmanager
def visitors() -> Iterator[Visitors]:
    """Run the visitors' process until the end of the block."""
    command = [sys.executable, "-m", "evaluation.bench.app_load"]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Visitors(process)
        finally:
            process.terminate()
