"""The `paper-trail` command: what it lists, and how little it imports before it does something."""

import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from assistant.__main__ import COMMANDS as ASSISTANT
from assistant.exports.registry import OptionName
from corpus import VERSION
from corpus.command_line import Command

# A help text needs none of these; `status` none of the second kind either.
HEAVY = ("numpy", "pydantic", "lancedb", "pyarrow")
HEAVIER = ("torch", "transformers", "sentence_transformers", "sklearn", "scipy", "streamlit", "together")
PROGRAMS = (
    "paper_trail",
    "assistant.__main__",
    "indexer.__main__",
    "evaluation.__main__",
    "training.__main__",
)
# Commands of these import what is optional to install, or are groups with a text of their own.
GROUPS = ("index", "eval", "train", "serve")


def imported(root: Path, home: Path, *arguments: str) -> set[str]:
    """Return the top-level packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "paper_trail", *arguments],
        cwd=root,
        env={"PATH": "", "PAPER_TRAIL_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def listed_commands() -> list[Command]:
    found = [command for name in PROGRAMS for command in import_module(name).COMMANDS]
    return [command for command in found if command.name not in GROUPS]


def test_help_imports_no_heavy_package(root: Path, tmp_path: Path) -> None:
    assert imported(root, tmp_path, "--help").isdisjoint({*HEAVY, *HEAVIER})


def test_a_command_without_a_model_imports_no_machine_learning_framework(root: Path, tmp_path: Path) -> None:
    # The encoder is exported for onnxruntime, by torch, when a home is first built.
    imported(root, tmp_path, "index", "demo")
    assert imported(root, tmp_path, "status").isdisjoint(HEAVIER)
    assert imported(root, tmp_path, "ask", "What is BM25?").isdisjoint(HEAVIER)


@pytest.mark.parametrize("command", listed_commands(), ids=lambda command: command.target)
def test_the_list_of_commands_says_what_the_command_says_of_itself(command: Command) -> None:
    pytest.importorskip("peft", reason="peft, of the extra train, is not installed")
    summary = (command.load().help or "").strip().split("\n\n")[0].replace("\n", " ")
    assert summary == command.help


def test_every_command_of_the_assistant_is_reached_by_the_one_program() -> None:
    assistant, program = (import_module(name).COMMANDS for name in ("assistant.__main__", "paper_trail"))
    assert {command.name for command in assistant} <= {command.name for command in program}


def test_an_unknown_command_is_refused_in_words(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paper_trail", "asks"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "No such command 'asks'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ASSISTANT, ids=lambda command: command.name)
def test_no_command_offers_shell_completion(command: Command) -> None:
    assert not any("completion" in str(parameter.name) for parameter in command.load().params)


def test_the_help_of_compare_names_every_format_of_a_trail() -> None:
    (compare,) = (command.load() for command in ASSISTANT if command.name == "compare")
    (trail,) = (parameter for parameter in compare.params if parameter.name == "trail")
    assert all(f".{name}" in trail.help for name in get_args(OptionName))


def test_the_version_is_an_option(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "paper_trail.py", "--version"], cwd=root, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == (VERSION, "")


def test_fault_an_address_was_told_that_another_program_had(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "paper_trail.py", "app", "--port", port],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Another program listens at port {port} of 127.0.0.1")
    assert "http://" not in done.stderr
