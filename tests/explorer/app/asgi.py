"""Requests that pass through a middleware, without a server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.types import ASGIApp, Message


def replied(guard: Callable[[ASGIApp], ASGIApp], headers: dict[str, str], **scope: Any) -> list[Message]:
    """Return the messages of a reply: 204 where the middleware lets the request in; no body is read."""
    sent: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("the body is not read")

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = {"type": "http", "headers": named} | scope

    async def through() -> None:
        await guard(app)(request, receive, send)

    # In another thread: where Playwright runs in the same process, an event loop is running already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, through()).result()
    return sent
