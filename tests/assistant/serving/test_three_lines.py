"""The Python example in README, run as it stands there."""

import os
import re
import subprocess
import sys

from tests.demo_home import PROJECT

README = PROJECT / "README.md"


def snippet() -> str:
    return re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]


def test_three_lines_ask_the_corpus(demo_home):
    assert len(snippet().splitlines()) == 3
    environment = {**os.environ, "PAPER_TRAIL_HOME": str(demo_home)}
    done = subprocess.run(
        [sys.executable, "-c", snippet()],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ColBERTv2" in done.stdout and "[1]" in done.stdout
