"""The training's command line."""

import tomllib
from pathlib import Path

from corpus.command_line import Command, lazy_app

_TEXTS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
COMMANDS = tuple(
    Command(name, f"training.commands:{name.replace('-', '_')}", texts["help"])
    for name, texts in _TEXTS.items()
)

app = lazy_app("Train what Paper Trail learns.", COMMANDS)

if __name__ == "__main__":
    app()
