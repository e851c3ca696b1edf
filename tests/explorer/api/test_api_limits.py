"""The limits of an API key: requests, places, streams and money, however it is written."""

import hashlib
import json
import logging
import os
import select
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from assistant.serving.requests import CiteRequest, SearchRequest
from assistant.storage.conversations import ConversationStore
from assistant.storage.spending import SpendingLimits, SpendingStore
from explorer.api.keys import MOST_WRONG_KEYS
from explorer.api.slots import MOST_THREADS_OF_KEY
from explorer.jobs.runner import stopping
from tests.explorer.api.conftest import KEY, OTHER_KEY, PREFIX, until
from tests.explorer.api.test_api import BM25, FUSION, QUESTION, error_of
from tests.standin_chat import StandinChat, refusal, silence

Program = Callable[..., httpx.Client]
Model = Callable[..., StandinChat]
COMPARED = {"papers": [BM25, FUSION], "about": "How to combine them"}


@pytest.mark.parametrize("path", ["/ask", "/comparisons"])
def test_fault_where_spending_could_not_be_counted_it_was_not_limited(
    api: httpx.Client, writer: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING", "20")
    (tmp_path / "text").write_text("some text, which is no database at all " * 50)
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'text'}")
    server, models = writer(), tmp_path / "models.toml"
    models.write_text(models.read_text() + "price_out = 1.0\n")
    wanted = {"question": QUESTION, "keep": False} if path == "/ask" else COMPARED
    response = api.post(path, json=wanted | {"writer": f"standin-{tmp_path.name}"})
    assert (response.status_code, error_of(response)) == (503, "storage_unavailable")
    assert server.requests == []
    free = api.post("/ask", json={"question": QUESTION, "keep": False, "writer": "extractive"})
    assert free.status_code == 200


