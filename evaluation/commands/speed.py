"""Speed: builds, search, screens, first words."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import BaseModel
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from corpus.settings import read_settings
from evaluation.bench.build import measure
from evaluation.bench.growth import Growth, measure_growth, read_real
from evaluation.bench.latency import measure_latency
from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out, print_figures
from evaluation.input_files import EvaluationError, home_of, read_json_lines

if TYPE_CHECKING:
    from evaluation.bench.app import Wanted


def bench(
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Measure on the three smallest volumes only.")] = False,
    search_rows: Annotated[
        list[int] | None,
        typer.Option(
            help="Measure what so many synthetic passages cost, parsing and encoding apart; may be repeated.",
            min=1,
        ),
    ] = None,
    home: Annotated[
        Path | None, typer.Option(help="Measure searches and lists of this PAPER_TRAIL_HOME, by `queries`.")
    ] = None,
    queries: Annotated[Path | None, typer.Option(help="JSON lines with a text each.")] = None,
) -> None:
    """Measure speed: builds beside the bare encoder, search, answers without a model, cold starts."""
    if home or queries:
        _bench_home(home, queries)
        return
    if search_rows:
        growth = [measure_growth(passages) for passages in search_rows]
        out.print(_growth_table(growth))
        typer.echo(json.dumps(growth))
        return
    figures = measure(anthology, quick=quick)
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    for label, written in _BENCH_ROWS:
        table.add_row(label, written.format_map(figures))
    out.print(table)
    typer.echo(json.dumps(figures))


class _Query(BaseModel):
    text: str


def _bench_home(home: Path | None, queries: Path | None) -> None:
    with failures_told():
        if not (home and queries):
            raise EvaluationError("A home is measured by queries: give both --home and --queries.")
        hint = 'Each line is a query: {"text": "Does BM25 …"}.'
        asked = [one.text for one in read_json_lines(queries, _Query, hint)]
        if len(asked) < 2:
            raise EvaluationError("One query has no percentiles: give more.")
        figures = read_real(home_of(home), asked)
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    table.add_row("Queries", f"{len(asked):,}")
    for label, written in _READ_ROWS:
        table.add_row(label, written.format_map(figures))
    out.print(table)
    typer.echo(json.dumps(figures))


def bench_app(
    home: Annotated[
        Path | None, typer.Option(help="Measure on this PAPER_TRAIL_HOME, in which nothing is changed.")
    ] = None,
    *,
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
    sessions: Annotated[
        list[int] | None, typer.Option(help="Visitors at once, by default 25; for several, repeat.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long each of four turns at a page takes.")] = 6.0,
    think: Annotated[float, typer.Option(help="Seconds between two looks of a visitor.")] = 1.0,
    clicks: Annotated[int, typer.Option(help="Clicks on citations in Chromium, where there is one.")] = 20,
    page: Annotated[list[str] | None, typer.Option(help="Measure this page alone; may be repeated.")] = None,
    processes: Annotated[
        list[int] | None,
        typer.Option(help="Measure so many processes behind nginx, beside other numbers; may be repeated."),
    ] = None,
) -> None:
    """Measure the app: how quickly pages are drawn for many visitors, beside Streamlit's stock settings."""
    # The browser and the websocket are for development; who measures something else need not have them.
    from evaluation.bench import app as app_bench  # noqa: PLC0415

    wanted = app_bench.Wanted(
        home,
        anthology,
        tuple(sessions or (25,)),
        seconds,
        think,
        clicks,
        tuple(page or ()),
        tuple(processes or ()),
    )
    if wanted.processes:
        _bench_processes(wanted)
        return
    with failures_told():
        figures = app_bench.measure_app(wanted, lambda line: typer.echo(line, err=True))
    for table in app_bench.app_tables(figures):
        out.print(table)
    for failure in app_bench.app_failures(figures):
        typer.echo(failure)
    typer.echo(json.dumps(figures))


