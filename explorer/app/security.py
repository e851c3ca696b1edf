"""Security headers and cookies of every reply; and the page of a failed screen."""

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

# Browsers that came by HTTPS come by nothing else for a year.
HSTS = "max-age=31536000"
_ADDRESS_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>[\d.]+):\d+")
_INLINE_SCRIPT = re.compile(r"<script>(.*?)(?:</script>|\Z)", re.DOTALL)


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
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                if _speaks_https(scope):
                    headers["strict-transport-security"] = HSTS
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class SameOrigin:
    """ASGI middleware that refuses websockets opened by pages of another origin.

    Streamlit compares host names alone, so that a page served at another port of this host may connect, and
    for an unknown name it first asks a public server for this machine's address, in the event loop, for two
    seconds each time. Origins named in `server.corsAllowedOrigins` are allowed as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # An address is known, so that none is asked for.
        net_util._external_ip = "0.0.0.0"  # noqa: S104 - compared with, and Streamlit allows it anyway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not _is_same_origin(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)


def _is_same_origin(headers: Headers) -> bool:
    """Return True if no page opens the connection, or one of this host and port or of an allowed origin."""
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
    """ASGI middleware that gives a browser its token, with the first page it gets without a good one.

    Only with a page: what a page loads is asked for at once, and each reply would bring another token.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookie = await run_in_threadpool(_owed_cookie, scope) if _is_for_page(scope) else ""

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.append("set-cookie", cookie)
                # A proxy must not give one browser's reply to another.
                headers["cache-control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_cookie if cookie else send)


def _is_for_page(scope: Scope) -> bool:
    return scope["type"] == "http" and "text/html" in HTTPConnection(scope).headers.get("accept", "")


def _owed_cookie(scope: Scope) -> str:
    """Return the cookie that a browser lacks, "" for none: its token signed, or a new one."""
    try:
        tokens, is_secure = owner_tokens(), _speaks_https(scope)
    except CorpusError:  # Every screen says so.
        return ""
    cookies = HTTPConnection(scope).cookies
    name, token = cookie_name(is_secure), tokens.of(cookies, is_secure)
    return "" if token and cookies.get(name) == token else owner_cookie(name, token or tokens.new())


def owner_cookie(name: str, token: str) -> str:
    """Return a token as a cookie that no script and no other site's request gets to see."""
    return (
        f"{name}={token}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax"
        f"{'; Secure' if name == HOST_COOKIE else ''}"
    )


def is_https(scope: Scope, trusted: Proxies) -> bool:
    """Return True if the browser speaks HTTPS: to us, or to a proxy that is trusted to tell so."""
    proto = HTTPConnection(scope).headers.get("x-forwarded-proto", "")
    last = proto.rpartition(",")[2].strip().lower()
    is_direct = scope.get("scheme") in ("https", "wss")
    return is_direct or (last == "https" and _is_trusted(_peer(scope), trusted))


def _speaks_https(scope: Scope) -> bool:
    try:
        return is_https(scope, read_settings().trusted_proxies)
    except CorpusError:  # Every screen says so.
        return False


class ClientAddress:
    """ASGI middleware that notes where a request comes from, as far as a trusted proxy tells it, and how."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            noted = {ADDRESS_HEADER: _noted_address(scope), HTTPS_HEADER: str(int(_speaks_https(scope)))}
            own = [(name.encode(), value.encode()) for name, value in noted.items()]
            names = {name for name, _ in own}
            headers = [(key, value) for key, value in scope["headers"] if key.lower() not in names]
            scope = {**scope, "headers": [*headers, *own]}
        await self._app(scope, receive, send)


def _noted_address(scope: Scope) -> str:
    try:
        return client_address(scope, read_settings().trusted_proxies)
    except CorpusError:  # Every screen says so.
        return ""


def client_address(scope: Scope, trusted: Proxies) -> str:
    """Return the address that a request comes from, "" where no proxy is trusted to tell it."""
    return source_address(scope, trusted) if trusted else ""


def source_address(scope: Scope, trusted: Proxies) -> str:
    """Return the network that a request comes from, in one spelling: "unknown" for what is no address.

    It is that of the connection, or what trusted proxies say of it. IPv6 addresses count per /64, the network
    of a household: who has one has all its addresses.
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
    """Return an address with or without port, brackets and zone; one of IPv4 within IPv6 is IPv4's own."""
    text = text.strip()
    found = _ADDRESS_WITH_PORT.fullmatch(text)
    bare = (found["six"] or found["four"]) if found else text
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return address if isinstance(address, IPv4Address) else address.ipv4_mapped or address


def _is_trusted(address: Address | None, trusted: Proxies) -> bool:
    if address is None:
        return False
    spellings = {address, IPv6Address(f"::ffff:{address}") if address.version == 4 else address}
    return any(one in network for one in spellings for network in trusted)


def middleware(*programs: Wrapper) -> list[Middleware]:
    """Return the middleware for requests; `programs` handlers come before those for visitors."""
    parts: tuple[Wrapper, ...] = (
        SecurityHeaders,
        *programs,
        SameOrigin,
        ClientAddress,
        OwnerCookie,
        UploadGuard,
    )
    return [Middleware(part) for part in parts]


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
