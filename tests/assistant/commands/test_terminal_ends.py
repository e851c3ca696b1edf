"""Interrupts and closed outputs end the command line without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.records import Conversation
from assistant.trail.transcript import to_json
from tests.assistant.storage.test_conversations import make_turn


@pytest.fixture
def run(tmp_path, root):
    def run(*arguments, stdout, path=""):
        return subprocess.run(
            [sys.executable, "-m", "assistant", *arguments],
            env={"PATH": os.defpath, "HOME": str(tmp_path), "PAPER_TRAIL_HOME": str(tmp_path / "home")}
            | ({"PYTHONPATH": path} if path else {}),
            cwd=root,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(to_json(Conversation("c", "t", (make_turn(),))), encoding="utf-8")
    return str(path)


def test_an_interrupt_while_it_is_still_loading_ends_it_without_a_traceback(run, tmp_path):
    # Stands before the real one on the path, and is among the first to be loaded.
    stopping = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "typer.py").write_text(stopping, encoding="utf-8")
    done = run("schema", stdout=subprocess.PIPE, path=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_an_export_to_a_full_disk_is_one_sentence_and_a_status(run, file):
    with Path("/dev/full").open("w") as full:
        done = run("export", file, stdout=full)
    assert (done.returncode, done.stderr) == (2, "The result cannot be printed: No space left on device.\n")


@pytest.mark.parametrize("command", ["export", "import"])
def test_a_reader_who_has_gone_is_no_difference(run, file, command):
    """`replay` ends with 1 where something differs, so a closed pipe must not."""
    reading, writing = os.pipe()
    os.close(reading)
    arguments = ("conversations", "import", file) if command == "import" else ("export", file)
    try:
        done = run(*arguments, stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr
