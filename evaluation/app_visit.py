"""A visitor of the app over its websocket, who asks and is answered as a browser is, without drawing."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

PATIENCE_SECONDS = 120.0
_PROTOCOL = Subprotocol("streamlit")


class VisitError(Exception):
    """A screen did not come, or came as an error; the message says which."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One run of a screen: from asking for it to its end, and what came."""

    seconds: float
    messages: int
    size: int


@dataclass(slots=True)
class _Arriving:
    """A screen while it comes; `text` is what of it can be read, as bytes."""

    messages: int = 0
    size: int = 0
    ended: bool = False
    raw: list[bytes] = field(default_factory=list)


class Visitor:
    """One session; `held` are the messages that it keeps, as browsers do, and so need not be sent again."""

    def __init__(self, connection: ClientConnection, address: str, page: str) -> None:
        self._connection = connection
        self._address, self._page, self._page_hash = address, page, ""
        self._held: set[str] = set()

    async def show(self, query: str, expected: str = "") -> Shown:
        """Have the page drawn with a query; raises VisitError where it fails or `expected` is not in it."""
        clock = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._connection.send(self._request(query).SerializeToString())
                came = await self._arrived()
        except (OSError, TimeoutError, WebSocketException) as error:
            raise VisitError(f"/{self._page} did not come: {type(error).__name__} {error}") from error
        seconds = time.perf_counter() - clock
        if expected and not any(expected.encode() in raw for raw in came.raw):
            raise VisitError(f"/{self._page}?{query} does not show {expected!r}.")
        return Shown(seconds, came.messages, came.size)

    def _request(self, query: str) -> BackMsg:
        request = BackMsg()
        state = request.rerun_script
        state.query_string = query
        # Only the first request names the page; Streamlit then says under which hash it knows it.
        state.page_name = "" if self._page_hash else self._page
        state.page_script_hash = self._page_hash
        state.cached_message_hashes.extend(sorted(self._held))
        state.context_info.url = f"{self._address}/{self._page}"
        state.context_info.color_scheme = "light"
        return request

    async def _arrived(self) -> _Arriving:
        came = _Arriving()
        while not came.ended:
            self._take(await self._connection.recv(decode=False), came)
        return came

    def _take(self, raw: bytes, came: _Arriving) -> None:
        message = ForwardMsg.FromString(raw)
        came.messages += 1
        came.size += len(raw)
        came.raw.append(raw)
        if message.metadata.cacheable:
            self._held.add(message.hash)
        match message.WhichOneof("type"):
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "delta":
                self._check(message)
            case "script_finished":
                # A run that is stopped for another is not what was asked for: that is still to come.
                came.ended = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY

    def _check(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.WhichOneof("type") == "exception":
            raise VisitError(f"/{self._page} failed: {element.exception.message[:300]}")
        if element.WhichOneof("type") == "alert" and "could not be drawn" in element.alert.body:
            raise VisitError(f"/{self._page} failed: {element.alert.body[:300]}")


@asynccontextmanager
async def visiting(address: str, page: str) -> AsyncIterator[Visitor]:
    """Open a session of its own for a page; raises VisitError where the app cannot be reached."""
    stream = f"ws{address.removeprefix('http')}/_stcore/stream"
    try:
        # Not compressed, as the app is set up; of any size and with any patience, as browsers are.
        async with connect(
            stream, subprotocols=[_PROTOCOL], compression=None, max_size=None, ping_interval=None
        ) as connection:
            yield Visitor(connection, address, page)
    except (OSError, WebSocketException) as error:
        raise VisitError(f"The app at {address} cannot be reached: {error}") from error
