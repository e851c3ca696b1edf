"""The HTTP API: answers with their evidence, events, trails, and errors in one form."""

import json
import logging
import shutil
import socket

import pytest

from assistant.trail.comparison_file import comparison_from_json
from assistant.trail.transcript import from_json
from corpus.settings import Settings
from explorer.api.door import ProgramsDoor
from explorer.app.security import middleware
from tests.assistant.asked_questions import NOT_ANSWERED
from tests.explorer.api.conftest import KEY, KEYS, OTHER_KEY, PREFIX, events_of, until
from tests.standin_chat import dropped, silence

BM25, FUSION = "field-notes-retrieval/bm25", "field-notes-retrieval/rank-fusion"
QUESTION = "How does ColBERTv2 compress its token vectors?"


def error_of(response) -> str:
    """Return the code of an error, which has the one form."""
    body = response.json()
    assert set(body) == {"error", "message"} and body["message"].endswith((".", "}"))
    assert "Traceback" not in response.text
    return body["error"]


@pytest.mark.parametrize(
    "keys", ["short", f"{KEY},{KEY}", f"a:{KEY},a:{OTHER_KEY}", f"a:{KEY}:many", f"a:b:{KEY}:1"]
)
def test_keys_that_cannot_be_used_are_named_and_not_shown(api, monkeypatch, keys):
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", keys)
    response = api.get("/collections")
    assert (response.status_code, error_of(response)) == (503, "corpus_unavailable")
    assert "PAPER_TRAIL_API_KEYS" in response.text and KEY not in response.text


def test_a_key_is_asked_for_and_known_and_without_keys_there_is_no_api(program, address, monkeypatch) -> None:
    response = program("").get("/collections")
    assert (response.status_code, error_of(response)) == (401, "key_missing")
    assert response.headers["www-authenticate"] == "Bearer"
    assert error_of(program("no-key-of-anybody").get("/collections")) == "key_unknown"
    assert program(OTHER_KEY).get("/collections").status_code == 200
    assert program("").get("/openapi.json").status_code == 200
    assert program("").get(f"{address}/collection").text == "beyond the door"
    assert program("").get(f"{address}/apiary").text == "beyond the door"
    assert [part.cls for part in middleware(ProgramsDoor)].index(ProgramsDoor) == 1
    monkeypatch.delenv("PAPER_TRAIL_API_KEYS")
    response = program("").get("/collections")
    assert (response.status_code, error_of(response)) == (404, "off")
    assert "PAPER_TRAIL_API_KEYS" in response.json()["message"]


@pytest.mark.parametrize(
    "where", ["?api_key=anything", f"?q={KEY}", f"/{KEY}", f"?q=%{ord(KEY[0]):x}{KEY[1:]}", "?TOKEN=x"]
)
def test_a_key_in_the_address_is_refused_and_in_no_log(api, caplog, where):
    with caplog.at_level(logging.DEBUG):
        response = api.get(f"/collections{where}")
    assert (response.status_code, error_of(response)) == (400, "key_in_address")
    logged = "\n".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("uvicorn", "explorer"))
    )
    assert "400" in logged
    assert KEY not in logged and "anything" not in logged


def test_papers_are_found_and_read_page_by_page_and_nothing_is_kept_that_is_not_to_be(api) -> None:
    found = api.post("/search", json={"query": "rank fusion", "papers": 2, "passages": 1}).json()
    assert [len(paper["hits"]) for paper in found["papers"]] == [1, 1]
    assert found["papers"][0]["paper"]["id"] == FUSION
    first = api.get("/paper", params={"id": FUSION, "count": 3}).json()
    rest = api.get("/paper", params={"id": FUSION, "first": first["next"], "count": 50}).json()
    assert rest["next"] is None
    assert len(first["passages"]) + len(rest["passages"]) == first["total"]
    assert api.get("/writers").json()["writers"][0]["name"] == "extractive"
    assert api.post("/cite", json={"papers": [BM25]}).json()["text"].startswith("@inproceedings")
    asked = api.post("/ask", json={"question": NOT_ANSWERED, "keep": False}).json()
    assert (asked["conversation"], asked["trail"]) == ("", "")
    assert asked["answer"]["refusal"]["nearest"]


