"""The path below which a proxy serves the app (`server.baseUrlPath`), and our own addresses below it."""

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send

_OWN = ("/api", "/healthz", "/readyz", "/library-export", "/favicon.png")


def base_path() -> str:
    """Return the path before every address, such as "/papers", "" for none."""
    given = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{given}" if given else ""


class BelowBasePath:
    """ASGI middleware that answers our own addresses below the base path as at the root.

    Streamlit knows only its own: it answered ours with the page of the app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = base_path()
        if scope["type"] == "http" and base and scope["path"].startswith(f"{base}/"):
            path = scope["path"].removeprefix(base)
            if any(path == own or path.startswith(f"{own}/") for own in _OWN):
                raw: bytes = scope.get("raw_path") or scope["path"].encode()
                # In place: what is taken out of an address later is to stand in no log of the server.
                scope.update(path=path, raw_path=raw.removeprefix(base.encode()))
                scope["root_path"] = "" if path.startswith(f"{base}/") else base
        await self._app(scope, receive, send)
