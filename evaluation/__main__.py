"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import tomllib
from pathlib import Path

from corpus.command_line import Command, lazy_app

_PANELS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
COMMANDS = tuple(
    Command(name, target, text, panel=panel)
    for panel, commands in _PANELS.items()
    for name, (target, text) in commands.items()
)

app = lazy_app("Measure Paper Trail.", COMMANDS)

if __name__ == "__main__":
    app()
