"""The app below the path of a proxy: our own addresses answer there as at the root."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit import config

from explorer.api.door import ProgramsDoor
from explorer.app.base_path import BelowBasePath
from explorer.app.library_export import EXPORT_ROUTE
from explorer.app.security import middleware
from explorer.operating.health import HealthDoor

KEY = "first-key-0123456789"


@pytest.fixture
def below(home: object, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield a function that asks the app below a path, and return status and body."""
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", f"first:{KEY}:0")
    before = config.get_option("server.baseUrlPath")

    def page(_: object) -> PlainTextResponse:
        return PlainTextResponse("the page of the app")

    def export(_: object) -> PlainTextResponse:
        return PlainTextResponse("a zip")

    def ask(base: str, path: str, method: str = "GET") -> tuple[int, str]:
        config.set_option("server.baseUrlPath", base)
        routes = [Route(EXPORT_ROUTE, export), Route("/{path:path}", page)]
        app = Starlette(routes=routes, middleware=middleware(BelowBasePath, HealthDoor, ProgramsDoor))

        async def reply() -> tuple[int, str]:
            transport = httpx.ASGITransport(app)
            headers = {"authorization": f"Bearer {KEY}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://mill.example") as client:
                found = await client.request(method, path, headers=headers)
            return found.status_code, found.text

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, reply()).result()

    yield ask
    config.set_option("server.baseUrlPath", before)


@pytest.mark.parametrize("base", ["papers", "/papers/", "tools/papers", ""])
def test_fault_programs_got_the_page_of_the_app_below_a_path(below: Any, base: str) -> None:
    prefix = f"/{base.strip('/')}" if base else ""
    for start in dict.fromkeys((prefix, "")):
        assert json.loads(below(base, f"{start}/healthz")[1]) == {"status": "alive"}
        assert "status" in json.loads(below(base, f"{start}/readyz")[1])
        status, body = below(base, f"{start}/api/v1/collections")
        assert status == 200
        assert "collections" in json.loads(body)
        assert below(base, f"{start}/library-export/x") == (200, "a zip")


def test_a_path_called_like_ours_works_and_the_api_names_the_path(below: Any) -> None:
    assert json.loads(below("papers", "/papers/api/v1/openapi.json")[1])["servers"] == [{"url": "/papers"}]
    assert "/papers/api/v1/openapi.json lists them" in below("papers", "/papers/api/v1/none")[1]
    assert below("api", "/api/api/v1/collections")[0] == 200
    assert below("api", "/api/v1/collections")[0] == 200


@pytest.mark.parametrize(
    "path", ["/papers/ask", "/papers/apiary", "/papershealthz", "/papers", "/other/healthz"]
)
def test_other_addresses_are_the_apps(below: Any, path: str) -> None:
    assert below("papers", path) == (200, "the page of the app")
