"""How quickly the app draws its pages for many visitors, beside itself with Streamlit's stock settings."""

import shutil
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from evaluation.bench.app_browser import BrowserFigures, measure_in_browser, p95
from evaluation.bench.app_load import Load, Page
from evaluation.bench.app_server import AppServer, Manner, memory_mb, serving
from evaluation.bench.app_visitors import Visitors, visitors
from evaluation.bench.app_workplace import Workplace, workplace
from evaluation.input_files import EvaluationError

MANNERS: tuple[Manner, ...] = ("ours", "stock")
# Each manner is measured so often, in turns, so that both share what else the machine does.
TURNS = 2
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure: on which corpus, for how many visitors at once, and with how many clicks in a browser.

    Without `pages` all are measured. With `processes`, numbers of them, these are measured behind nginx.
    """

    home: Path | None
    anthology: Path | None
    sessions: tuple[int, ...] = (25,)
    seconds: float = 6.0
    think: float = 1.0
    clicks: int = 20
    pages: tuple[str, ...] = ()
    processes: tuple[int, ...] = ()


class Reruns(TypedDict):
    """Runs of a page after each visitor's first; `cpu_ms` is the server's processor time for one of them."""

    count: int
    ms_p50: float
    ms_p95: float
    cpu_ms: float | None
    messages: int
    bytes: int
    memory_mb: int | None
    errors: list[str]


class PageFigures(TypedDict):
    """A page for so many visitors at once; the ratio is of stock's p95 to ours."""

    page: str
    sessions: int
    ours: Reruns
    stock: Reruns
    stock_to_ours: float


class AppFigures(TypedDict):
    """What is measured; `browser` is None where there is no Chromium."""

    papers: int
    think_seconds: float
    pages: list[PageFigures]
    browser: BrowserFigures | None


def _reruns(looks: Sequence[dict[str, Any]], memory: int | None) -> Reruns:
    """Return what visitors saw of a page in all turns of one manner."""
    ms = [one for look in looks for one in look["ms"]] or [0.0]
    cpu = [look["cpu_seconds"] for look in looks if look["cpu_seconds"] is not None]
    count = sum(len(look["ms"]) for look in looks)
    return Reruns(
        count=count,
        ms_p50=statistics.median(ms),
        ms_p95=p95(ms),
        cpu_ms=1000 * sum(cpu) / count if cpu and count else None,
        messages=max(look["messages"] for look in looks),
        bytes=max(look["bytes"] for look in looks),
        memory_mb=memory,
        errors=[error for look in looks for error in look["errors"]][:3],
    )


def measure_app(wanted: Wanted, progress: Progress) -> AppFigures:
    """Return the figures of the app in both manners, and of ours in a browser.

    Raises EvaluationError, AssistantError and CorpusError.
    """
    with workplace(wanted.home, wanted.anthology) as place, ExitStack() as stack:
        servers = [stack.enter_context(serving(place.home, place.database, manner)) for manner in MANNERS]
        bench = _Bench(servers, stack.enter_context(visitors()), wanted, progress)
        chosen = [page for page in place.pages if not wanted.pages or page.path in wanted.pages]
        bench.warm_up(chosen)
        pages = [bench.measure(page, count) for count in wanted.sessions for page in chosen]
        browser = _in_browser(servers[0], place, wanted.clicks, progress) if wanted.clicks else None
    return AppFigures(papers=place.papers, think_seconds=wanted.think, pages=pages, browser=browser)


@dataclass(frozen=True, slots=True)
class _Bench:
    """The app in each manner, and visitors to send there."""

    servers: Sequence[AppServer]
    visitors: Visitors
    wanted: Wanted
    progress: Progress

    def warm_up(self, pages: Sequence[Page]) -> None:
        """Have each page drawn with each of its queries, as by those who came before."""
        for server in self.servers:
            for page in pages:
                errors = self._look(server, page, len(page.queries), 0.1, 0.1)["errors"]
                if errors:
                    raise EvaluationError(f"The page /{page.path} cannot be measured: {errors[0]}")

    def measure(self, page: Page, sessions: int) -> PageFigures:
        looks: dict[Manner, list[dict[str, Any]]] = {server.manner: [] for server in self.servers}
        for turn in range(TURNS):
            for server in self.servers:
                self.progress(f"{page.path}, {sessions} at once, {server.manner}, {turn + 1} of {TURNS}")
                seen = self._look(server, page, sessions, self.wanted.seconds, self.wanted.think)
                looks[server.manner].append(seen)
        ours, stock = (_reruns(looks[server.manner], memory_mb(server.pid)) for server in self.servers)
        ratio = stock["ms_p95"] / ours["ms_p95"] if ours["ms_p95"] else 0.0
        return PageFigures(page=page.path, sessions=sessions, ours=ours, stock=stock, stock_to_ours=ratio)

    def _look(
        self, server: AppServer, page: Page, sessions: int, seconds: float, think: float
    ) -> dict[str, Any]:
        return self.visitors.look(Load(server.address, server.pid, page, sessions, seconds, think))


def _in_browser(
    server: AppServer, place: Workplace, clicks: int, progress: Progress
) -> BrowserFigures | None:
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        progress("Chromium is not installed: nothing is measured in it.")
        return None
    progress("in Chromium")
    return measure_in_browser(chromium, server.address, place.conversation, clicks)


def app_tables(figures: AppFigures) -> list[Table]:
    tables = [_pages_table(figures)]
    if figures["browser"]:
        tables.append(_browser_table(figures["browser"], figures["papers"]))
    return tables


def _pages_table(figures: AppFigures) -> Table:
    title = (
        f"{figures['papers']:,} papers, {figures['think_seconds']:g} s between two looks;"
        " milliseconds are median / p95; processor time and memory are ours, stock's"
    )
    names = ("At once", "ms", "stock, ms", "ratio", "CPU ms", "MB")
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    table = Table("Page", *numbers, box=SIMPLE_HEAD, title=title)
    for one in figures["pages"]:
        ours, stock = one["ours"], one["stock"]
        table.add_row(
            one["page"],
            str(one["sessions"]),
            _times(ours),
            _times(stock),
            f"{one['stock_to_ours']:.1f}",
            _beside(ours["cpu_ms"], stock["cpu_ms"]),
            _beside(ours["memory_mb"], stock["memory_mb"]),
        )
    return table


def app_failures(figures: AppFigures) -> list[str]:
    """Return what failed, in words."""
    return [
        f"Failed, {one['page']}, {one['sessions']} at once, {manner}: {error}"
        for one in figures["pages"]
        for manner, reruns in (("ours", one["ours"]), ("stock", one["stock"]))
        for error in reruns["errors"]
    ]


def _times(reruns: Reruns) -> str:
    return f"{reruns['ms_p50']:.0f} / {reruns['ms_p95']:.0f}"


def _beside(*values: float | None) -> str:
    return ", ".join("" if value is None else f"{value:.0f}" for value in values)


def _browser_table(figures: BrowserFigures, papers: int) -> Table:
    table = Table("In Chromium", Column("ms", justify="right"), box=SIMPLE_HEAD)
    clicks = f"{figures['click_ms_p50']:.0f} / {figures['click_ms_p95']:.0f}"
    table.add_row(f"Citation to passage, {figures['clicks']} clicks, median / p95", clicks)
    again = f"{figures['list_again_ms_p50']:.0f} / {figures['list_again_ms_max']:.0f}"
    table.add_row(f"List of {papers:,} papers, until it can be used, median / longest", again)
    table.add_row("the same on a first visit, median", f"{figures['list_first_ms_p50']:.0f}")
    return table
