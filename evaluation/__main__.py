"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import typer

from evaluation.commands import answering, comparing, reading, searching, speed, tables

app = typer.Typer(
    help="Measure Paper Trail.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
for _panel, _commands in {
    "The papers' tables": (tables.table, tables.fetch),
    "Search": (searching.retrieval, searching.peers, searching.known_items, searching.histories),
    "Papers": (reading.aspects, reading.tldr, reading.train_tldr, reading.fields, reading.languages),
    "Answers": (
        answering.corpus,
        answering.questions,
        answering.judged,
        answering.tables_asked,
        answering.judge,
        answering.refusal,
        answering.wordings,
        answering.highlights,
        answering.rewriting,
        answering.attribution,
        answering.evidence,
        answering.evidence_sets,
    ),
    "Comparisons": (comparing.summary, comparing.train_tags),
    "Speed": (speed.bench, speed.bench_app, speed.latency),
}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)


if __name__ == "__main__":
    app()
