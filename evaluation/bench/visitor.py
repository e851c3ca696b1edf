"""A visitor of the app: a client of Streamlit's websocket that asks and is answered as a browser is."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

PATIENCE_SECONDS = 120.0


class VisitError(Exception):
    """A screen did not come, or came as an error; the message says which."""


class Visitor:
    """One session; it keeps cacheable messages, as browsers do, so that they are not sent again."""

    def __init__(self, connection: ClientConnection, address: str, page: str) -> None:
        self._connection = connection
        self._address, self._page, self._page_hash = address, page, ""
        self._held: set[str] = set()

    @property
    def given_cookies(self) -> Sequence[str]:
        """The cookies that came when the session was opened."""
        response = self._connection.response
        return response.headers.get_all("set-cookie") if response else ()

    async def show(self, query: str, expected: str = "") -> float:
        """Have the page drawn with a query and return the seconds it took.

        Raises VisitError where it fails or lacks `expected`.
        """
        clock, is_shown, is_drawn = time.perf_counter(), not expected, False
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._connection.send(self._request(query).SerializeToString())
                while not is_drawn:
                    raw = await self._connection.recv(decode=False)
                    is_shown = is_shown or expected.encode() in raw
                    is_drawn = self._take(raw)
        except (OSError, TimeoutError, WebSocketException) as error:
            raise VisitError(f"/{self._page} did not come: {type(error).__name__} {error}") from error
        if not is_shown:
            raise VisitError(f"/{self._page}?{query} does not show {expected!r}.")
        return time.perf_counter() - clock

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

    def _take(self, raw: bytes) -> bool:
        """Read a message and return whether it ends the run; raises VisitError for an error on the screen."""
        message = ForwardMsg.FromString(raw)
        if message.metadata.cacheable:
            self._held.add(message.hash)
        if message.WhichOneof("type") == "navigation":
            self._page_hash = message.navigation.page_script_hash
        element = message.delta.new_element
        if problem := element.exception.message:
            raise VisitError(f"/{self._page} failed: {problem[:300]}")
        if "could not be drawn" in element.alert.body:
            raise VisitError(f"/{self._page} failed: {element.alert.body[:300]}")
        # A run that was stopped for another is not the end.
        is_end = message.WhichOneof("type") == "script_finished"
        return bool(is_end and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY)


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
