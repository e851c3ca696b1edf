"""Answers judged by a model."""

import json
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out


def judge(
    turns: Annotated[
        list[str],
        typer.Option(help="A trail's JSON or a folder of them, as FILE or NAME=FILE; once for each system."),
    ],
    model: Annotated[str, typer.Option(help="The model that marks all answers to a question together.")],
    *,
    votes: Annotated[
        int | None,
        typer.Option(
            help="How often the judge is asked of each question; by default once for each system.",
            min=1,
            max=25,
        ),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where votes are kept; those in it are not asked for again.")
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(help="People's marks, JSON lines or CSV: question, system, a mark for each quality."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Have answers of several systems marked by a model, and measure how far it agrees with people."""
    from evaluation.answers import judge as report  # noqa: PLC0415 - scipy takes a second to import

    with failures_told():
        asked = report.AskedToJudge(turns, model, votes, out_file, human)
        judged = report.judge_answers(asked, lambda line: typer.echo(line, err=True))
    for table in () if as_json else report.judge_tables(judged):
        out.print(table)
    typer.echo(json.dumps(judged.to_json(), allow_nan=False))
    if not judged.judged:
        raise typer.Exit(2)