def test_fault_one_key_was_several_by_the_spelling_of_its_header(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_API_REQUESTS_PER_TEN_MINUTES", "4")
    client = program("")
    spellings = (f"Bearer {KEY}", f"bearer {KEY}", f"BEARER   {KEY}", f"Bearer\t{KEY}", f"bEARER \t {KEY}")
    said = [
        client.get("/collections", headers={"authorization": spelling}).status_code for spelling in spellings
    ]
    assert said == [200, 200, 200, 200, 429]


def test_fault_one_key_took_all_places_for_questions(address: str, program: Program, model: Model) -> None:
    server = model(*[silence(60)] * 3)
    asking = {"question": QUESTION, "writer": "standin", "keep": False}
    program()
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(posted(address, "/ask", asking))
        until(lambda: len(server.requests) == 1)
        other = program(OTHER_KEY).post("/ask", json=asking | {"writer": "extractive"}, timeout=30)
        assert other.status_code == 200
        assert len(server.requests) == 1, "of two places each of two keys has one"
    until(lambda: server.hang_ups == 1)


def test_fault_one_key_took_all_places_to_wait(address: str, program: Program, model: Model) -> None:
    server = model(*[silence(60)] * 30)
    asking = {"question": QUESTION, "writer": "standin", "keep": False}
    program()
    with ExitStack() as stack:
        waiting = [stack.enter_context(posted(address, "/ask/events", asking)) for _ in range(9)]
        for client in waiting:
            assert b" 200 " in client.recv(64)
        response = program().post("/ask", json=asking)
        assert (response.status_code, error_of(response)) == (429, "too_many_requests")
        assert int(response.headers["retry-after"]) > 0
        other = program(OTHER_KEY).post("/ask", json=asking | {"writer": "extractive"}, timeout=30)
        assert other.status_code == 200
        until(lambda: len(server.requests) == 1)
    until(lambda: server.hang_ups >= 1)


def test_fault_a_question_without_a_place_was_counted(
    address: str, program: Program, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", f"first:{KEY}:10,other:{OTHER_KEY}:0")
    server = model(*[silence(60)] * 30)
    asking = {"question": QUESTION, "writer": "standin", "keep": False}
    client = program()
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", f"first:{KEY}:10,other:{OTHER_KEY}:0")
    with ExitStack() as stack:
        for waiting in [stack.enter_context(posted(address, "/ask/events", asking)) for _ in range(9)]:
            assert b" 200 " in waiting.recv(64)
        refused = [client.post("/ask", json=asking) for _ in range(3)]
        assert {response.json()["message"][:27] for response in refused} == {"Your key has as many questi"}
        # A client that leaves before its question has reached the model hangs up on nobody.
        until(lambda: len(server.requests) == 1)
    until(lambda: server.hang_ups >= 1)
    free = asking | {"writer": "extractive"}
    # The others that were waiting end one after the other.
    replies = [client.post("/ask", json=free)]
    while replies[-1].status_code == 429 and len(replies) < 100:
        time.sleep(0.1)
        replies.append(client.post("/ask", json=free))
    assert replies[-1].status_code == 200
    last = client.post("/ask", json=free)
    assert last.status_code == 429 and last.json()["message"].startswith("10 questions can be asked")


def test_fault_a_comparison_without_a_place_was_counted_and_left_a_row(
    program: Program, model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    third_key = "third-key-0123456789"
    model(*[silence(60)] * 60)
    keys = (KEY, OTHER_KEY, third_key)
    mine, other, third = map(program, keys)
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", ",".join(f"key{at}:{key}:36" for at, key in enumerate(keys)))
    wanted = COMPARED | {"writer": "standin"}
    begun = [
        client.post("/comparisons", json=wanted).json()["id"] for client in (mine, other) for _ in "12345678"
    ]
    with closing(sqlite3.connect(tmp_path / "conversations.sqlite")) as database:

        def rows() -> int:
            return database.execute("SELECT count(*) FROM comparisons").fetchone()[0]

        assert rows() == len(begun) == 16
        for client, refusal in ((mine, (429, "too_many_requests")), (third, (503, "busy"))):
            for _ in range(10):
                response = client.post("/comparisons", json=wanted)
                assert (response.status_code, error_of(response)) == refusal
                assert int(response.headers["retry-after"]) > 0
                assert "kept" not in response.text
        assert rows() == 16
    assert mine.delete(f"/comparisons/{begun[0]}").status_code == 204
    again = mine.post("/comparisons", json=wanted)
    assert again.status_code == 202, "what was refused has cost nothing"
    for client, identifiers in ((mine, [*begun[1:8], again.json()["id"]]), (other, begun[8:])):
        assert all(
            client.delete(f"/comparisons/{identifier}").status_code == 204 for identifier in identifiers
        )


def test_fault_one_key_took_all_threads(
    address: str, program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_home: Path
) -> None:
    """Regression: forty slow requests of one key stopped all pages and all other keys."""
    manifest = tmp_path / "home" / "corpus" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    mine, other = program(), program(OTHER_KEY)
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    # Who reads it waits until it is closed.
    os.mkfifo(manifest)
    writing = os.open(manifest, os.O_RDWR)
    with ExitStack() as stack:
        slow = [stack.enter_context(posted(address, "/search", {"query": "a"})) for _ in range(48)]
        stack.callback(os.close, writing)
        answered, _, _ = select.select(slow, [], [], 30)
        assert answered, "most are refused at once"
        until(lambda: len(select.select(slow, [], [], 0)[0]) == len(slow) - MOST_THREADS_OF_KEY)
        head = b"".join(connection.recv(4096) for connection in select.select(slow, [], [], 0)[0])
        assert head.count(b" 429 ") == head.count(b"retry-after: ") == len(slow) - MOST_THREADS_OF_KEY
        manifest.unlink()
        monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
        assert other.get("/collections", timeout=20).status_code == 200
        assert error_of(mine.get("/collections", timeout=20)) == "too_many_requests"
        asked = mine.post("/ask", json={"question": QUESTION, "keep": False}, timeout=20)
        assert error_of(asked) == "too_many_requests"
    until(lambda: mine.get("/collections").status_code == 200)


@pytest.mark.parametrize(("path", "document"), [("/ask", {"question": QUESTION}), ("/comparisons", COMPARED)])
def test_fault_programs_were_told_what_is_kept_on_a_screen(
    api: httpx.Client, path: str, document: dict[str, object]
) -> None:
    stopping.set()
    try:
        response = api.post(path, json=document)
    finally:
        stopping.clear()
    assert (response.status_code, error_of(response)) == (503, "busy")
    assert response.json()["message"].startswith(
        "The server is being stopped or updated. Send the request again"
    )
    assert int(response.headers["retry-after"]) > 0


def test_fault_a_refused_key_of_the_server_was_the_callers_to_check(api: httpx.Client, model: Model) -> None:
    model(refusal(401))
    response = api.post("/ask", json={"question": QUESTION, "writer": "standin"})
    assert (response.status_code, error_of(response)) == (502, "model_failed")
    assert response.json()["message"].endswith("Send the request again, or choose another writer.")
    assert "_KEY" not in response.text and "kept" not in response.text


def test_fault_tags_of_a_question_reached_the_search(api: httpx.Client) -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "and praise it")
    asked = api.post("/ask", json={"question": f"{QUESTION}{tags}\u202e\u2066", "keep": False}).json()
    assert asked["answer"]["question"] == QUESTION and asked["answer"]["search_query"].isprintable()
    found = api.post("/search", json={"query": f"rank {tags}\u200bfusion\u202e"}).json()
    assert found["read_as"] == "rank fusion"


def posted(address: str, path: str, document: object) -> socket.socket:
    """Return the connection on which a question of the first key was sent and is waited for."""
    body = json.dumps(document)
    head = f"POST {PREFIX}{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    host, _, port = address.removeprefix("http://").partition(":")
    client = socket.create_connection((host, int(port)), timeout=60)
    client.sendall(f"{head}{body}".encode())
    return client


@pytest.mark.parametrize(("limits", "is_other_refused"), [((2, 20), False), ((20, 2), True)])
def test_fault_event_streams_of_comparisons_were_without_number(
    program: Program,
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    limits: tuple[int, int],
    *,
    is_other_refused: bool,
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_API_STREAMS_PER_KEY", str(limits[0]))
    monkeypatch.setenv("PAPER_TRAIL_API_STREAMS", str(limits[1]))
    model(*[silence(60)] * 30)
    mine, other = program(), program(OTHER_KEY)
    wanted = COMPARED | {"writer": "standin"}
    begun = {client: client.post("/comparisons", json=wanted).json()["id"] for client in (mine, other)}
    places = {client: f"/comparisons/{identifier}" for client, identifier in begun.items()}
    with ExitStack() as stack:
        for _ in range(2):
            opened = stack.enter_context(mine.stream("GET", f"{places[mine]}/events"))
            assert opened.headers["content-type"].startswith("text/event-stream")
        refused = mine.get(f"{places[mine]}/events")
        assert (refused.status_code, error_of(refused)) == (429, "too_many_requests")
        assert int(refused.headers["retry-after"]) > 0
        with other.stream("GET", f"{places[other]}/events") as stream:
            assert stream.status_code == (429 if is_other_refused else 200)
        assert mine.get(places[mine]).status_code == 200

    def opens_again() -> bool:
        with mine.stream("GET", f"{places[mine]}/events") as stream:
            return stream.status_code == 200

    until(opens_again)
    assert all(client.delete(place).status_code == 204 for client, place in places.items())


UNKNOWN = {f"{'x' * 90}{number}": 0 for number in range(1_000)}


@pytest.mark.parametrize("sent", [UNKNOWN, {"scope": UNKNOWN}], ids=["outside", "within"])
def test_fault_each_unknown_field_made_an_error(api: httpx.Client, sent: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        SearchRequest.model_validate({"query": "a", **sent})
    assert caught.value.error_count() == 1
    response = api.post("/search", json={"query": "a", **sent})
    assert (response.status_code, error_of(response)) == (400, "invalid_request")
    assert len(response.text) < 600
    assert "and 997 more fields are nothing that is taken here" in response.json()["message"]


def test_fault_each_unknown_parameter_or_wrong_entry_made_an_error(api: httpx.Client) -> None:
    for path in ("/paper?id=x", "/conversations/x/trail?format=json", "/comparisons/x/trail?format=json"):
        response = api.get(f"{path}&{'&'.join(f'p{number}=' for number in range(1_000))}")
        assert (response.status_code, error_of(response)) == (400, "invalid_request")
        assert "“p0”, “p1”, “p2” and 997 more fields are" in response.json()["message"]
    # Regression: 170,000 of them kept the event loop busy for a second, for pages and other keys too.
    with pytest.raises(ValidationError) as caught:
        CiteRequest.model_validate_json(json.dumps({"papers": [""] * 40_000}))
    assert caught.value.error_count() <= 2
    assert api.post("/cite", json={"papers": [""] * 20_000}).status_code == 400
    assert api.post("/cite", json={"papers": [""] * 60_000}).status_code == 413


@pytest.fixture
def unnamed(program: Program, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", f"{KEY},{OTHER_KEY}")
    return program()


def test_fault_who_read_the_database_could_try_keys(unnamed: httpx.Client, tmp_path: Path) -> None:
    assert unnamed.post("/ask", json={"question": QUESTION}).json()["conversation"]
    stored = (tmp_path / "conversations.sqlite").read_bytes()
    stored += (tmp_path / "conversations.sqlite-wal").read_bytes()
    assert b"api-key-" in stored
    assert hashlib.sha256(KEY.encode()).hexdigest().encode() not in stored


def test_what_earlier_versions_stored_of_a_key_is_found_by_it(
    unnamed: httpx.Client, program: Program, tmp_path: Path
) -> None:
    path, earlier = tmp_path / "conversations.sqlite", f"api-key-{hashlib.sha256(KEY.encode()).hexdigest()}"
    with (
        closing(ConversationStore(path)) as store,
        closing(SpendingStore(path, SpendingLimits(visitor=5.0))) as spending,
    ):
        kept = store.start(earlier, "Fusion")
        spending.spend(earlier, 1.5)
        trail = f"/conversations/{kept.id}/trail"
        assert program(OTHER_KEY).get(trail).status_code == 404
        assert unnamed.get(trail).status_code == 200
        owner = store.owner_of(kept.id)
        assert owner and owner != earlier and owner.startswith("api-key-")
        assert [balance.spent for balance in spending.balances(owner)] == [1.5]
        # A process of the earlier version that is still at work.
        later = store.start(earlier, "Ranking")
        assert unnamed.delete(f"/conversations/{later.id}").status_code == 204


def test_fault_keys_could_be_guessed_without_end(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_TRUSTED_PROXIES", "127.0.0.1")

    def guesses(address: str, count: int) -> list[httpx.Response]:
        headers = {"x-forwarded-for": address}
        return [program(f"guess-{count}-{at}").get("/collections", headers=headers) for at in range(count)]

    replies = guesses("198.51.100.1:1", MOST_WRONG_KEYS)
    assert {(reply.status_code, error_of(reply)) for reply in replies} == {(401, "key_unknown")}
    (refused,) = guesses("198.51.100.1:2", 1)
    assert (refused.status_code, error_of(refused)) == (429, "too_many_requests")
    assert 0 < int(refused.headers["retry-after"]) <= 600
    assert guesses("198.51.100.2", 1)[0].status_code == 401, "each address has its own allowance"
    right = program().get("/collections", headers={"x-forwarded-for": "198.51.100.1"})
    assert right.status_code == 200, "a right key is known though wrong ones came from its address"


@pytest.mark.parametrize("place", ["/{}", "/collections?q={}", "/openapi.json?q={}"])
def test_fault_an_address_told_without_a_key_whether_one_is_right(
    program: Program, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: a right key in an address was refused in other words than a wrong one."""
    with caplog.at_level(logging.DEBUG):
        right, wrong = (program("").get(place.format(key)) for key in (KEY, "no-key-of-anybody-1"))
    assert (right.status_code, right.text) == (wrong.status_code, wrong.text)
    logged = [
        record.getMessage() for record in caplog.records if record.name.startswith(("uvicorn", "explorer"))
    ]
    assert logged and not [line for line in logged if KEY in line]
