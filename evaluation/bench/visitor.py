"""A client of Streamlit's websocket that requests pages of the app like a browser."""

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
    """A page that did not arrive, or that shows an error."""


class Visitor:
    """A session. Like a browser it remembers cacheable messages, so that the server does not resend them."""

    def __init__(self, connection: ClientConnection, address: str, page: str) -> None:
        self._connection = connection
        self._address, self._page, self._page_hash = address, page, ""
        self._cached_hashes: set[str] = set()

    @property
    def received_cookies(self) -> Sequence[str]:
        """The cookies that the server set when the session was opened."""
        response = self._connection.response
        return response.headers.get_all("set-cookie") if response else ()

    async def show(self, query: str, expected: str = "") -> float:
        """Request the page with a query and return the seconds until it was complete.

        Raises VisitError if it fails or does not contain `expected`.
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
            raise VisitError(f"/{self._page} did not arrive: {type(error).__name__} {error}") from error
        if not is_shown:
            raise VisitError(f"/{self._page}?{query} does not show {expected!r}.")
        return time.perf_counter() - clock

    def _request(self, query: str) -> BackMsg:
        request = BackMsg()
        state = request.rerun_script
        state.query_string = query
        # The first request names the page; later ones use the hash from Streamlit's reply.
        state.page_name = "" if self._page_hash else self._page
        state.page_script_hash = self._page_hash
        state.cached_message_hashes.extend(sorted(self._cached_hashes))
        state.context_info.url = f"{self._address}/{self._page}"
        state.context_info.color_scheme = "light"
        return request

    def _take(self, raw: bytes) -> bool:
        """Read a message; return True if it ends the script run. Raises VisitError for an error shown."""
        message = ForwardMsg.FromString(raw)
        if message.metadata.cacheable:
            self._cached_hashes.add(message.hash)
        if message.WhichOneof("type") == "navigation":
            self._page_hash = message.navigation.page_script_hash
        element = message.delta.new_element
        if problem := element.exception.message:
            raise VisitError(f"/{self._page} failed: {problem[:300]}")
        if "could not be drawn" in element.alert.body:
            raise VisitError(f"/{self._page} failed: {element.alert.body[:300]}")
        # A script run that was stopped for a rerun is not the end.
        is_end = message.WhichOneof("type") == "script_finished"
        return bool(is_end and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY)


@asynccontextmanager
async def visiting(address: str, page: str, cookie: str = "", **headers: str) -> AsyncIterator[Visitor]:
    """Open a new session for a page; raises VisitError if the app cannot be reached."""
    async with connected(address, cookie, **headers) as connection:
        yield Visitor(connection, address, page)


@asynccontextmanager
async def connected(address: str, cookie: str = "", **headers: str) -> AsyncIterator[ClientConnection]:
    """Open the websocket connection of a session; raises VisitError if the app cannot be reached."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        # Uncompressed, as the app is configured; without limits of size and ping, as browsers have none.
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
