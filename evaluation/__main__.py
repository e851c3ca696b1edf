"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from corpus.encoder import Runtime
from corpus.errors import CorpusError
from corpus.search import SearchMode
from evaluation.aspects import ASPECTS, LLAMA, METRICS, AspectFigures, AspectsError, measure_aspects
from evaluation.bench import Figures, measure
from evaluation.retrieval import RetrievalError, evaluate

app = typer.Typer(
    help="Measure Paper Trail.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
out = Console()


@app.callback()
def main() -> None:
    """Measure Paper Trail."""


@app.command()
def bench(
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Measure on the three smallest volumes only.")] = False,
) -> None:
    """Measure speed: builds beside the bare encoder, search, answers without a model, cold starts."""
    figures = measure(anthology, quick=quick)
    out.print(_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def retrieval(
    data: Annotated[
        Path, typer.Option(help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv (BEIR).")
    ],
    encoder: Annotated[
        str | None, typer.Option(help="The encoder to measure instead of the setting's.")
    ] = None,
    mode: Annotated[SearchMode, typer.Option(help="The side of the search to measure.")] = "hybrid",
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure search on a collection with relevance judgements, through our own build and search."""
    try:
        figures = evaluate(data, encoder, runtime, mode)
    except (CorpusError, RetrievalError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    for name, figure in figures.items():
        table.add_row(name, f"{figure:.4f}" if isinstance(figure, float) else str(figure))
    out.print(table)
    typer.echo(json.dumps(figures))


@app.command()
def aspects(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of ACLSum.")],
    split: Annotated[
        str, typer.Option(help="The part to measure on; by default validation where there is one, else all.")
    ] = "",
) -> None:
    """Measure chosen challenges, approaches and outcomes against summaries that people wrote."""
    try:
        figures = measure_aspects(data, split)
    except AspectsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    out.print(_aspects_table(figures))
    typer.echo(json.dumps(figures.ours))


def _aspects_table(figures: AspectFigures) -> Table:
    columns = [Column(metric.replace("rouge", "ROUGE-"), justify="right") for metric in METRICS]
    title = f"{figures.papers} papers, split: {figures.split}; Llama's figures as printed by GenGO Ultra"
    table = Table("Aspect", "Sentence", *columns, box=SIMPLE_HEAD, title=title)
    rows = {
        "Ours": figures.ours,
        "Lead": figures.lead,
        "Oracle": figures.oracle,
        "Llama-3.3-70B": LLAMA,
    }
    for name in ASPECTS:
        for label, scores in rows.items():
            cells = (f"{scores[name][metric]:.1f}" if metric in scores[name] else "" for metric in METRICS)
            table.add_row(name if label == "Ours" else "", label, *cells)
        table.add_section()
    return table


def _table(figures: Figures) -> Table:
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    table.add_row("Collection", str(figures["collection"]))
    table.add_row("Passages", f"{figures['passages']:,}")
    table.add_row("Bare encoder, passages/s", f"{figures['bare_passages_per_s']:.1f}")
    table.add_row("Our encoder in torch, passages/s", f"{figures['torch_passages_per_s']:.1f}")
    table.add_row("Accelerated encoder, passages/s", f"{figures['accelerated_passages_per_s']:.1f}")
    table.add_row("Accelerated / torch", f"{figures['accelerated_to_torch']:.2f}")
    table.add_row("Build, passages/s", f"{figures['build_passages_per_s']:.1f}")
    table.add_row("Build / bare encoder", f"{figures['build_to_bare']:.2f}")
    table.add_row("Accelerated build, passages/s", f"{figures['accelerated_build_passages_per_s']:.1f}")
    table.add_row("Preparing the accelerated encoder, once, s", f"{figures['export_seconds']:.1f}")
    table.add_row("Passages embedded by a second build", str(figures["passages_embedded_again"]))
    table.add_row("Second build, s", f"{figures['rebuild_seconds']:.1f}")
    searches, answers = (
        f"{figures['search_ms_p50']:.0f} / {figures['search_ms_p95']:.0f}",
        f"{figures['answer_ms_p50']:.0f} / {figures['answer_ms_p95']:.0f}",
    )
    table.add_row("Search, ms, median / p95", searches)
    table.add_row("Answer without a model, ms, median / p95", answers)
    cold = f"{figures['cold_answer_seconds_torch']:.1f} / {figures['cold_answer_seconds_accelerated']:.1f}"
    table.add_row("Cold start to answer in the terminal, s, torch / accelerated", cold)
    return table


if __name__ == "__main__":
    app()
