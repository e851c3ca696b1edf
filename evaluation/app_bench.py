"""How quickly the app draws its pages for many visitors, beside itself with Streamlit's stock settings."""

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from corpus.settings import PROJECT
from evaluation.app_browser import BrowserFigures, measure_in_browser, p95
from evaluation.app_error import AppBenchError
from evaluation.app_load import Load, Page
from evaluation.app_process import memory_mb
from evaluation.app_server import AppServer, Manner, serving
from evaluation.app_workplace import Workplace, workplace

MANNERS: tuple[Manner, ...] = ("ours", "stock")
# Each manner is measured so often, in turns, so that both share what else the machine does.
TURNS = 2
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure: on which corpus, for how many visitors at once, and with how many clicks in a browser.

    Without `pages` all are measured.
    """

    home: Path | None
    anthology: Path | None
    sessions: tuple[int, ...] = (25,)
    seconds: float = 6.0
    think: float = 1.0
    clicks: int = 20
    pages: tuple[str, ...] = ()


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


@dataclass(slots=True)
class _Tally:
    """What visitors saw of a page in all turns of one manner."""

    ms: list[float] = field(default_factory=list)
    cpu: list[float | None] = field(default_factory=list)
    messages: int = 0
    bytes: int = 0
    memory: int | None = None
    errors: list[str] = field(default_factory=list)

    def add(self, looks: dict[str, Any], memory: int | None) -> None:
        self.ms += looks["ms"]
        self.cpu.append(looks["cpu_seconds"])
        self.messages = max(self.messages, looks["messages"])
        self.bytes = max(self.bytes, looks["bytes"])
        self.memory = memory
        self.errors += looks["errors"]

    def reruns(self) -> Reruns:
        ms = self.ms
        known = [seconds for seconds in self.cpu if seconds is not None]
        return Reruns(
            count=len(ms),
            ms_p50=statistics.median(ms) if ms else 0.0,
            ms_p95=p95(ms) if ms else 0.0,
            cpu_ms=1000 * sum(known) / len(ms) if known and ms else None,
            messages=self.messages,
            bytes=self.bytes,
            memory_mb=self.memory,
            errors=self.errors[:3],
        )


def measure_app(wanted: Wanted, progress: Progress) -> AppFigures:
    """Return the figures of the app in both manners, and of ours in a browser.

    Raises AppBenchError, AssistantError and CorpusError.
    """
    with workplace(wanted.home, wanted.anthology) as place, ExitStack() as stack:
        servers = [stack.enter_context(serving(place.home, place.database, manner)) for manner in MANNERS]
        bench = _Bench(servers, stack.enter_context(_visitors()), wanted, progress)
        chosen = [page for page in place.pages if not wanted.pages or page.path in wanted.pages]
        bench.warm_up(chosen)
        pages = [bench.measure(page, count) for count in wanted.sessions for page in chosen]
        browser = _in_browser(servers[0], place, wanted.clicks, progress) if wanted.clicks else None
    return AppFigures(papers=place.papers, think_seconds=wanted.think, pages=pages, browser=browser)


@dataclass(frozen=True, slots=True)
class _Bench:
    """The app in each manner, and visitors to send there."""

    servers: Sequence[AppServer]
    visitors: "_Visitors"
    wanted: Wanted
    progress: Progress

    def warm_up(self, pages: Sequence[Page]) -> None:
        """Have each page drawn with each of its queries, as by those who came before."""
        for server in self.servers:
            for page in pages:
                load = Load(
                    server.address, server.pid, page, sessions=len(page.queries), seconds=0.1, think=0.1
                )
                if errors := self.visitors.look(load)["errors"]:
                    raise AppBenchError(f"The page /{page.path} cannot be measured: {errors[0]}")

    def measure(self, page: Page, sessions: int) -> PageFigures:
        tallies = {server.manner: _Tally() for server in self.servers}
        for turn in range(TURNS):
            for server in self.servers:
                self.progress(f"{page.path}, {sessions} at once, {server.manner}, {turn + 1} of {TURNS}")
                wanted = self.wanted
                load = Load(server.address, server.pid, page, sessions, wanted.seconds, wanted.think)
                tallies[server.manner].add(self.visitors.look(load), memory_mb(server.pid))
        ours, stock = tallies["ours"].reruns(), tallies["stock"].reruns()
        ratio = stock["ms_p95"] / ours["ms_p95"] if ours["ms_p95"] else 0.0
        return PageFigures(page=page.path, sessions=sessions, ours=ours, stock=stock, stock_to_ours=ratio)


class _Visitors:
    """The visitors' process, which looks when it is told to."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def look(self, load: Load) -> dict[str, Any]:
        """Return what visitors saw; raises AppBenchError where their process has ended."""
        assert self._process.stdin and self._process.stdout, "it was opened with pipes"
        self._process.stdin.write(json.dumps(asdict(load)) + "\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        if not told:
            raise AppBenchError("The process of the visitors has ended. What it printed says why.")
        looks: dict[str, Any] = json.loads(told)
        return looks


@contextmanager
def _visitors() -> Iterator[_Visitors]:
    command = [sys.executable, "-m", "evaluation.app_load"]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield _Visitors(process)
        finally:
            process.terminate()


def _in_browser(
    server: AppServer, place: Workplace, clicks: int, progress: Progress
) -> BrowserFigures | None:
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        progress("Chromium is not installed: nothing is measured in it.")
        return None
    progress("in Chromium")
    return measure_in_browser(chromium, server.address, place.conversation, clicks)
