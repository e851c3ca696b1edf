"""How quickly the app draws its pages for many visitors: beside stock settings, or in several processes."""

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from assistant.chat import Assistant
from assistant.generators import ExtractiveGenerator
from assistant.records import Answered, AskOptions, Conversation, Turn
from assistant.storage import ConversationStore
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder
from corpus.records import Scope
from corpus.settings import PROJECT, Settings
from corpus.store import Corpus
from evaluation.bench.app_browser import measure_in_browser, p95
from evaluation.bench.app_load import Load, Page
from evaluation.bench.app_server import AppServer, Manner, memory_mb, serving
from evaluation.bench.speed import VOLUMES, volumes
from evaluation.harness import Figures, Report, command, decimals, say, table
from evaluation.input_files import EvaluationError
from indexer.build import build_collections
from indexer.sources.demo import demo_volumes

MANNERS: tuple[Manner, ...] = ("ours", "stock")
# Each manner is measured twice, in turns, so that all share what else the machine does.
TURNS = 2
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
# Visitors who hardly think: there is always one who waits for each process.
HURRY = 0.02
PAPERS_LOOKED_AT = 6
QUESTIONS = (
    "How do dense retrieval and BM25 compare, and where does each of them fail?",
    "When is reciprocal rank fusion a better choice than a weighted sum of scores?",
    "How are citation recall and citation precision defined?",
)


@dataclass(frozen=True, slots=True)
class Workplace:
    """A home with what stands in it; `conversation` is the id of a conversation with citations."""

    home: Path
    database: Path
    papers: int
    conversation: str
    pages: tuple[Page, ...]


@contextmanager
def workplace(home: Path | None, anthology: Path | None) -> Iterator[Workplace]:
    """Open a home, in which nothing is changed, or build the demonstration and volumes of the Anthology."""
    with TemporaryDirectory() as folder:
        settings = Settings(home=home or Path(folder, "home"))
        encoder = open_encoder(settings)
        if home is None:
            sources = [*demo_volumes(), *(volumes(anthology, VOLUMES) if anthology else ())]
            build_collections(settings, encoder, sources, lambda _: None)
        corpus = Corpus.open(settings.corpus_path, encoder)
        database = Path(folder, "conversations.sqlite")
        conversation = _answered(corpus, encoder, database)
        pages = _pages(corpus, conversation)
        yield Workplace(settings.home, database, corpus.count_papers(Scope()), conversation, pages)


def _answered(corpus: Corpus, encoder: Encoder, database: Path) -> str:
    """Store a conversation with answers; return its id."""
    assistant = Assistant(corpus, encoder, ExtractiveGenerator(encoder))
    turns: tuple[Turn, ...] = ()
    for question in QUESTIONS:
        events = assistant.ask(question, turns, AskOptions())
        turns += tuple(event.turn for event in events if isinstance(event, Answered))
    if not any(sentence.citations for turn in turns for sentence in turn.answer.sentences):
        raise EvaluationError(
            f"The corpus at {corpus.path} answers none of the questions. Index more papers."
        )
    store = ConversationStore(database)
    try:
        return store.put("nobody", Conversation("measured", "Measured", turns), from_file=False).id
    finally:
        store.close()