def test_an_answer_its_trail_and_a_question_after_it(api, program):
    asked = api.post("/ask", json={"question": QUESTION}).json()
    citations = [
        citation for sentence in asked["answer"]["answer"]["sentences"] for citation in sentence["citations"]
    ]
    assert citations and all(citation["evidence"] in citation["text"] for citation in citations)
    again = {"question": "And what does that cost?", "conversation": asked["conversation"]}
    assert api.post("/ask", json=again).json()["conversation"] == asked["conversation"]
    trail = asked["trail"].removeprefix(PREFIX)
    names = ("json", "md", "html", "docx", "rdf", "bib")
    written = {name: api.get(trail, params={"format": name}) for name in names}
    assert [turn.question for turn in from_json(written["json"].text).turns] == [QUESTION, again["question"]]
    assert written["md"].headers["content-type"].startswith("text/markdown")
    assert written["html"].headers["content-disposition"].startswith("attachment")
    assert written["bib"].text.startswith("@")
    assert written["docx"].content.startswith(b"PK") and "<rdf:RDF" in written["rdf"].text
    for response in (program(OTHER_KEY).get(trail), program(OTHER_KEY).post("/ask", json=again)):
        assert (response.status_code, error_of(response)) == (404, "not_found")
    place = trail.removesuffix("/trail")
    assert program(OTHER_KEY).delete(place).status_code == 404
    assert (api.delete(place).status_code, api.get(trail).status_code) == (204, 404)


@pytest.mark.parametrize(("path", "accept"), [("/ask/events", "*/*"), ("/ask", "text/event-stream")])
def test_events_are_those_of_the_screen_in_their_order(api, path, accept):
    with api.stream("POST", path, json={"question": QUESTION}, headers={"accept": accept}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = events_of(response.iter_lines())
    names = [name for name, _ in events]
    assert [names[0], names[1], names[-2], names[-1]] == ["rewritten", "retrieved", "checking", "answered"]
    assert set(names[2:-2]) == {"written"}
    draft = "".join(data["text"] for name, data in events if name == "written")
    assert draft and events[-1][1]["answer"]["answer"]["text"]


WRONG = [
    (b'{"query": NaN}', 400),
    (b'{"query": "a", "papers": 1e999}', 400),
    (b'{"query": "a", "papers": ' + b"9" * 5000 + b"}", 400),
    (b'{"query": "a", "papers": true}', 400),
    (b'{"query": "a", "limit": 3}', 400),
    (b'{"query": "\\ud800"}', 400),
    (b'{"query": "\xff"}', 400),
    (b'{"query": "a", "scope": {"topics": ["no key"]}}', 400),
    (b'{"query": "a", "scope": {"papers": ["x\\u0000"]}}', 400),
    (b'{"query": "a", "scope": {"papers": ["../../etc/passwd"]}}', 404),
    (b'{"query": "a", "scope": {"collections": ["nowhere"]}}', 404),
    (b"[" * 100_000, 400),
    (b'{"query":', 400),
    (b"", 400),
    (b"{" + b" " * 600_000 + b"}", 413),
]


@pytest.mark.parametrize(("body", "status"), WRONG, ids=lambda body: str(body)[:30])
def test_a_body_that_cannot_be_read_is_refused_in_one_form(api, body, status):
    response = api.post("/search", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status
    error_of(response)


def test_a_body_of_another_type_or_of_unknown_length_is_refused(api) -> None:
    # Regression: a program without the header was told that a dictionary was no valid dictionary.
    response = api.post("/search", content=b'{"query": "BM25"}', headers={"content-type": "text/plain"})
    assert response.status_code == 400
    assert "content-type: application/json" in response.json()["message"]
    pieces = (b" " * 2**16 for _ in range(64))
    response = api.post("/search", content=pieces, headers={"content-type": "application/json"})
    assert (response.status_code, error_of(response)) == (413, "too_large")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "/conversations/..%2f..%2fx/trail", 404),
        ("GET", "/conversations/%00/trail", 400),
        ("GET", "/paper?id=a%00b", 400),
        ("GET", "/paper?id=x&other=1", 400),
        ("GET", "/paper?id=%ff%fe", 404),
        ("GET", "/collections?page=2", 400),
        ("PUT", "/paper", 405),
        ("POST", "/ask", 400),
    ],
)
def test_addresses_that_lead_nowhere_are_refused_in_one_form(api, method, path, status):
    response = api.request(method, path)
    assert response.status_code == status
    error_of(response)
    assert status != 405 or response.headers["allow"] == "GET"


def test_a_question_that_asks_nothing_is_not_taken_and_not_counted(api, monkeypatch):
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", f"counted:{KEY}:1")
    for _ in range(3):
        response = api.post("/ask", json={"question": "Thanks!"})
        assert (response.status_code, error_of(response)) == (422, "not_taken")
    assert error_of(api.post("/ask", json={"question": QUESTION, "writer": "nobody"})) == "not_found"
    assert api.post("/ask", json={"question": NOT_ANSWERED, "keep": False}).status_code == 200
    response = api.post("/ask/events", json={"question": QUESTION})
    assert (response.status_code, error_of(response)) == (429, "too_many_requests")
    assert 0 < int(response.headers["retry-after"]) <= 600


