"""The middleware that admits or refuses API requests before their body is read."""

import time

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from explorer.api.errors import LARGEST_BODY, TOO_LARGE, Problem, problem_of, problem_reply
from explorer.api.http import OPENAPI_PATH, make_api
from explorer.api.keys import (
    Program,
    adoption,
    has_key_in_address,
    names_key_in_query,
    program_of,
    take_request,
    take_wrong_key,
)
from explorer.app.security import source_address
from explorer.jobs.rate_limit import TooSoonError
from explorer.observing.events import ApiRequestOver
from explorer.observing.observer import observe

_ROOT = "/api"
MOST_DIGITS = 18
_OFF = Problem(
    404,
    "off",
    "The API is off. Whoever runs this server can set a key, of at least 16 characters, in "
    "PAPER_TRAIL_API_KEYS.",
)
_IN_ADDRESS = Problem(
    400,
    "key_in_address",
    "A key stands in the address, where proxies and histories keep it. Have it replaced, and send the new "
    "one in the header alone: Authorization: Bearer KEY.",
)
_MISSING = Problem(401, "key_missing", "Send your key in the header: Authorization: Bearer KEY.")
_UNKNOWN = Problem(401, "key_unknown", "This key is not known here. Ask whoever runs this server for one.")


class ProgramsDoor:
    """ASGI middleware that answers requests below /api, and passes all others on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._api = make_api()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == _ROOT or path.startswith(f"{_ROOT}/")):
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0
        admitted_scope: Scope | None = None

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            admitted = await run_in_threadpool(_admit, scope)
            if isinstance(admitted, Problem):
                headers = {"www-authenticate": "Bearer"} if admitted.status == 401 else None
                await problem_reply(admitted, headers)(scope, receive, send_noting_status)
            else:
                admitted_scope = {**scope, "state": {**scope.get("state", {}), "program": admitted}}
                await self._api(admitted_scope, receive, send_noting_status)
        finally:
            operation = "refused"
            if admitted_scope:
                # The function of the route, not the path, which may contain an id.
                operation = getattr(admitted_scope.get("endpoint"), "__name__", "unknown")
            observe(ApiRequestOver(operation, status, time.monotonic() - began))


def _admit(scope: Scope) -> Program | Problem | None:
    """Return the program of a request, None for the public OpenAPI document, or why it is refused."""
    try:
        settings = read_settings()
        if not settings.api_keys:
            return _OFF
        if names_key_in_query(scope["query_string"]):
            _forget_address(scope)
            return _IN_ADDRESS
        if scope["path"] == OPENAPI_PATH:
            # It takes no parameters; a key among them must not get into the log.
            scope["query_string"] = b""
            return None
        has_key = has_key_in_address(scope["path"], scope["query_string"], settings.api_keys)
        if has_key:
            _forget_address(scope)
        program = _authenticate(scope, settings)
        # Without a valid key in the header, the reply must not reveal that the one in the address is valid.
        return _IN_ADDRESS if has_key and isinstance(program, Program) else program
    except (TooSoonError, CorpusError) as error:
        return problem_of(error)


def _authenticate(scope: Scope, settings: Settings) -> Program | Problem:
    headers = Headers(scope=scope)
    authorization = headers.get("authorization", "")
    if not authorization:
        return _MISSING
    program = program_of(authorization, settings)
    if program is None:
        take_wrong_key(source_address(scope, settings.trusted_proxies))
        return _UNKNOWN
    take_request(program)
    adoption.adopt(program, settings)
    # A body that declares its length need not be read to be refused.
    length = headers.get("content-length", "")
    is_too_long = length.isdecimal() and (len(length) > MOST_DIGITS or int(length) > LARGEST_BODY)
    return TOO_LARGE if is_too_long else program


def _forget_address(scope: Scope) -> None:
    """Remove the address, with the key in it, before the server logs the request."""
    scope.update(path=_ROOT, raw_path=_ROOT.encode(), query_string=b"")
