"""Server-sent events: what happens, as it happens, and nothing more once a client has gone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assistant.serving.documents import to_json
from explorer.api.errors import Problem, problem_reply
from explorer.api.places import Places

EVENT_STREAM = "text/event-stream"
# The time without an event before the client is checked.
LOOK_SECONDS = 2.0
# A comment, which clients skip: connections on which nothing comes are closed by proxies.
STILL_HERE = ": still here\n\n"


def as_event(name: str, document: Any) -> str:
    """Return a document as an event: one line of ASCII, so that no text can end it."""
    return f"event: {name}\ndata: {to_json(document)}\n\n"


class EventStream(StreamingResponse):
    """Events as the reply to a request; what makes them is closed as soon as the client has gone."""

    media_type = EVENT_STREAM

    def __init__(self, lines: AsyncGenerator[str, None]) -> None:
        super().__init__(lines, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._lines = lines

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._lines):
            await super().stream_response(send)


class LimitedStream(Response):
    """A stream that has a place while it is open, or the reply that there is none."""

    def __init__(self, stream: EventStream, streams: Places, owner: str, limits: tuple[int, int]) -> None:
        super().__init__()
        self._stream, self._streams, self._owner, self._limits = stream, streams, owner, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # In here, for here alone nothing can come between the place and its end.
        with self._streams.place(self._owner, *self._limits) as has_place:
            reply = self._stream if has_place else problem_reply(_TOO_MANY)
            await reply(scope, receive, send)


_TOO_MANY = Problem(
    429,
    "too_many_requests",
    "Too many event streams are open. Close some that are not needed, or ask for the status now and then.",
    10,
)


class Heard:
    """Events from workers, for one coroutine that waits for them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Queue[Any] = asyncio.Queue()

    def tell(self, what: Any) -> None:
        """Tell something from any thread."""
        with suppress(RuntimeError):  # the server has ended, and nobody listens any more
            self._loop.call_soon_threadsafe(self._told.put_nowait, what)

    async def next(self) -> Any:
        """Return the next event; raises TimeoutError after a while without one."""
        return await asyncio.wait_for(self._told.get(), LOOK_SECONDS)
