"""What every reply tells the browser: what it may load, and whose it is; and what a failed screen shows."""

import base64
import hashlib
import logging
import re
import uuid
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.parts.owner import COOKIE_SECONDS, OWNER_COOKIE, is_token, new_token
from explorer.parts.safe_text import escaped

logger = logging.getLogger(__name__)

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def content_security_policy() -> str:
    """Return the policy: nothing from another host, no script but Streamlit's own files and inline line."""
    hashes = " ".join(f"'sha256-{digest}'" for digest in _inline_script_hashes())
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' blob: {hashes}".strip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "frame-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        )
    )


class SecurityHeaders:
    """ASGI middleware that puts the security headers on every HTTP reply."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            "content-security-policy": content_security_policy(),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class OwnerCookie:
    """ASGI middleware that gives a browser its token, with the first page it gets without having one.

    Only with a page: what a page loads is asked for at once, and each reply would bring another token.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.append("set-cookie", owner_cookie(is_secure=scope["scheme"] == "https"))
                # What was given to one browser must not be given to another by whoever is in between.
                headers["cache-control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_cookie if _lacks_token(scope) else send)


def _lacks_token(scope: Scope) -> bool:
    """Tell whether a request is for a page, by a browser that has no token yet."""
    if scope["type"] != "http":
        return False
    request = HTTPConnection(scope)
    is_for_page = "text/html" in request.headers.get("accept", "")
    return is_for_page and not is_token(request.cookies.get(OWNER_COOKIE))


def owner_cookie(*, is_secure: bool) -> str:
    """Return a new token as a cookie that no script and no other site's request gets to see."""
    return (
        f"{OWNER_COOKIE}={new_token()}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax"
        f"{'; Secure' if is_secure else ''}"
    )


def middleware() -> list[Middleware]:
    return [Middleware(SecurityHeaders), Middleware(OwnerCookie)]


def show_script_error(error: Exception) -> bool:
    """Draw a failed screen: what our own errors say, for others a reference that the log explains."""
    if isinstance(error, CorpusError | AssistantError):
        st.warning(escaped(str(error)), icon=":material/info:")
        return True
    reference = uuid.uuid4().hex[:8]
    logger.error("screen failed, reference %s", reference, exc_info=error)
    st.error(
        f"This screen could not be drawn. Reload the page; if it happens again, look for {reference} in the "
        "log of the server."
    )
    return True


def _inline_script_hashes() -> list[str]:
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in _INLINE_SCRIPT.findall(page)
    ]
