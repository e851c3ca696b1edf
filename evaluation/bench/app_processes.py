"""How many visitors several processes behind nginx carry beside one, under all the load they take."""

import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypedDict

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from evaluation.bench.app import TURNS, Progress, Wanted
from evaluation.bench.app_browser import p95
from evaluation.bench.app_load import Load, Page
from evaluation.bench.app_server import Site, serving_site
from evaluation.bench.app_visitors import Visitors, visitors
from evaluation.bench.app_workplace import workplace
from evaluation.input_files import EvaluationError

# Visitors who hardly think: there is always one who waits for each process.
_HURRY = 0.02


class SiteFigures(TypedDict):
    """A page behind nginx: `a_second` is how often it is drawn at most, `to_first` beside the first site.

    As many visitors are carried as look once a second; `ms` are what those waited who gave it no rest, and
    `thinking_ms` what as many do who think between two looks as they are told to.
    """

    page: str
    processes: int
    sessions: int
    a_second: float
    to_first: float
    ms_p50: float
    ms_p95: float
    thinking_ms_p50: float
    thinking_ms_p95: float
    errors: list[str]


def measure_processes(wanted: Wanted, progress: Progress) -> list[SiteFigures]:
    """Return the figures of each number of processes, in turns; raises EvaluationError, CorpusError."""
    with workplace(wanted.home, wanted.anthology) as place, ExitStack() as stack:
        sites = [
            stack.enter_context(serving_site(place.home, place.database, number))
            for number in wanted.processes
        ]
        bench = _Bench(sites, stack.enter_context(visitors()), wanted, progress)
        pages = [page for page in place.pages if not wanted.pages or page.path in wanted.pages]
        found = (bench.measure(page, sessions) for sessions in wanted.sessions for page in pages)
        return [figures for measured in found for figures in measured]


@dataclass(frozen=True, slots=True)
class _Bench:
    """The sites, and visitors to send there."""

    sites: Sequence[Site]
    visitors: Visitors
    wanted: Wanted
    progress: Progress

    def measure(self, page: Page, sessions: int) -> list[SiteFigures]:
        """Return the figures of a page for each site; before they are taken all have drawn it once."""
        for site in self.sites:
            if errors := self._look(site, page, sessions, 1.0, _HURRY)["errors"]:
                raise EvaluationError(f"/{page.path} cannot be measured: {errors[0]}")
        hurried: dict[int, list[dict[str, Any]]] = {site.processes: [] for site in self.sites}
        thinking: dict[int, list[dict[str, Any]]] = {site.processes: [] for site in self.sites}
        for turn in range(TURNS):
            for site in self.sites:
                number, seconds = site.processes, self.wanted.seconds
                self.progress(f"{page.path}, {sessions} at once, {number} processes, {turn + 1} of {TURNS}")
                hurried[number].append(self._look(site, page, sessions, seconds, _HURRY))
                thinking[number].append(self._look(site, page, sessions, seconds, self.wanted.think))
        first = self._a_second(hurried[self.sites[0].processes])
        return [
            SiteFigures(
                page=page.path,
                processes=number,
                sessions=sessions,
                a_second=self._a_second(seen),
                to_first=self._a_second(seen) / first if first else 0.0,
                ms_p50=statistics.median(_milliseconds(seen)),
                ms_p95=p95(_milliseconds(seen)),
                thinking_ms_p50=statistics.median(_milliseconds(thinking[number])),
                thinking_ms_p95=p95(_milliseconds(thinking[number])),
                errors=[error for look in (*seen, *thinking[number]) for error in look["errors"]][:3],
            )
            for number, seen in hurried.items()
        ]

    def _look(self, site: Site, page: Page, sessions: int, seconds: float, think: float) -> dict[str, Any]:
        return self.visitors.look(Load(site.address, 0, page, sessions, seconds, think))

    def _a_second(self, looks: Sequence[dict[str, Any]]) -> float:
        return sum(len(look["ms"]) for look in looks) / (len(looks) * self.wanted.seconds)


def _milliseconds(looks: Sequence[dict[str, Any]]) -> list[float]:
    return [one for look in looks for one in look["ms"]] or [0.0]


def processes_table(figures: Sequence[SiteFigures]) -> Table:
    names = ("Processes", "At once", "Drawn a second", "Times the first", "ms, median / p95", "thinking, ms")
    table = Table("Page", *(Column(name, justify="right") for name in names), box=SIMPLE_HEAD)
    for one in figures:
        numbers = (one["processes"], one["sessions"], f"{one['a_second']:.1f}", f"{one['to_first']:.2f}")
        hurried = f"{one['ms_p50']:.0f} / {one['ms_p95']:.0f}"
        thinking = f"{one['thinking_ms_p50']:.0f} / {one['thinking_ms_p95']:.0f}"
        table.add_row(one["page"], *map(str, numbers), hurried, thinking)
    return table
