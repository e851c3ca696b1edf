"""The API on a real socket in this process: settings are those of each test."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from explorer.api.door import ProgramsDoor

KEY, OTHER_KEY = "first-key-0123456789", "other-key-9876543210"
KEYS = f"first:{KEY}:0,other:{OTHER_KEY}:0"
PREFIX = "/api/v1"


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the API before an application that says what it was asked; return its address."""
    beyond = PlainTextResponse("beyond the door")
    # The log of requests is on: nothing may stand in it that should not.
    config = uvicorn.Config(ProgramsDoor(beyond), log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def program(
    address: str, home: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., httpx.Client]]:
    """Yield a function that opens a client with a key, "" for none."""
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", KEYS)
    monkeypatch.setenv("PAPER_TRAIL_API_REQUESTS_PER_TEN_MINUTES", "0")
    clients: list[httpx.Client] = []

    def opened(key: str = KEY) -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        clients.append(httpx.Client(base_url=address + PREFIX, headers=headers, timeout=120))
        return clients[-1]

    yield opened
    for client in clients:
        client.close()


@pytest.fixture
def api(program: Callable[..., httpx.Client]) -> httpx.Client:
    return program()


def events_of(lines: Iterator[str]) -> list[tuple[str, dict]]:
    """Return the events of a stream: names and data."""
    events, name = [], ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            events.append((name, json.loads(value)))
    return events


def until(is_so: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_so()
