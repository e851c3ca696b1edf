"""Commands that describe the corpus and its environment: status, report, verify, doctor."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.records import CollectionSummary
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.wording import counted
from indexer.build.run import unfinished
from indexer.maintenance.verify import verify as find_problems
from indexer.printing import (
    JsonOption,
    fail,
    out,
    print_figures,
    print_json,
    print_pairs,
    print_report,
    reports_errors,
    right,
    run_figures,
)

_FIGURES = ("papers", "passages", "full_texts", "failed", "built")
_MARKS = {
    "ok": "[green]ok[/green]",
    "warning": "[yellow]mind[/yellow]",
    "problem": "[red]problem[/red]",
    "off": "off",
}


def status(as_json: JsonOption = False) -> None:
    """Print what the corpus holds."""
    waiting: Mapping[str, int] = {}
    try:
        settings = read_settings()
        encoder = open_encoder(settings)
        waiting = unfinished(settings, encoder)
        _print_unfinished(waiting, as_json)
        corpus = Corpus.open(settings.corpus_path, encoder)
    except CorpusError as error:
        fail(error, as_json, {"unfinished": waiting} if waiting else None)
    summaries = corpus.collections()
    if as_json:
        print_json(_status_as_json(settings, corpus, summaries, waiting))
        return
    table = Table(
        Column("Collection", overflow="fold", min_width=10),
        *right("Papers", "Passages", "Full texts", "Failed"),
        box=SIMPLE_HEAD,
    )
    for summary in summaries:
        counts = (summary.papers, summary.passages, summary.full_texts, summary.failed)
        name = f"[bold]{escape(summary.collection.id)}[/bold]\n{escape(summary.collection.title)}"
        table.add_row(name, *(f"{n:,}" for n in counts))
    out.print(table)
    out.print(
        f"Corpus: {settings.corpus_path}   Encoder: {corpus.manifest.encoder}", soft_wrap=True, markup=False
    )


@reports_errors
def report(as_json: JsonOption = False) -> None:
    """Print what the last build did: counts, speed, memory, what failed and what is odd."""
    settings = read_settings()
    corpus = Corpus.open(settings.corpus_path, open_encoder(settings))
    recorded = corpus.builds()
    last = max((build.started for build in recorded), default="")
    builds = [build for build in recorded if build.started == last]
    if as_json:
        print_json({"run": run_figures(builds), "builds": [asdict(build) for build in builds]})
        return
    if not builds:
        out.print("No build is recorded in this corpus.")
        return
    began = f"{datetime.fromisoformat(builds[0].started):%d %B %Y, %H:%M} UTC"
    out.print(f"Build of {began}, encoder {builds[0].encoder}", markup=False, highlight=False)
    print_report(builds)
    print_figures(builds)


@reports_errors
def verify(as_json: JsonOption = False) -> None:
    """Check that the corpus is whole; ends with exit code 1 when it is not."""
    settings = read_settings()
    corpus = Corpus.open(settings.corpus_path, open_encoder(settings))
    problems = list(find_problems(corpus, settings.pdf_path))
    summaries = corpus.collections()
    papers = sum(summary.papers for summary in summaries)
    passages = sum(summary.passages for summary in summaries)
    if as_json:
        print_json(
            {"papers": papers, "passages": passages, "problems": [asdict(problem) for problem in problems]}
        )
    else:
        print_pairs("Item", "Problem", [(problem.item, problem.text) for problem in problems])
        result = f"{len(problems):,} problems" if problems else "all whole"
        out.print(f"{counted(papers, 'paper')}, {counted(passages, 'passage')}: {result}.", highlight=False)
    if problems:
        raise typer.Exit(1)


@reports_errors
def doctor(as_json: JsonOption = False) -> None:
    """Print what can be reached: GROBID server, encoder, corpus, disk; exit code 1 with any problem."""
    from indexer.maintenance.doctor import examine  # noqa: PLC0415 - asks servers, which no other command does

    findings = examine(read_settings())
    if as_json:
        print_json(
            {
                finding.name: {"state": finding.state, "text": finding.text, **finding.facts}
                for finding in findings
            }
        )
    else:
        table = Table("What", "State", Column("Finding", overflow="fold"), box=SIMPLE_HEAD)
        for finding in findings:
            table.add_row(escape(finding.name), _MARKS[finding.state], escape(finding.text))
        out.print(table)
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(1)


def _print_unfinished(waiting: Mapping[str, int], as_json: bool) -> None:
    for collection, papers in waiting.items() if not as_json else ():
        out.print(
            f"An unfinished build of {collection} has {counted(papers, 'paper')} ready. "
            "Run its command again to go on from there.",
            soft_wrap=True,
            markup=False,
        )


def _status_as_json(
    settings: Settings, corpus: Corpus, summaries: Sequence[CollectionSummary], waiting: Mapping[str, int]
) -> dict[str, object]:
    return {
        "home": str(settings.place),
        "encoder": corpus.manifest.encoder,
        "papers": sum(summary.papers for summary in summaries),
        "passages": sum(summary.passages for summary in summaries),
        "collections": [
            {
                "id": summary.collection.id,
                "title": summary.collection.title,
                **{name: getattr(summary, name) for name in _FIGURES},
            }
            for summary in summaries
        ],
        "unfinished": waiting,
    }
