"""The health of a process, and its redirects while it stops, without a server."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.types import Message

from explorer.app.resources import open_library
from explorer.jobs.question import QuestionJob
from explorer.jobs.runner import JobRunner, StoppingError, stopping
from explorer.operating import health
from explorer.operating.health import HealthDoor
from tests.explorer.app.asgi import replied


@pytest.fixture
def told_to_stop() -> Iterator[None]:
    stopping.set()
    yield
    stopping.clear()


def told(path: str) -> tuple[int, dict[str, str]]:
    start, body = replied(HealthDoor, {}, path=path)
    return start["status"], json.loads(body["body"])


def test_it_is_not_ready_before_it_has_loaded_or_without_papers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(health, "_loaded", health.threading.Event())
    status, found = told("/readyz")
    assert (status, found["status"], found["process"]) == (503, "not ready", "starting")
    assert told("/healthz") == (200, {"status": "alive"})
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    health.note_loaded()
    status, found = told("/readyz")
    assert (status, found["corpus"]) == (503, "missing")
    assert str(tmp_path) not in json.dumps(found)


def test_readiness_needs_a_usable_database(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _load()
    assert told("/readyz")[0] == 200
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", "postgresql://someone:hidden@127.0.0.1:1/none")
    _load()
    status, found = told("/readyz")
    assert status == 503
    assert found == {
        "status": "not ready", "process": "ok", "corpus": "ok", "encoder": "ok", "database": "unusable"
    }  # fmt: skip


def test_fault_every_question_for_readiness_encoded_a_text(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _load()
    kind, encoded = type(open_library().encoder), []
    encode = kind.encode_query
    monkeypatch.setattr(kind, "encode_query", lambda own, text: encoded.append(text) or encode(own, text))

    async def ask(times: int, door: HealthDoor) -> list[int]:
        told: list[int] = []

        async def send(message: Message) -> None:
            if "status" in message:
                told.append(message["status"])

        for _ in range(times):
            await door({"type": "http", "path": "/readyz", "headers": []}, None, send)  # type: ignore[arg-type]
        return told

    with ThreadPoolExecutor(1) as thread:
        monkeypatch.setattr(health, "FRESH_SECONDS", 1e9)
        assert thread.submit(asyncio.run, ask(50, HealthDoor(home))).result() == [200] * 50  # type: ignore[arg-type]
        assert len(encoded) == 1
        monkeypatch.setattr(health, "FRESH_SECONDS", 0.0)
        assert thread.submit(asyncio.run, ask(3, HealthDoor(home))).result() == [200] * 3  # type: ignore[arg-type]
    assert len(encoded) == 4, "what is no longer fresh is looked at again"


def _load() -> None:
    open_library().encoder.encode_query("loaded, as when a server has started")
    health.note_loaded()


@pytest.mark.parametrize(
    ("headers", "scope", "status"),
    [
        ({"accept": "text/html,*/*"}, {"path": "/ask"}, 503),
        ({}, {"path": "/_stcore/stream", "type": "websocket", "extensions": {}}, None),
        ({"accept": "image/png"}, {"path": "/media/a.png"}, 204),
        ({"accept": "*/*"}, {"path": "/api/v1/collections"}, 204),
    ],
)
def test_while_it_stops_it_takes_no_newcomers_and_serves_those_it_has(
    told_to_stop: None, headers: dict[str, str], scope: dict[str, str], status: int | None
) -> None:
    sent = replied(HealthDoor, headers, **scope)
    if status is None:
        assert sent[0]["type"].startswith("websocket.")
        assert sent[0].get("status", 503) == 503
    else:
        assert sent[0]["status"] == status
    assert told("/readyz")[1]["process"] == "stopping"


def test_while_it_stops_no_question_is_begun(told_to_stop: None) -> None:
    with pytest.raises(StoppingError, match="being stopped or updated"):
        JobRunner("question", "full").start(QuestionJob("why?"), lambda: iter(()))
