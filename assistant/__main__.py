"""The assistant's command line: ask and compare from the terminal, keep, export and replay."""

import gc
import os
import signal

if __name__ == "__main__":
    # The imports below take seconds, and an interrupt in one of them would print where it was.
    _on_interrupt = signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import typer

from assistant.commands import asking, comparing, exporting, keeping, libraries, reading, replaying, serving
from assistant.commands.printing import Commands

app = typer.Typer(
    help="Ask the corpus, compare its papers, and serve it to other programs.",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (asking.ask, comparing.compare, exporting.export, replaying.replay, exporting.schema):
    app.command()(_command)
app.command()(serving.mcp)
app.add_typer(keeping.conversations, name="conversations")
app.add_typer(keeping.comparisons, name="comparisons")
app.add_typer(reading.app, name="reading")
app.add_typer(libraries.libraries, name="libraries")

if __name__ == "__main__":
    signal.signal(signal.SIGINT, _on_interrupt)
    # A process as short as this one only loses time to the garbage collector: two seconds of seven.
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()
