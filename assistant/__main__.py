"""The assistant's command line: ask from the terminal, and keep, export and replay what was asked."""

import gc

import typer

from assistant.commands import asking, exporting, keeping, replaying

app = typer.Typer(
    help="Ask the corpus.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
for _command in (asking.ask, exporting.export, replaying.replay, exporting.schema):
    app.command()(_command)
app.add_typer(keeping.app, name="conversations")

if __name__ == "__main__":
    # A process as short as this one only loses time to the garbage collector: two seconds of seven.
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()
