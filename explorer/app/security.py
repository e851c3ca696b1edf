"""Middleware: security headers, owner cookies and client addresses; and the page of a failed screen."""

import base64
import hashlib
import logging
import re
import uuid
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util
from streamlit.web.server.server_util import allowlisted_origins

from assistant.records import AssistantError
from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.app.owner import COOKIE_SECONDS, HOST_COOKIE, HTTPS_HEADER, cookie_name
from explorer.app.resources import owner_tokens
from explorer.app.upload_guard import UploadGuard
from explorer.jobs.rate_limit import ADDRESS_HEADER
from explorer.presenters.safe_text import escaped

logger = logging.getLogger(__name__)

Wrapper = Callable[[ASGIApp], ASGIApp]
Proxies = tuple[IPv4Network | IPv6Network, ...]
Address = IPv4Address | IPv6Address

# Browsers that used HTTPS use nothing else for a year.
HSTS = "max-age=31536000"
_ADDRESS_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>[\d.]+):\d+")
_INLINE_SCRIPT = re.compile(r"<script>(.*?)(?:</script>|\Z)", re.DOTALL)


def content_security_policy() -> str:
    """Return the policy: nothing from other hosts, and no scripts but Streamlit's files and inline script."""
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
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                if _uses_https(scope):
                    headers["strict-transport-security"] = HSTS
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class SameOrigin:
    """ASGI middleware that refuses websockets opened by pages of another origin.

    Streamlit compares host names only, so that a page of another port of this host may connect; and for an
    unknown name it asks a public server for this machine's address, blocking the event loop for two seconds.
    Origins in `server.corsAllowedOrigins` are allowed as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # Set, so that Streamlit does not ask a public server for it.
        net_util._external_ip = "0.0.0.0"  # noqa: S104 - compared with, and Streamlit allows it anyway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not _is_same_origin(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)


def _is_same_origin(headers: Headers) -> bool:
    """Return True if there is no origin header, or it is this host and port or an allowed origin."""
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if not origins:
        return True
    if len(origins) > 1 or len(hosts) != 1:
        return False
    scheme, _, place = origins[0].lower().partition("://")
    if scheme in ("http", "https") and place == hosts[0].lower():
        return True
    return origins[0] in allowlisted_origins()


class OwnerCookie:
    """ASGI middleware that sets a browser's token cookie with the first page it requests without one.

    Only with a page: a page's files are requested concurrently, and each reply would set another token.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and "text/html" in HTTPConnection(scope).headers.get("accept", "")
        cookie = await run_in_threadpool(_missing_cookie, scope) if is_page else ""

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.append("set-cookie", cookie)
                # A proxy must not serve one browser's reply to another.
                headers["cache-control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_cookie if cookie else send)


def _missing_cookie(scope: Scope) -> str:
    """Return the cookie to set: the browser's token signed, or a new one; "" if it has a signed one."""
    try:
        tokens, is_secure = owner_tokens(), _uses_https(scope)
    except CorpusError:  # Every screen reports it.
        return ""
    cookies = HTTPConnection(scope).cookies
    name, token = cookie_name(is_secure), tokens.of(cookies, is_secure)
    return "" if token and cookies.get(name) == token else owner_cookie(name, token or tokens.new())


def owner_cookie(name: str, token: str) -> str:
    """Return the Set-Cookie value of a token, hidden from scripts and from requests of other sites."""
    return (
        f"{name}={token}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax"
        f"{'; Secure' if name == HOST_COOKIE else ''}"
    )


def is_https(scope: Scope, trusted: Proxies) -> bool:
    """Return True if the browser uses HTTPS, with us or with a trusted proxy."""
    proto = HTTPConnection(scope).headers.get("x-forwarded-proto", "")
    last = proto.rpartition(",")[2].strip().lower()
    is_direct = scope.get("scheme") in ("https", "wss")
    return is_direct or (last == "https" and _is_trusted(_peer(scope), trusted))


def _uses_https(scope: Scope) -> bool:
    try:
        return is_https(scope, read_settings().trusted_proxies)
    except CorpusError:  # Every screen reports it.
        return False


class ClientAddress:
    """ASGI middleware that sets the headers of the client's address and of HTTPS, for our own code."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            noted = {ADDRESS_HEADER: _noted_address(scope), HTTPS_HEADER: str(int(_uses_https(scope)))}
            added = [(name.encode(), value.encode()) for name, value in noted.items()]
            names = {name for name, _ in added}
            headers = [(key, value) for key, value in scope["headers"] if key.lower() not in names]
            scope = {**scope, "headers": [*headers, *added]}
        await self._app(scope, receive, send)


def _noted_address(scope: Scope) -> str:
    try:
        return client_address(scope, read_settings().trusted_proxies)
    except CorpusError:  # Every screen reports it.
        return ""


def client_address(scope: Scope, trusted: Proxies) -> str:
    """Return the network that a request comes from, "" without trusted proxies."""
    return source_address(scope, trusted) if trusted else ""


def source_address(scope: Scope, trusted: Proxies) -> str:
    """Return the network that a request comes from in canonical form, "unknown" if it has no valid address.

    It is that of the connection, or the one that trusted proxies forward. IPv6 addresses count per /64, the
    network of one household.
    """
    address = _peer(scope)
    for hop in reversed(",".join(HTTPConnection(scope).headers.getlist("x-forwarded-for")).split(",")):
        if not (hop.strip() and _is_trusted(address, trusted)):
            break
        address = _read_address(hop)
    if address is None:
        return "unknown"
    return str(ip_network(f"{address}/{64 if address.version == 6 else 32}", strict=False))


def _peer(scope: Scope) -> Address | None:
    return _read_address(str((scope.get("client") or ("",))[0]))


def _read_address(text: str) -> Address | None:
    """Parse an address with or without port, brackets and zone; IPv4-mapped IPv6 becomes IPv4."""
    text = text.strip()
    match = _ADDRESS_WITH_PORT.fullmatch(text)
    bare = (match["six"] or match["four"]) if match else text
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return address if isinstance(address, IPv4Address) else address.ipv4_mapped or address


def _is_trusted(address: Address | None, trusted: Proxies) -> bool:
    if address is None:
        return False
    spellings = {address, IPv6Address(f"::ffff:{address}") if address.version == 4 else address}
    return any(spelling in network for spelling in spellings for network in trusted)


def middleware(*programs: Wrapper) -> list[Middleware]:
    """Return the middleware of all requests; `programs`, for API requests, come before those for visitors."""
    visitors = (SameOrigin, ClientAddress, OwnerCookie, UploadGuard)
    parts: tuple[Wrapper, ...] = (SecurityHeaders, *programs, *visitors)
    return [Middleware(part) for part in parts]


def show_script_error(error: Exception) -> bool:
    """Draw a failed screen: the message of our own errors, for others a reference to the log."""
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