def test_requests_of_a_key_are_counted(api, monkeypatch):
    monkeypatch.setenv("PAPER_TRAIL_API_REQUESTS_PER_TEN_MINUTES", "3")
    answers = [api.get("/collections") for _ in range(4)]
    assert [response.status_code for response in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert "3 requests can be made in 10 minutes" in answers[-1].json()["message"]


def test_what_models_cost_is_limited_for_programs_too(api, writer, monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING", "0.000001")
    server, models = writer(), tmp_path / "models.toml"
    models.write_text(models.read_text() + "price_out = 1.0\n")
    response = api.post("/ask", json={"question": QUESTION, "writer": f"standin-{tmp_path.name}"})
    assert (response.status_code, error_of(response)) == (429, "spending_limit")
    assert server.requests == []


def test_a_model_server_that_dies_is_a_typed_error(api, model):
    model(*[dropped()] * 20)
    asking = {"question": QUESTION, "writer": "standin"}
    response = api.post("/ask", json=asking)
    assert (response.status_code, error_of(response)) == (502, "model_failed")
    model(*[dropped()] * 20)
    with api.stream("POST", "/ask/events", json=asking) as stream:
        events = events_of(stream.iter_lines())
    assert events[-1][0] == "error" and events[-1][1]["error"] == "model_failed"


@pytest.mark.parametrize("path", ["/ask", "/ask/events"])
def test_a_client_that_goes_away_ends_its_work(program, model, address, path):
    server = model(silence(60))
    body = json.dumps({"question": QUESTION, "writer": "standin"})
    head = f"POST {PREFIX}{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(f"{head}{body}".encode())
        until(lambda: len(server.requests) == 1)
        assert program(OTHER_KEY).get("/collections").status_code == 200
        assert server.hang_ups == 0
    until(lambda: server.hang_ups == 1)


def test_a_comparison_is_watched_and_taken_away(api, program):
    wanted = {"papers": [BM25, FUSION], "about": "How lexical and dense retrieval can be combined"}
    begun = api.post("/comparisons", json=wanted)
    place = f"/comparisons/{begun.json()['id']}"
    assert begun.status_code == 202
    with api.stream("GET", f"{place}/events") as stream:
        events = events_of(stream.iter_lines())
    assert events[-1][0] == "compared" and {name for name, _ in events[:-1]} <= {"progress"}
    status = api.get(place).json()
    assert status["state"] == "finished" and status["comparison"]["summary"]["sentences"]
    assert comparison_from_json(api.get(f"{place}/trail").text).paper_ids == (BM25, FUSION)
    assert api.get(f"{place}/trail", params={"format": "bib"}).text.count("@") == 2
    for response in (program(OTHER_KEY).get(place), program(OTHER_KEY).delete(place)):
        assert error_of(response) == "not_found"
    assert api.delete(place).status_code == 204
    assert error_of(api.get(place)) == "not_found"


def test_a_program_asks_its_own_questions_of_each_paper(api):
    wanted = {"papers": [BM25, FUSION], "about": "How to combine them", "questions": ["What is BM25?", " "]}
    place = f"/comparisons/{api.post('/comparisons', json=wanted).json()['id']}"
    until(lambda: api.get(place).json()["state"] == "finished")
    (column,) = api.get(place).json()["comparison"]["columns"]
    assert column["question"] == "What is BM25?" and [cell["label"] for cell in column["cells"]] == [1, 2]
    quote = column["cells"][0]["quotes"][0]
    assert quote["passage"].startswith(f"{BM25}#") and "BM25" in quote["text"]
    assert "What is BM25?" in api.get(f"{place}/trail", params={"format": "csv"}).text
    for questions in (["x" * 301], [f"Is {at}?" for at in range(6)], "What is BM25?", [1]):
        refused = api.post("/comparisons", json={**wanted, "questions": questions})
        assert error_of(refused) == "invalid_request"
    assert error_of(api.post("/comparisons", json={**wanted, "questions": ["?"]})) == "not_taken"


def test_a_comparison_can_be_stopped(api, model):
    model(*[silence(60)] * 10)
    wanted = {"papers": [BM25, FUSION], "about": "How to combine them", "writer": "standin"}
    place = f"/comparisons/{api.post('/comparisons', json=wanted).json()['id']}"
    assert error_of(api.get(f"{place}/trail")) == "not_found"
    assert api.post(f"{place}/stop").json()["state"] in ("stopping", "stopped")
    until(lambda: api.get(place).json()["state"] == "stopped")
    assert api.delete(place).status_code == 204


def test_a_corpus_that_is_published_later_is_seen(api, demo_home, monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    response = api.get("/collections")
    assert (response.status_code, error_of(response)) == (503, "corpus_unavailable")
    shutil.copytree(demo_home / "corpus", tmp_path / "corpus")
    assert len(api.get("/collections").json()["collections"]) == 2


def test_the_key_of_a_program_is_in_no_representation(monkeypatch):
    monkeypatch.setenv("PAPER_TRAIL_API_KEYS", KEYS)
    settings = Settings()
    assert len(settings.api_keys) == 2
    assert KEY not in f"{settings!r} {settings.model_dump_json()}"
