"""Output of commands: results on standard output, messages on standard error."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, NoReturn, ParamSpec

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from corpus.errors import CorpusError
from corpus.records import Build
from indexer.errors import SourceError

P = ParamSpec("P")

out, err = Console(), Console(stderr=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]

# A run over the whole Anthology has thousands of volumes: only their total is printed.
_COLLECTIONS_LISTED = 30
_ENTRIES_LISTED = 200


def print_json(value: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def fail(error: Exception, as_json: bool, done: Mapping[str, Any] | None = None) -> NoReturn:
    """Print the error and exit with code 2; with --json, `done` holds the results so far."""
    if as_json:
        print_json({**(done or {}), "error": str(error)})
    err.print(str(error), style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)


def reports_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Print a command's CorpusError or SourceError, as JSON with --json, and exit with code 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (CorpusError, SourceError) as error:
            fail(error, bool(kwargs.get("as_json")))

    return run


def print_report(builds: Sequence[Build]) -> None:
    """Print the counts of the builds of one run, a line per collection, then failures and remarks."""
    table = Table(
        Column("Collection", overflow="fold", min_width=10),
        *right("New", "Changed", "Same", "Gone", "Failed", "Passages", "Seconds"),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for build in builds if len(builds) <= _COLLECTIONS_LISTED else ():
        table.add_row(build.collection_id, *_counts([build]))
    if len(builds) != 1:
        table.add_row(f"{len(builds):,} collections", *_counts(builds), style="bold")
    out.print(table)
    print_pairs(
        "Not indexed",
        "Why",
        [(failure.item, failure.reason) for build in builds for failure in build.failures],
    )
    print_pairs(
        "Indexed", "But", [(remark.item, remark.text) for build in builds for remark in build.remarks]
    )


def _counts(builds: Sequence[Build]) -> list[str]:
    totals = (
        sum(build.added for build in builds),
        sum(build.changed for build in builds),
        sum(build.unchanged for build in builds),
        sum(build.removed for build in builds),
        sum(len(build.failures) for build in builds),
        sum(build.passages for build in builds),
    )
    return [*(f"{total:,}" for total in totals), f"{sum(build.seconds for build in builds):,.1f}"]


def run_figures(builds: Sequence[Build]) -> dict[str, Any]:
    """Return the totals of the builds of one run."""
    seconds = sum(build.seconds for build in builds)
    passages = sum(build.passages for build in builds)
    parsers: dict[str, int] = {}
    for count in (count for build in builds for count in build.parsers):
        name = count.parser or "metadata"
        parsers[name] = parsers.get(name, 0) + count.papers
    return {
        "collections": len(builds),
        "papers": sum(build.added + build.changed + build.unchanged for build in builds),
        "passages": passages,
        "seconds": round(seconds, 3),
        "passages_per_second": round(passages / seconds, 2) if seconds else 0.0,
        "peak_memory_mib": max((build.peak_memory_mib for build in builds), default=0),
        "parsers": parsers,
    }


def print_figures(builds: Sequence[Build]) -> None:
    """Print speed and memory of a run, unless it embedded nothing."""
    figures = run_figures(builds)
    if not figures["passages"]:
        return
    parsers = ", ".join(f"{papers:,} by {name}" for name, papers in figures["parsers"].items())
    peak = figures["peak_memory_mib"]
    memory = f", at most {peak:,} MiB of memory" if peak else ""
    out.print(
        f"{figures['passages']:,} passages in {figures['seconds']:,.1f} s "
        f"({figures['passages_per_second']:,.1f} a second){memory}. Papers read: {escape(parsers)}.",
        highlight=False,
    )


def print_pairs(item: str, text: str, entries: Sequence[tuple[str, str]]) -> None:
    if not entries:
        return
    listed = Table(Column(item, overflow="fold"), text, box=SIMPLE_HEAD)
    for row in entries[:_ENTRIES_LISTED]:
        listed.add_row(*map(escape, row))
    out.print(listed)
    if len(entries) > _ENTRIES_LISTED:
        out.print(f"{len(entries) - _ENTRIES_LISTED:,} more: paper-trail index report --json")


def right(*headers: str) -> list[Column]:
    return [Column(header, justify="right", no_wrap=True, min_width=len(header)) for header in headers]
