"""What is told of papers: aspects, one sentence, fields of study."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.aspects import ASPECTS, LLAMA, AspectFigures, measure_aspects
from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out, print_figures
from evaluation.fields import LABELLED, LabelledPart, Readable, fields_table, measure_fields
from evaluation.languages import counted as counted_languages
from evaluation.languages import measure_languages
from evaluation.rouge import METRICS
from evaluation.tldr import OVER_TARGETS, TldrFigures, measure_tldr
from indexer.enrich import TLDR_WEIGHTS


def aspects(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of ACLSum.")],
    split: Annotated[
        str, typer.Option(help="The part to measure on; by default validation where there is one, else all.")
    ] = "",
) -> None:
    """Measure chosen challenges, approaches and outcomes against summaries that people wrote."""
    with failures_told():
        figures = measure_aspects(data, split)
    out.print(_aspects_table(figures))
    typer.echo(json.dumps(figures.ours))


def tldr(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of SciTLDR.")],
    split: Annotated[
        str, typer.Option(help="The part to measure on; by default dev where there is one, else all.")
    ] = "",
) -> None:
    """Measure the one sentence chosen from an abstract and shortened against those that people wrote."""
    with failures_told():
        figures = measure_tldr(data, split)
    out.print(_tldr_table(figures))
    typer.echo(json.dumps(figures.ours))


def train_tldr(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of SciTLDR.")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the weights go.")] = TLDR_WEIGHTS,
    split: Annotated[str, typer.Option(help="The part to fit on.")] = "train",
) -> None:
    """Fit the weights that choose and shorten the one sentence on a paper."""
    from evaluation.train_tldr import train_tldr as train  # noqa: PLC0415 - scipy takes a second to import

    with failures_told():
        provenance = train(data, out_file, split)
    typer.echo(json.dumps(provenance))


def languages(
    *,
    english: Annotated[
        list[Path] | None,
        typer.Option(
            help="JSON lines of questions in English, none of which may be taken for another language."
        ),
    ] = None,
    anthology: Annotated[
        Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
    ] = None,
    part: Annotated[str, typer.Option(help="The questions to measure on: kept or development.")] = "kept",
) -> None:
    """Measure how surely the language of questions and of abstracts is told."""
    with failures_told():
        figures = measure_languages(part, english or (), anthology)
    for name in (*figures.english_refused, *figures.english_papers_wrong):
        out.print(f"taken for another language: {name}", markup=False)
    print_figures(counted_languages(figures), 0)


def fields(
    *,
    anthology: Annotated[
        Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
    ] = None,
    pdfs: Annotated[
        Path | None, typer.Option(help="PDFs of labelled papers, named by their Anthology ids.")
    ] = None,
    part: Annotated[LabelledPart, typer.Option(help="The labelled papers to measure on.")] = "development",
    data: Annotated[Path, typer.Option(help="JSON lines: paper, collection, part, fields.")] = LABELLED,
) -> None:
    """Measure fields of study against labels that a reader gave."""
    with failures_told():
        figures = measure_fields(data, Readable(anthology, pdfs), open_encoder(read_settings()), part)
    out.print(fields_table(figures))
    typer.echo(json.dumps(figures))


def _aspects_table(figures: AspectFigures) -> Table:
    columns = [Column(metric.replace("rouge", "ROUGE-"), justify="right") for metric in METRICS]
    papers = counted(figures.papers, "paper")
    title = f"{papers}, split: {figures.split}; Llama's figures as printed by GenGO Ultra"
    without = " / ".join(str(figures.without_keywords[name]) for name in ASPECTS)
    caption = f"ROUGE-K without {without} summaries that share no keyword with the title"
    table = Table("Aspect", "Sentence", *columns, box=SIMPLE_HEAD, title=title, caption=caption)
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


def _tldr_table(figures: TldrFigures) -> Table:
    columns = [Column(metric.replace("rouge", "ROUGE-"), justify="right") for metric in METRICS]
    title = f"{counted(figures.papers, 'paper')}, split: {figures.split}"
    caption = f"ROUGE-K without {counted(figures.without_keywords, 'paper')} whose texts share no keyword"
    table = Table("Over targets", "Sentence", *columns, box=SIMPLE_HEAD, title=title, caption=caption)
    rows = {
        "Ours": figures.ours,
        "Ours, not shortened": figures.unshortened,
        "Lead": figures.lead,
        "Oracle": figures.oracle,
    }
    for rule in OVER_TARGETS:
        for label, scores in rows.items():
            cells = (f"{scores[rule][metric]:.1f}" if metric in scores[rule] else "" for metric in METRICS)
            table.add_row(rule if label == "Ours" else "", label, *cells)
        table.add_section()
    return table
