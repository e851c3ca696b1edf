"""Comparative summaries, and the classifier of their sentences."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assistant.comparing import MOST_SAMPLES
from assistant.generators import EXTRACTIVE
from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out
from evaluation.input_files import EvaluationError
from evaluation.summaries.corwa import TAG_WEIGHTS


def summary(
    comparison: Annotated[
        list[Path] | None, typer.Option(help="A comparison's JSON; may be given several times.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="A text that people wrote on the same, for ROUGE.")
    ] = None,
    judge: Annotated[str, typer.Option(help="A model that marks all summaries together (G-Score).")] = "",
    votes: Annotated[int, typer.Option(help="How often the judge is asked.", min=1, max=25)] = 5,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Compare anew without elements, increments or reflection; for several, repeat."),
    ] = None,
    *,
    table: Annotated[
        bool,
        typer.Option("--table", help="Run ChatCite's experiment: this and the options below to --sections."),
    ] = False,
    corwa: Annotated[Path | None, typer.Option(help="JSON lines of tagged sections (CORWA).")] = None,
    anthology: Annotated[
        Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Where sections that are finished are kept.")
    ] = None,
    writer: Annotated[str, typer.Option(help="What compares: extractive, or a model's id.")] = EXTRACTIVE,
    samples: Annotated[
        int, typer.Option(help="How many samples continue a summary.", min=1, max=MOST_SAMPLES)
    ] = 2,
    sections: Annotated[
        int | None, typer.Option(help="Measure on the first so many gold sections.", min=1)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Measure comparative summaries: ROUGE, citations, how much they compare, and a judge's marks."""
    # rouge_score takes a second to import.
    from evaluation.summaries import experiment  # noqa: PLC0415
    from evaluation.summaries import summary_report as report  # noqa: PLC0415

    def say(line: str) -> None:
        typer.echo(line, err=True)

    figures: experiment.TableReport | report.SummaryReport
    with failures_told():
        if not table:
            asked = report.Asked(comparison or (), gold, judge, votes, report.read_parts(without or ()))
            figures = report.summary_report(asked, say)
            tables = report.summary_tables(figures)
        elif comparison or gold or without:
            raise EvaluationError("--table compares by itself. Leave --comparison, --gold and --without out.")
        elif corwa and anthology and out_folder:
            of_table = experiment.TableAsked(
                corwa, anthology, out_folder, writer, samples, sections, judge, votes
            )
            figures = experiment.table_report(of_table, say)
            tables = experiment.experiment_tables(figures)
        else:
            raise EvaluationError("--table takes --corwa, --anthology and --out. Give all three.")
    for shown in () if as_json else tables:
        out.print(shown)
    typer.echo(json.dumps(figures.to_json()))


def train_tags(
    corwa: Annotated[Path, typer.Option(help="JSON lines of sections whose sentences are tagged (CORWA).")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the weights go.")] = TAG_WEIGHTS,
) -> None:
    """Train the classifier of related-work sentences and measure it on papers held back."""
    from evaluation.summaries import summary_report as report  # noqa: PLC0415 - rouge_score takes a second to import

    with failures_told():
        weights = report.train(corwa, out_file)
    out.print(report.tags_table(weights.provenance))
    typer.echo(json.dumps(weights.provenance))