def _bench_processes(wanted: "Wanted") -> None:
    from evaluation.bench.app_processes import measure_processes, processes_table  # noqa: PLC0415

    with failures_told():
        figures = measure_processes(wanted, lambda line: typer.echo(line, err=True))
    out.print(processes_table(figures))
    for one in figures:
        for error in one["errors"]:
            typer.echo(f"Failed, {one['page']}, {one['processes']} processes: {error}")
    typer.echo(json.dumps(figures))


def latency(
    home: Annotated[
        Path | None, typer.Option(help="The PAPER_TRAIL_HOME to ask; by default that of the settings.")
    ] = None,
    delay: Annotated[float, typer.Option(help="Seconds the model takes to begin a reply.")] = 0.3,
    rounds: Annotated[int, typer.Option(help="How often each question is asked.")] = 4,
) -> None:
    """Measure what is added to a model's own time until its first words are on their way to the reader."""
    with failures_told():
        figures = measure_latency(home or read_settings().home, delay, rounds)
    print_figures(figures, decimals=1)


def _growth_table(growth: list[Growth]) -> Table:
    table = Table("Passages", box=SIMPLE_HEAD)
    for size in growth:
        table.add_column(f"{size['passages']:,}", justify="right")
    for label, written in _GROWTH_ROWS:
        table.add_row(label, *(written.format_map(size) for size in growth))
    return table


# What people read of each figure, and how it is written.
_BENCH_ROWS = (
    ("Collection", "{collection}"),
    ("Passages", "{passages:,}"),
    ("Bare encoder, passages/s", "{bare_passages_per_s:.1f}"),
    ("Our encoder in torch, passages/s", "{torch_passages_per_s:.1f}"),
    ("Accelerated encoder, passages/s", "{accelerated_passages_per_s:.1f}"),
    ("Accelerated / torch", "{accelerated_to_torch:.2f}"),
    ("Build, passages/s", "{build_passages_per_s:.1f}"),
    ("Build / bare encoder", "{build_to_bare:.2f}"),
    ("Accelerated build, passages/s", "{accelerated_build_passages_per_s:.1f}"),
    ("Accelerated build / bare encoder", "{accelerated_build_to_bare:.2f}"),
    ("Preparing the accelerated encoder, once, s", "{export_seconds:.1f}"),
    ("Passages embedded by a second build", "{passages_embedded_again}"),
    ("Second build, s", "{rebuild_seconds:.1f}"),
    ("Search, ms, median / p95", "{search_ms_p50:.0f} / {search_ms_p95:.0f}"),
    ("Answer without a model, ms, median / p95", "{answer_ms_p50:.0f} / {answer_ms_p95:.0f}"),
    ("Reading a follow-up, ms", "{follow_up_ms:.0f}"),
    (
        "Weighing ten claims of ten papers, ms, with its network / without",
        "{support_ms:.0f} / {support_without_network_ms:.0f}",
    ),
    ("Memory of the networks, MiB", "{learned_mib:.0f}"),
    (
        "Cold start to answer in the terminal, s, torch / accelerated",
        "{cold_answer_seconds_torch:.1f} / {cold_answer_seconds_accelerated:.1f}",
    ),
)

_READ_ROWS = (
    ("Search, ms, median / p95", "{search_ms_p50:.0f} / {search_ms_p95:.0f}"),
    ("In one collection, ms, median / p95", "{filtered_ms_p50:.0f} / {filtered_ms_p95:.0f}"),
    ("Recall of the nearest 200, of everything / a collection", "{recall:.4f} / {filtered_recall:.4f}"),
    ("What searches need, read as the app starts, s", "{loading_seconds:.1f}"),
    ("Everything sorted as the app starts, ms", "{sorting_ms:.0f}"),
    ("A list asked for first, ms, at most", "{list_first_ms_max:.0f}"),
    ("The same again, ms, p95", "{list_ms_p95:.0f}"),
    ("Memory of the reader, MiB", "{memory_mib:,}"),
)
_GROWTH_ROWS = (
    ("Written and published, s", "{build_seconds:.0f}"),
    ("Ten papers more published, s", "{publication_seconds:.1f}"),
    ("The map drawn, s", "{map_seconds:.1f}"),
    ("On the disk, MB", "{mb:,.0f}"),
    *_READ_ROWS,
)
