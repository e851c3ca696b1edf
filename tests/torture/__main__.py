"""`python -m tests.torture`: every trial with one seed, and one table of what went wrong; `make torture`."""

import sys
import time
from collections.abc import Callable

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.torture.counts import WRONGS, Counts, same_environment
from tests.torture.failing_servers import failing_servers
from tests.torture.hindered_builds import in_a_failing_bucket, on_a_full_disk
from tests.torture.hostile_corpus import hostile_corpus
from tests.torture.hostile_imports import hostile_imports
from tests.torture.hostile_parsers import hostile_parsers
from tests.torture.killed_app import killed_app
from tests.torture.killed_builds import in_a_bucket, in_a_folder
from tests.torture.killed_comparisons import killed_comparisons
from tests.torture.mutated_files import mutated_files
from tests.torture.reload_storm import reload_storm

Trial = Callable[[int], Counts]


def trials(*, quick: bool) -> list[Trial]:
    """Return the trials, quick ones in about five minutes."""

    def sized(trial: Callable[[int, int], Counts], whole: int, slice_of_it: int) -> Trial:
        return lambda seed: trial(seed, slice_of_it if quick else whole)

    def storm(seed: int) -> Counts:
        return reload_storm(seed, 25, 20 if quick else 600)

    return [
        sized(in_a_folder, 100, 10),
        sized(in_a_bucket, 50, 5),
        sized(on_a_full_disk, 40, 4),
        sized(in_a_failing_bucket, 40, 4),
        sized(mutated_files, 1000, 150),
        sized(killed_app, 20, 2),
        sized(killed_comparisons, 20, 2),
        sized(failing_servers, 300, 25),
        storm,
        sized(hostile_corpus, 28, 3),
        sized(hostile_imports, 200, 30),
        sized(hostile_parsers, 300, 60),
    ]


def main(*, seed: int = 2026, quick: bool = False) -> None:
    """Run all trials; the exit code is 1 where anything went wrong."""
    results = []
    for trial in trials(quick=quick):
        clock = time.monotonic()
        with same_environment():
            counts = trial(seed)
        counts.seconds = time.monotonic() - clock
        results.append(counts)
        # Told as it goes: a later trial may be stopped.
        print(
            f"{counts.name}: {counts.tried} in {counts.seconds:.0f} s, wrong: {counts.wrong.total()}",
            file=sys.stderr,
        )
    _show(results, seed)
    if any(counts.wrong.total() for counts in results):
        raise typer.Exit(1)


def _show(results: list[Counts], seed: int) -> None:
    columns = ("trial", "tried", "told in words", *WRONGS, "seconds")
    table = Table(*columns, box=SIMPLE_HEAD, title=f"seed {seed}", title_justify="left")
    for result in results:
        wrong = (str(result.wrong[what]) for what in WRONGS)
        table.add_row(result.name, str(result.tried), str(result.told), *wrong, f"{result.seconds:.0f}")
    Console(width=120).print(table)
    for result in results:
        for example in result.examples:
            print(f"{result.name}: {example}")


if __name__ == "__main__":
    typer.run(main)
