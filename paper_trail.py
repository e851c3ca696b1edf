"""The `paper-trail` command: the screens, the indexer, the assistant, and what measures and trains them."""

import gc
from dataclasses import replace

from assistant.__main__ import COMMANDS as ASSISTANT_COMMANDS
from corpus import VERSION
from corpus.command_line import Command, lazy_app
from indexer.__main__ import COMMANDS as INDEXER_COMMANDS

_PANELS = {
    "Questions": ("ask", "compare"),
    "Trails": ("replay", "export", "schema", "conversations", "comparisons", "libraries", "reading"),
    "Models and programs": ("models", "mcp"),
}
_ASSISTANT = {command.name: command for command in ASSISTANT_COMMANDS}
_INDEXER = {command.name: command for command in INDEXER_COMMANDS}

COMMANDS = (
    Command("app", "deployment.app_command:app", "Start the screens in one process.", "Screens"),
    Command(
        "serve", "deployment.__main__:serve", "Run several processes of the screens behind nginx.", "Screens"
    ),
    Command("index", "indexer.__main__:app", "Read paper collections into the corpus.", "Corpus"),
    replace(_INDEXER["status"], panel="Corpus"),
    replace(_INDEXER["doctor"], panel="Corpus"),
    *(replace(_ASSISTANT[name], panel=panel) for panel, names in _PANELS.items() for name in names),
    Command("eval", "evaluation.__main__:app", "Measure Paper Trail.", "Research"),
    Command("train", "training.__main__:app", "Train what Paper Trail learns.", "Research"),
)

app = lazy_app(f"Paper Trail {VERSION}: explore, ask and compare a collection of papers.", COMMANDS, VERSION)


def main() -> None:
    """Run the command that the arguments name."""
    try:
        app(prog_name="paper-trail")
    finally:
        # Python would collect garbage once more at its end.
        gc.freeze()


if __name__ == "__main__":
    main()
