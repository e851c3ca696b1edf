"""The base path below which a proxy serves the app (`server.baseUrlPath`), and our own routes below it."""

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send

_OWN = ("/api", "/healthz", "/readyz", "/library-export", "/favicon.png")


def base_path() -> str:
    """Return the path before every address, such as "/papers", "" for none."""
    configured = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{configured}" if configured else ""


class BelowBasePath:
    """ASGI middleware that serves our own routes below the base path as at the root.

    Streamlit handles the base path only for its own routes, and answers ours with the page of the app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = base_path()
        if scope["type"] == "http" and base and scope["path"].startswith(f"{base}/"):
            path = scope["path"].removeprefix(base)
            if any(path == route or path.startswith(f"{route}/") for route in _OWN):
                raw: bytes = scope.get("raw_path") or scope["path"].encode()
                # In place, so that what other middleware removes from the path is in no log of the server.
                scope.update(path=path, raw_path=raw.removeprefix(base.encode()))
                scope["root_path"] = "" if path.startswith(f"{base}/") else base
        await self._app(scope, receive, send)
