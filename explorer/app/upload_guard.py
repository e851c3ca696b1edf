"""Guards Streamlit's upload route: only admitted visitors may upload, within their rate limit."""

import threading
from collections import OrderedDict

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime.scriptrunner import get_script_run_ctx

from corpus.errors import CorpusError
from corpus.places.disk import NoRoomError, check_free_disk
from corpus.settings import read_settings
from explorer.app.resources import uploads_limit
from explorer.jobs.rate_limit import Caller, TooSoonError
from explorer.observing.events import UploadAsked
from explorer.observing.observer import observe

# The sessions that drew a screen last; one that was dropped is admitted again when it draws.
MOST_SESSIONS = 4096
_ROUTE = "/_stcore/upload_file/"
_HARMLESS = ("GET", "HEAD", "OPTIONS", "DELETE")


class AdmittedSessions:
    """The sessions of admitted visitors, with their callers and the refusals to show them."""

    def __init__(self) -> None:
        self._callers: OrderedDict[str, Caller] = OrderedDict()
        self._refusals: dict[str, str] = {}
        self._lock = threading.Lock()

    def admit(self, session: str, caller: Caller) -> None:
        with self._lock:
            self._callers[session] = caller
            self._callers.move_to_end(session)
            if len(self._callers) > MOST_SESSIONS:
                self._refusals.pop(self._callers.popitem(last=False)[0], None)

    def turn_away(self, session: str) -> None:
        with self._lock:
            self._callers.pop(session, None)
            self._refusals.pop(session, None)

    def caller(self, session: str) -> Caller | None:
        return self._callers.get(session)

    def note_refusal(self, session: str, message: str) -> None:
        with self._lock:
            if session in self._callers:
                self._refusals[session] = message

    def take_refusal(self, session: str) -> str:
        """Return and forget the refusal of a session's upload, "" for none."""
        with self._lock:
            return self._refusals.pop(session, "")


admitted = AdmittedSessions()


def current_session() -> str:
    """Return the id of the session whose screen is being drawn."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


class UploadGuard:
    """ASGI middleware that refuses uploads before their bytes are read; the screen shows the reason."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_upload = scope["type"] == "http" and _ROUTE in scope["path"] and scope["method"] not in _HARMLESS
        refusal = _refusal(scope) if is_upload else None
        if is_upload:
            observe(UploadAsked("refused" if refusal else "taken"))
        await (refusal or self._app)(scope, receive, send)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    """Count an upload against the rate limit; return the reply that refuses it, None if it is allowed."""
    session = scope["path"].partition(_ROUTE)[2].partition("/")[0]
    if (caller := admitted.caller(session)) is None:
        return PlainTextResponse("Open the page first, and sign in where that is asked for.", 403)
    length = HTTPConnection(scope).headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return PlainTextResponse("Say how long the file is.", 411)
    try:
        settings, size = read_settings(), int(length[:18])
        if not settings.uploads:
            return PlainTextResponse("Nothing can be brought to this site.", 403)
        check_free_disk(settings.home, settings.free_disk_megabytes, size)
        uploads_limit().take(caller, size / 2**20)
    except (NoRoomError, TooSoonError) as error:
        admitted.note_refusal(session, str(error))
        return PlainTextResponse(str(error), 507 if isinstance(error, NoRoomError) else 429)
    except CorpusError as error:
        return PlainTextResponse(str(error), 503)
    return None
