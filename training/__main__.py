"""The training's command line."""

import typer

from training.commands import choice, data, follow_ups, generator, relevance, retriever, support

app = typer.Typer(
    help="Train what Paper Trail learns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(choice)
app.command()(data)
app.command()(follow_ups)
app.command()(generator)
app.command()(relevance)
app.command()(retriever)
app.command()(support)


@app.callback()
def main() -> None:
    """Train what Paper Trail learns."""


if __name__ == "__main__":
    app()
