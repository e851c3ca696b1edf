"""The indexer's command line: paper collections in, corpus out."""

import os
import signal

if __name__ == "__main__":
    # The imports below take a second or more, and an interrupt in one of them would print where it was.
    _on_interrupt = signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import typer

from indexer.commands import building, enriching, keeping, looking
from indexer.uploads import reading

app = typer.Typer(
    help="Read paper collections into the corpus.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _panel, _commands in {
    "Bring papers in": (
        building.demo,
        building.acl,
        building.arxiv,
        building.folder,
        building.pdfs,
        building.tei,
        building.zotero,
        building.references,
    ),
    "Look": (looking.status, looking.report, looking.verify, looking.doctor, reading.read),
    "Keep": (building.reparse, enriching.enrich, keeping.remove, keeping.compact),
}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, _on_interrupt)
    app()
