"""Server-sent events, whose source is closed once the client has disconnected."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assistant.serving.documents import to_json
from explorer.api.errors import Problem, problem_reply
from explorer.api.slots import Slots

EVENT_STREAM = "text/event-stream"
# The time without an event before the client is checked.
LOOK_SECONDS = 2.0
# A comment, which clients skip; proxies close idle connections.
STILL_HERE = ": still here\n\n"


def as_event(name: str, document: Any) -> str:
    """Return a document as an event, with its JSON on one line, so that no text can end it."""
    return f"event: {name}\ndata: {to_json(document)}\n\n"


class EventStream(StreamingResponse):
    """A streaming response that closes its generator as soon as the client has disconnected."""

    media_type = EVENT_STREAM

    def __init__(self, lines: AsyncGenerator[str, None]) -> None:
        super().__init__(lines, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._lines = lines

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._lines):
            await super().stream_response(send)


class LimitedStream(Response):
    """A stream that holds a slot while it is open, or a refusal if there is none."""

    def __init__(self, stream: EventStream, streams: Slots, owner: str, limits: tuple[int, int]) -> None:
        super().__init__()
        self._stream, self._streams, self._owner, self._limits = stream, streams, owner, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Taken here, where it is certain to be released.
        with self._streams.slot(self._owner, *self._limits) as has_slot:
            reply = self._stream if has_slot else problem_reply(_TOO_MANY)
            await reply(scope, receive, send)


_TOO_MANY = Problem(
    429,
    "too_many_requests",
    "Too many event streams are open. Close some that are not needed, or ask for the status now and then.",
    10,
)


class EventQueue:
    """A queue of events from worker threads for one coroutine."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, item: Any) -> None:
        """Add an item from any thread."""
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    async def next(self) -> Any:
        """Return the next item; raises TimeoutError after `LOOK_SECONDS` without one."""
        return await asyncio.wait_for(self._queue.get(), LOOK_SECONDS)