def _pages(corpus: Corpus, conversation: str) -> tuple[Page, ...]:
    """Return the pages; lists and papers change from look to look."""
    collections = corpus.collections()
    papers = [
        paper
        for one in (collections[0], collections[-1])
        for paper in corpus.papers(Scope(collections=(one.collection.id,)), limit=PAPERS_LOOKED_AT // 2)
    ]
    lists = ["", *(urlencode({"collection": one.collection.id}) for one in collections[:2])]
    lists += [urlencode({"topic": key}) for key in list(corpus.statistics.topic_counts())[:2]]
    return (
        Page("collection", tuple(lists), "Search titles"),
        Page("paper", tuple(urlencode({"id": paper.id}) for paper in papers), "Abstract"),
        # The question without punctuation, which is escaped for Markdown.
        Page("ask", (urlencode({"conversation": conversation}),), QUESTIONS[0].partition(",")[0]),
        Page("compare", ("",), "ompar"),
        Page("about", ("",), "What the corpus holds"),
    )


Look = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """The app in each manner, and a process of visitors, whose processor time is not the app's."""

    place: Workplace
    servers: Sequence[AppServer]
    visitors: "subprocess.Popen[str]"

    def look(self, server: AppServer, page: Page, sessions: int, seconds: float, think: float) -> Look:
        """Return what visitors saw; raises EvaluationError where their process has ended."""
        assert self.visitors.stdin and self.visitors.stdout, "it was opened with pipes"
        pid = 0 if isinstance(server.manner, int) else server.pid
        load = Load(server.address, pid, page, sessions, seconds, think)
        self.visitors.stdin.write(json.dumps(asdict(load)) + "\n")
        self.visitors.stdin.flush()
        told = self.visitors.stdout.readline()
        if not told:
            raise EvaluationError("The process of the visitors has ended. What it printed says why.")
        looks: Look = json.loads(told)
        return looks

    def warm_up(self, page: Page, sessions: int, seconds: float, think: float) -> None:
        """Have a page drawn by each server without measuring; raises EvaluationError where it fails."""
        for server in self.servers:
            if errors := self.look(server, page, sessions, seconds, think)["errors"]:
                raise EvaluationError(f"The page /{page.path} cannot be measured: {errors[0]}")

    def turns(self, page: Page, sessions: int, seconds: float, *thinking: float) -> list[list[list[Look]]]:
        """Return the looks of all turns, for each server and each time that visitors think."""
        found: list[list[list[Look]]] = [[[] for _ in thinking] for _ in self.servers]
        for turn in range(TURNS):
            for server, of_server in zip(self.servers, found, strict=True):
                say(f"{page.path}, {sessions} at once, {server.manner}, {turn + 1} of {TURNS}")
                for think, looks in zip(thinking, of_server, strict=True):
                    looks.append(self.look(server, page, sessions, seconds, think))
        return found


@contextmanager
def bench(home: Path | None, anthology: Path | None, manners: Sequence[Manner]) -> Iterator[Bench]:
    """Run the app in each manner and the visitors' process until the end of the block."""
    command = [sys.executable, "-m", "evaluation.bench.app_load"]
    with ExitStack() as stack:
        place = stack.enter_context(workplace(home, anthology))
        servers = [stack.enter_context(serving(place.home, place.database, manner)) for manner in manners]
        visitors = stack.enter_context(
            subprocess.Popen(  # noqa: S603 - our own module
                command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        stack.callback(visitors.terminate)
        yield Bench(place, servers, visitors)


def _milliseconds(looks: Sequence[Look]) -> list[float]:
    return [one for look in looks for one in look["ms"]] or [0.0]


def _errors(looks: Sequence[Look]) -> list[str]:
    return [error for look in looks for error in look["errors"]][:3]


def _reruns(looks: Sequence[Look], memory: int | None) -> Figures:
    """Return the figures of runs of a page after each visitor's first, of one manner."""
    ms = _milliseconds(looks)
    cpu = [look["cpu_seconds"] for look in looks if look["cpu_seconds"] is not None]
    count = sum(len(look["ms"]) for look in looks)
    return {
        "count": count,
        "ms_p50": statistics.median(ms),
        "ms_p95": p95(ms),
        "cpu_ms": 1000 * sum(cpu) / count if cpu and count else None,
        "messages": max(look["messages"] for look in looks),
        "bytes": max(look["bytes"] for look in looks),
        "memory_mb": memory,
        "errors": _errors(looks),
    }


def _measure_page(running: Bench, page: Page, sessions: int, seconds: float, think: float) -> Figures:
    """Return a page's figures in both manners; the ratio is of stock's p95 to ours."""
    found = running.turns(page, sessions, seconds, think)
    ours, stock = (
        _reruns(looks, memory_mb(server.pid)) for server, (looks,) in zip(running.servers, found, strict=True)
    )
    ratio = stock["ms_p95"] / ours["ms_p95"] if ours["ms_p95"] else 0.0
    return {"page": page.path, "sessions": sessions, "ours": ours, "stock": stock, "stock_to_ours": ratio}


def _measure_processes(
    running: Bench, page: Page, sessions: int, seconds: float, think: float
) -> list[Figures]:
    """Return a page's figures for each number of processes: under all load, and with thinking visitors."""
    running.warm_up(page, sessions, 1.0, HURRY)
    figures: list[Figures] = []
    for server, looks in zip(
        running.servers, running.turns(page, sessions, seconds, HURRY, think), strict=True
    ):
        hurried, thinking = looks
        a_second = sum(len(look["ms"]) for look in hurried) / (len(hurried) * seconds)
        first = figures[0]["a_second"] if figures else a_second
        figures.append(
            {
                "page": page.path,
                "processes": server.manner,
                "sessions": sessions,
                "a_second": a_second,
                "to_first": a_second / first if first else 0.0,
                "ms_p50": statistics.median(_milliseconds(hurried)),
                "ms_p95": p95(_milliseconds(hurried)),
                "thinking_ms_p50": statistics.median(_milliseconds(thinking)),
                "thinking_ms_p95": p95(_milliseconds(thinking)),
                "errors": _errors([*hurried, *thinking]),
            }
        )
    return figures


def _times(one: Figures, prefix: str = "") -> str:
    return f"{one[f'{prefix}ms_p50']:.0f} / {one[f'{prefix}ms_p95']:.0f}"


@command("bench-app")
def bench_app(
    home: Path | None = None,
    *,
    anthology: Path | None = None,
    sessions: list[int] | None = None,
    seconds: float = 6.0,
    think: float = 1.0,
    clicks: int = 20,
    page: list[str] | None = None,
    processes: list[int] | None = None,
) -> Report:
    with bench(home, anthology, processes or MANNERS) as running:
        place = running.place
        chosen = [one for one in place.pages if not page or one.path in page]
        asked = [(one, count) for count in sessions or (25,) for one in chosen]
        if processes:
            sites = [
                figures
                for one, count in asked
                for figures in _measure_processes(running, one, count, seconds, think)
            ]
            return _processes_report(sites)
        for one in chosen:
            running.warm_up(one, len(one.queries), 0.1, 0.1)
        pages = [_measure_page(running, one, count, seconds, think) for one, count in asked]
        browser = None
        chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
        if clicks and chromium is None:
            say("Chromium is not installed: nothing is measured in it.")
        elif clicks and chromium:
            say("in Chromium")
            address = running.servers[0].address
            browser = measure_in_browser(chromium, address, place.conversation, clicks)
    figures = {"papers": place.papers, "think_seconds": think, "pages": pages, "browser": browser}
    return Report(figures, _app_parts(figures))


def _app_parts(figures: Figures) -> Iterator[Any]:
    """Yield the tables for people, and what failed."""

    def beside(name: str, one: Figures) -> str:
        return ", ".join(decimals(one[manner][name], 0) for manner in ("ours", "stock"))

    rows = [
        (
            one["page"],
            one["sessions"],
            _times(one["ours"]),
            _times(one["stock"]),
            f"{one['stock_to_ours']:.1f}",
            beside("cpu_ms", one),
            beside("memory_mb", one),
        )
        for one in figures["pages"]
    ]
    title = (
        f"{figures['papers']:,} papers, {figures['think_seconds']:g} s between two looks;"
        " milliseconds are median / p95; processor time and memory are ours, stock's"
    )
    pages = table(("Page", "At once", "ms", "stock, ms", "ratio", "CPU ms", "MB"), rows, title=title)
    for column in pages.columns[1:]:
        column.no_wrap = True
    yield pages
    if one := figures["browser"]:
        again = f"{one['list_again_ms_p50']:.0f} / {one['list_again_ms_max']:.0f}"
        yield table(
            ("In Chromium", "ms"),
            [
                (f"Citation to passage, {one['clicks']} clicks, median / p95", _times(one, "click_")),
                (f"List of {figures['papers']:,} papers, until it can be used, median / longest", again),
                ("the same on a first visit, median", f"{one['list_first_ms_p50']:.0f}"),
            ],
        )
    for one in figures["pages"]:
        for manner in ("ours", "stock"):
            for error in one[manner]["errors"]:
                yield f"Failed, {one['page']}, {one['sessions']} at once, {manner}: {error}"


def _processes_report(figures: list[Figures]) -> Report:
    rows = [
        (
            one["page"],
            one["processes"],
            one["sessions"],
            f"{one['a_second']:.1f}",
            f"{one['to_first']:.2f}",
            _times(one),
            _times(one, "thinking_"),
        )
        for one in figures
    ]
    head = ("Processes", "At once", "Drawn a second", "Times the first", "ms, median / p95", "thinking, ms")
    failed = [
        f"Failed, {one['page']}, {one['processes']} processes: {error}"
        for one in figures
        for error in one["errors"]
    ]
    return Report(figures, [table(("Page", *head), rows), *failed])
