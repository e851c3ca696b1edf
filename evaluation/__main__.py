"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import tomllib
from pathlib import Path

from corpus.command_line import Command, lazy_app

_TEXTS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
COMMANDS = tuple(
    Command(name, texts["target"], texts["help"], panel=texts["panel"]) for name, texts in _TEXTS.items()
)

app = lazy_app("Measure Paper Trail.", COMMANDS)

if __name__ == "__main__":
    app()
