"""Load-tests the screens over Streamlit's websocket: waiting times of visitors and CPU time of the server."""

import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from assistant.chat import Assistant
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.records import Answered, AskOptions, Conversation, Turn
from assistant.storage.conversations import ConversationStore
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.settings import PROJECT, Settings
from corpus.store.corpus import Corpus
from deployment.site import free_ports
from evaluation.bench.speed import VOLUMES, volumes
from evaluation.bench.visitor import VisitError, Visitor, visiting
from evaluation.harness import Figures, Report, command, say, table
from evaluation.input_files import EvaluationError
from indexer.build.run import build_collections
from indexer.sources.demo import demo_volumes

# Servers are measured in alternation, so that other load on the machine affects all of them.
TURNS = 2
START_SECONDS = 180.0
PAPERS_SHOWN = 6
QUESTIONS = (
    "How do dense retrieval and BM25 compare, and where does each of them fail?",
    "When is reciprocal rank fusion a better choice than a weighted sum of scores?",
    "How are citation recall and citation precision defined?",
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page to request with each of `queries` in turn; `expected` is a text that it must show."""

    path: str
    queries: tuple[str, ...]
    expected: str


@dataclass(frozen=True, slots=True)
class Server:
    """The running app, as `processes` processes behind nginx; 0 is a single app without nginx."""

    processes: int
    address: str
    pid: int

    @property
    def pids(self) -> list[int]:
        """The ids of the server's process and its descendants."""
        pids = [self.pid]
        for pid in pids:
            pids += map(int, _proc(pid, f"task/{pid}/children").split())
        return pids

    @property
    def memory_mb(self) -> int:
        """Resident memory of all processes, 0 on systems without /proc."""
        lines = [line for pid in self.pids for line in _proc(pid, "status").splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // 1024

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all processes so far, 0 on systems without /proc."""
        times = [_proc(pid, "stat").rpartition(")")[2].split()[11:13] for pid in self.pids]
        return sum(int(ticks) for process in times for ticks in process) / os.sysconf("SC_CLK_TCK")


def _proc(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")
    except OSError:
        return ""


@contextmanager
def serving(home: Path, database: Path, processes: int) -> Iterator[Server]:
    """Run the app on a home until the end of the block; raises EvaluationError if it does not start."""
    (port,) = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    single_app = ["streamlit", "run", str(PROJECT / "streamlit_app.py"), "--server.address=127.0.0.1"]
    behind_nginx = ["deployment", "--processes", str(processes), "--port", str(port)]
    module = behind_nginx if processes else [*single_app, f"--server.port={port}"]
    # Remove all other settings, so that there is no model and no key.
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("PAPER_TRAIL_")}
    environment.pop("TOGETHER_API_KEY", None)
    environment |= {
        "PAPER_TRAIL_HOME": str(home),
        "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{database}",
        "PYTHONPATH": str(PROJECT),
        "HF_HUB_OFFLINE": "1",
    }
    with TemporaryDirectory() as folder, Path(folder, "log.txt").open("w+") as log:
        command_line = [sys.executable, "-m", *module]
        server = subprocess.Popen(command_line, cwd=PROJECT, env=environment, stdout=log, stderr=log)  # noqa: S603
        try:
            deadline = time.monotonic() + START_SECONDS
            while not _is_up(address):
                if time.monotonic() > deadline or server.poll() is not None:
                    log.seek(0)
                    raise EvaluationError(f"The app did not start: {log.read()[-2000:]}")
                time.sleep(0.2)
            yield Server(processes, address, server.pid)
        finally:
            server.terminate()
            try:
                server.wait(60 if processes else 10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _is_up(address: str) -> bool:
    try:
        with urlopen(f"{address}/_stcore/health", timeout=1) as reply:  # noqa: S310 - our own address
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


def _store_answers(corpus: Corpus, encoder: Encoder, database: Path) -> str:
    """Store a conversation with answers and return its id; raises EvaluationError without a citation."""
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
    """Return the pages to measure; each request of lists and papers shows another one."""
    collections = [listed.collection.id for listed in corpus.collections()]
    papers = [
        paper.id
        for collection in (collections[0], collections[-1])
        for paper in corpus.papers(Scope(collections=(collection,)), limit=PAPERS_SHOWN // 2)
    ]
    lists = ["", *(urlencode({"collection": collection}) for collection in collections[:2])]
    lists += [urlencode({"topic": key}) for key in list(corpus.statistics.topic_counts())[:2]]
    return (
        Page("collection", tuple(lists), "Search titles"),
        Page("paper", tuple(urlencode({"id": paper}) for paper in papers), "Abstract"),
        # The question up to its first comma: later punctuation is escaped for Markdown.
        Page("ask", (urlencode({"conversation": conversation}),), QUESTIONS[0].partition(",")[0]),
        Page("compare", ("",), "ompar"),
        Page("about", ("",), "What the corpus holds"),
    )


@dataclass(slots=True)
class Load:
    """Requests of a page by `sessions` visitors at once, with `think` seconds between two requests of each.

    `seconds` is the length of the measurement. The other fields collect what is measured.
    """

    page: Page
    sessions: int
    seconds: float
    think: float
    ms: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0
    errors: list[str] = field(default_factory=list)

    async def run(self, server: Server) -> None:
        """Let all visitors request the page once to warm up, then measure."""
        try:
            async with AsyncExitStack() as stack:
                sessions = [visiting(server.address, self.page.path) for _ in range(self.sessions)]
                visitors = [await stack.enter_async_context(session) for session in sessions]
                queries = zip(visitors, cycle(self.page.queries), strict=False)
                await asyncio.gather(*(visitor.show(query, self.page.expected) for visitor, query in queries))
                before = server.cpu_seconds
                await asyncio.gather(
                    *(self._visit(visitor, number) for number, visitor in enumerate(visitors))
                )
                self.cpu_seconds += server.cpu_seconds - before
        except VisitError as error:
            self.errors.append(str(error))

    async def _visit(self, visitor: Visitor, number: int) -> None:
        generator, queries = random.Random(number), self.page.queries
        until = time.perf_counter() + self.seconds
        # Visitors start at different times, evenly spaced over the pause between requests.
        await asyncio.sleep(self.think * number / self.sessions)
        for turn in count(number + 1):
            if time.perf_counter() >= until:
                return
            self.ms.append(1000 * await visitor.show(queries[turn % len(queries)]))
            await asyncio.sleep(self.think * generator.uniform(0.7, 1.3))

    def figures(self, server: Server) -> Figures:
        ms = sorted(self.ms) or [0.0]
        return {
            "page": self.page.path,
            "processes": server.processes,
            "sessions": self.sessions,
            "count": len(self.ms),
            "a_second": len(self.ms) / (TURNS * self.seconds),
            "ms_p50": statistics.median(ms),
            "ms_p95": ms[ceil(0.95 * len(ms)) - 1],
            "cpu_ms": 1000 * self.cpu_seconds / max(1, len(self.ms)),
            "memory_mb": server.memory_mb,
            "errors": self.errors[:3],
        }


@command("bench-app")
def bench_app(
    home: Path | None = None,
    *,
    anthology: Path | None = None,
    sessions: list[int] | None = None,
    seconds: float = 6.0,
    think: float = 1.0,
    page: list[str] | None = None,
    processes: list[int] | None = None,
) -> Report:
    all_figures: list[Figures] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        settings, database = Settings(home=home or folder / "home"), folder / "conversations.sqlite"
        encoder = open_encoder(settings)
        if home is None:
            sources = [*demo_volumes(), *(volumes(anthology, VOLUMES) if anthology else ())]
            build_collections(settings, encoder, sources, lambda _: None)
        corpus = Corpus.open(settings.corpus_path, encoder)
        papers = corpus.count_papers(Scope())
        pages = _pages(corpus, _store_answers(corpus, encoder, database))
        servers = [stack.enter_context(serving(settings.home, database, n)) for n in processes or [0]]
        for at_once in sessions or (25,):
            for measured in pages:
                if page and measured.path not in page:
                    continue
                loads = [(server, Load(measured, at_once, seconds, think)) for server in servers]
                for server in servers:
                    asyncio.run(Load(measured, len(measured.queries), 0.1, 0.1).run(server))
                for server, load in loads * TURNS:
                    say(f"{measured.path}, {at_once} at once, {server.address}")
                    asyncio.run(load.run(server))
                all_figures += [load.figures(server) for server, load in loads]
    rows = [
        (
            *(row[name] for name in ("page", "processes", "sessions")),
            f"{row['a_second']:.1f}",
            f"{row['ms_p50']:.0f} / {row['ms_p95']:.0f}",
            f"{row['cpu_ms']:.0f}",
            row["memory_mb"],
        )
        for row in all_figures
    ]
    title = f"{papers:,} papers, {think:g} s between two looks; milliseconds are median / p95"
    head = ("Page", "Processes", "At once", "Drawn a second", "ms", "CPU ms", "MB")
    errors = [f"Failed: {error}" for row in all_figures for error in row["errors"]]
    figures = {"papers": papers, "think_seconds": think, "pages": all_figures}
    return Report(figures, [table(head, rows, title=title), *errors])
