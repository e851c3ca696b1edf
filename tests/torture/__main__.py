"""`python -m tests.torture`: every trial with one seed, and one table of what went wrong; `make torture`."""

import sys
import time
from collections.abc import Callable
from functools import partial

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.torture.counts import WRONGS, Counts
from tests.torture.killed_builds import in_a_bucket, in_a_folder
from tests.torture.mutated_files import mutated_files

Trial = Callable[[int], Counts]


def trials(*, quick: bool) -> list[Trial]:
    """Return the trials, quick ones in about five minutes."""
    kills, in_bucket, files = (10, 5, 150) if quick else (100, 50, 1000)
    return [
        partial(_sized, in_a_folder, kills),
        partial(_sized, in_a_bucket, in_bucket),
        partial(_sized, mutated_files, files),
    ]


def _sized(trial: Callable[[int, int], Counts], size: int, seed: int) -> Counts:
    return trial(seed, size)


def main(*, seed: int = 2026, quick: bool = False) -> None:
    """Run all trials; the exit code is 1 where anything was lost, doubled, corrupted or unexplained."""
    results = []
    for trial in trials(quick=quick):
        clock = time.monotonic()
        counts = trial(seed)
        counts.seconds = time.monotonic() - clock
        results.append(counts)
        print(f"{counts.name}: {counts.tried} in {counts.seconds:.0f} s", file=sys.stderr)
    _show(results, seed)
    if any(counts.wrong.total() for counts in results):
        raise typer.Exit(1)


def _show(results: list[Counts], seed: int) -> None:
    columns = ("trial", "tried", "told in words", *WRONGS, "seconds")
    table = Table(*columns, box=SIMPLE_HEAD, title=f"seed {seed}", title_justify="left")
    for one in results:
        wrong = (str(one.wrong[what]) for what in WRONGS)
        table.add_row(one.name, str(one.tried), str(one.told), *wrong, f"{one.seconds:.0f}")
    Console(width=110).print(table)
    for one in results:
        for example in one.examples:
            print(f"{one.name}: {example}")


if __name__ == "__main__":
    typer.run(main)
