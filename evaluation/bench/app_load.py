"""Visitors at once, in a process of their own: it reads loads and prints looks as lines of JSON."""

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from evaluation.bench.app_server import cpu_seconds

PATIENCE_SECONDS = 120.0


class VisitError(Exception):
    """A screen did not come, or came as an error; the message says which."""


@dataclass(slots=True)
class Shown:
    """One run of a screen: its time, and the messages that came."""

    seconds: float = 0.0
    messages: int = 0
    size: int = 0
    ended: bool = False
    raw: list[bytes] = field(default_factory=list)


class Visitor:
    """One session; it keeps cacheable messages, as browsers do, so that they need not be sent again."""

    def __init__(self, connection: ClientConnection, address: str, page: str) -> None:
        self._connection = connection
        self._address, self._page, self._page_hash = address, page, ""
        self._held: set[str] = set()

    @property
    def given_cookies(self) -> Sequence[str]:
        """The cookies that came when the session was opened."""
        response = self._connection.response
        return response.headers.get_all("set-cookie") if response else ()

    async def show(self, query: str, expected: str = "") -> Shown:
        """Have the page drawn with a query; raises VisitError where it fails or `expected` is not in it."""
        clock = time.perf_counter()
        request = BackMsg()
        state = request.rerun_script
        state.query_string = query
        # Only the first request names the page; Streamlit then says under which hash it knows it.
        state.page_name = "" if self._page_hash else self._page
        state.page_script_hash = self._page_hash
        state.cached_message_hashes.extend(sorted(self._held))
        state.context_info.url = f"{self._address}/{self._page}"
        state.context_info.color_scheme = "light"
        shown = Shown()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._connection.send(request.SerializeToString())
                while not shown.ended:
                    self._take(await self._connection.recv(decode=False), shown)
        except (OSError, TimeoutError, WebSocketException) as error:
            raise VisitError(f"/{self._page} did not come: {type(error).__name__} {error}") from error
        shown.seconds = time.perf_counter() - clock
        if expected and not any(expected.encode() in raw for raw in shown.raw):
            raise VisitError(f"/{self._page}?{query} does not show {expected!r}.")
        return shown

    def _take(self, raw: bytes, shown: Shown) -> None:
        message = ForwardMsg.FromString(raw)
        shown.messages += 1
        shown.size += len(raw)
        shown.raw.append(raw)
        if message.metadata.cacheable:
            self._held.add(message.hash)
        match message.WhichOneof("type"):
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "delta":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise VisitError(f"/{self._page} failed: {element.exception.message[:300]}")
                if element.WhichOneof("type") == "alert" and "could not be drawn" in element.alert.body:
                    raise VisitError(f"/{self._page} failed: {element.alert.body[:300]}")
            case "script_finished":
                # A run that was stopped for another is not the end.
                shown.ended = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


@asynccontextmanager
async def visiting(address: str, page: str, cookie: str = "", **headers: str) -> AsyncIterator[Visitor]:
    """Open a session of its own for a page; raises VisitError where the app cannot be reached."""
    async with connected(address, cookie, **headers) as connection:
        yield Visitor(connection, address, page)


@asynccontextmanager
async def connected(address: str, cookie: str = "", **headers: str) -> AsyncIterator[ClientConnection]:
    """Open a session's connection; raises VisitError where the app cannot be reached."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        # Not compressed, as the app is set up; of any size and with any patience, as browsers are.
        async with connect(
            f"ws{address.removeprefix('http')}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            additional_headers=sent | ({"cookie": cookie} if cookie else {}),
            compression=None,
            max_size=None,
            ping_interval=None,
        ) as connection:
            yield connection
    except (OSError, WebSocketException) as error:
        raise VisitError(f"The app at {address} cannot be reached: {error}") from error


@dataclass(frozen=True, slots=True)
class Page:
    """A page, looked at with one query after the other; `expected` is part of it."""

    path: str
    queries: tuple[str, ...]
    expected: str


@dataclass(frozen=True, slots=True)
class Load:
    """So many visitors who look at a page of a server for some seconds, and think between two looks."""

    address: str
    pid: int
    page: Page
    sessions: int
    seconds: float
    think: float


@dataclass(slots=True)
class Looks:
    """What visitors saw: milliseconds of all runs but their first, the largest run, and errors.

    `cpu_seconds` is the server's time from when all had come in, None where it is not known.
    """

    ms: list[float] = field(default_factory=list)
    messages: int = 0
    bytes: int = 0
    errors: list[str] = field(default_factory=list)
    cpu_seconds: float | None = None


async def look(load: Load) -> Looks:
    """Have all visitors look, each beginning at another moment of the time they think."""
    looks = Looks()
    all_in = asyncio.Barrier(load.sessions)
    await asyncio.gather(*(_visit(load, number, all_in, looks) for number in range(load.sessions)))
    after = cpu_seconds(load.pid)
    if after is not None and looks.cpu_seconds is not None:
        looks.cpu_seconds = after - looks.cpu_seconds
    return looks


async def _visit(load: Load, number: int, all_in: asyncio.Barrier, looks: Looks) -> None:
    """Look once with everybody, unmeasured, then for the seconds that are measured."""
    thinking, queries, turn = random.Random(number), load.page.queries, number
    try:
        async with visiting(load.address, load.page.path) as visitor:
            await visitor.show(queries[number % len(queries)], load.page.expected)
            if await all_in.wait() == 0:
                looks.cpu_seconds = cpu_seconds(load.pid)
            until = time.perf_counter() + load.seconds
            await asyncio.sleep(load.think * number / load.sessions)
            while time.perf_counter() < until:
                turn += 1
                shown = await visitor.show(queries[turn % len(queries)])
                looks.ms.append(1000 * shown.seconds)
                looks.messages = max(looks.messages, shown.messages)
                looks.bytes = max(looks.bytes, shown.size)
                await asyncio.sleep(load.think * thinking.uniform(0.7, 1.3))
    except VisitError as error:
        looks.errors.append(str(error))
        await all_in.abort()
    except asyncio.BrokenBarrierError:
        # Another visitor could not come in, and has recorded why.
        return


if __name__ == "__main__":
    for line in sys.stdin:
        told = json.loads(line)
        page = Page(**{**told["page"], "queries": tuple(told["page"]["queries"])})
        print(json.dumps(asdict(asyncio.run(look(Load(**{**told, "page": page}))))), flush=True)
