"""Liveness and readiness of this process, for proxies and orchestrators."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.app.resources import has_corpus, open_library
from explorer.jobs.runner import stopping
from explorer.observing.events import ProcessState
from explorer.observing.metrics import open_sessions
from explorer.observing.observer import observe

LIVE_PATH, READY_PATH = "/healthz", "/readyz"
# A check that takes longer counts as failed.
CHECK_SECONDS = 5.0
# Seconds for which a result is reused.
FRESH_SECONDS = 2.0
_RETRY_SECONDS = 2
_loaded = threading.Event()


def note_loaded() -> None:
    """Record that the warm-up is over."""
    _loaded.set()
    observe(ProcessState("loaded"))


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of each part that answering needs, without error texts, which may contain addresses."""

    process: Literal["ok", "starting", "stopping"] = "ok"
    corpus: Literal["ok", "missing", "unusable", "unknown"] = "unknown"
    encoder: Literal["ok", "unusable", "unknown"] = "unknown"
    database: Literal["ok", "unusable", "unknown"] = "unknown"

    @property
    def is_ready(self) -> bool:
        return set(asdict(self).values()) == {"ok"}


def check_readiness() -> Readiness:
    """Open the corpus, encode a text and query the database, and return the state of each."""
    try:
        if not has_corpus():
            return Readiness(corpus="missing")
        library = open_library()
    except CorpusError:
        return Readiness(corpus="unusable")
    try:
        library.encoder.encode_query("ready")
    except CorpusError:
        return Readiness(corpus="ok", encoder="unusable")
    try:
        library.conversations().check_connection()
    except AssistantError:
        return Readiness(corpus="ok", encoder="ok", database="unusable")
    return Readiness(corpus="ok", encoder="ok", database="ok")


class HealthDoor:
    """ASGI middleware with the health endpoints, which also refuses new visitors while the process stops."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._checking: asyncio.Task[Readiness] | None = None
        self._begun = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path == LIVE_PATH:
            await _reply(200, {"status": "alive"})(scope, receive, send)
        elif scope["type"] == "http" and path == READY_PATH:
            await (await self._readiness())(scope, receive, send)
        elif stopping.is_set() and _is_newcomer(scope):
            await _GO_ELSEWHERE(scope, receive, send)
        elif scope["type"] == "websocket":
            with open_sessions.track_inprogress():
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _readiness(self) -> JSONResponse:
        readiness = await self._checked()
        status = "ready" if readiness.is_ready else "not ready"
        return _reply(200 if readiness.is_ready else 503, {"status": status, **asdict(readiness)})

    async def _checked(self) -> Readiness:
        """Return the readiness, "unknown" for all parts after a timeout; concurrent callers share a check."""
        if stopping.is_set():
            return Readiness("stopping")
        if not _loaded.is_set():
            return Readiness("starting")
        now = asyncio.get_running_loop().time()
        if self._checking is None or (self._checking.done() and now - self._begun >= FRESH_SECONDS):
            self._checking, self._begun = asyncio.create_task(run_in_threadpool(check_readiness)), now
        try:
            return await asyncio.wait_for(asyncio.shield(self._checking), CHECK_SECONDS)
        except TimeoutError:
            return Readiness()


def _reply(status: int, document: Mapping[str, str]) -> JSONResponse:
    retry = {"retry-after": str(_RETRY_SECONDS)} if status == 503 else {}
    return JSONResponse(document, status, {"cache-control": "no-store", **retry})


def _is_newcomer(scope: Scope) -> bool:
    """Return True for a page or a websocket, which another process can serve as well."""
    if scope["type"] == "websocket":
        return True
    return scope["type"] == "http" and "text/html" in HTTPConnection(scope).headers.get("accept", "")


# Also refuses websockets (since ASGI 2.3).
_GO_ELSEWHERE = PlainTextResponse(
    "This server is being stopped or updated. Reload the page in a moment.",
    503,
    {"cache-control": "no-store", "retry-after": str(_RETRY_SECONDS)},
)
