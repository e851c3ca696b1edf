"""The real app with its log in JSON and its metrics on: what is told, and that nobody's words are in it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from deployment.site import free_ports
from tests.served_site import NGINX, Served, served, until
from tests.standin_chat import Received, StandinChat, refusal, reply

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")
CANARY = "zanzibarcanary"
KEY = "figures-test-0123456789"
QUESTION = f"How do BM25 and dense retrieval compare, {CANARY}?"


def play_model(request: Received) -> object:
    """Play a model that repeats what it was asked, or refuses it with the question in its message."""
    asked = request.body["messages"][-1]["content"]
    if "collapsar" in asked:
        return refusal(400, f"this cannot be answered: {CANARY}")
    return reply(f"BM25 ranks passages by weighted words [1]. {CANARY}.")


@pytest.fixture(scope="module")
def metrics() -> str:
    return f"127.0.0.1:{free_ports(1)[0]}"


@pytest.fixture(scope="module")
def site(demo_home: Path, metrics: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("site")
    models = folder / "models.toml"
    models.write_text('[[models]]\nid = "standin"\nlabel = "Stand-in"\ncontext = 32768\n')
    with StandinChat(default=play_model) as model:
        settings = {
            "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{folder / 'conversations.sqlite'}",
            "PAPER_TRAIL_API_KEYS": f"tests:{KEY}:0",
            "PAPER_TRAIL_MODEL_URL": model.url,
            "PAPER_TRAIL_MODELS_FILE": str(models),
            "PAPER_TRAIL_LOG": "json",
            "PAPER_TRAIL_METRICS": metrics,
        }
        with served(demo_home, folder, processes=1, **settings) as site:
            _use(site)
            yield site


def _use(site: Served) -> None:
    """Ask, fail, be refused and be let in nowhere, each time with the canary in it."""
    with httpx.Client(base_url=f"{site.address}/api/v1", timeout=120) as api:
        assert api.post("/ask", json={"question": QUESTION}).status_code == 401
        api.headers["authorization"] = f"Bearer {KEY}"
        statuses = [
            api.post("/ask", json={"question": QUESTION}).status_code,
            api.post("/ask", json={"question": f"Which {CANARY} lives in Madagascar?"}).status_code,
            api.post("/ask", json={"question": QUESTION, "writer": "standin"}).status_code,
            api.post("/ask", json={"question": f"{QUESTION} A collapsar?", "writer": "standin"}).status_code,
            api.post("/ask", json={CANARY: CANARY}).status_code,
            api.get(f"/conversations/{CANARY}/trail").status_code,
            api.post("/search", json={"query": CANARY}).status_code,
        ]
    assert statuses == [200, 200, 200, 502, 400, 404, 200]
    upload = httpx.put(f"{site.address}/_stcore/upload_file/{CANARY}/1", content=CANARY.encode())
    assert upload.status_code == 403
    page = httpx.get(f"{site.address}/ask?question={CANARY}", headers={"accept": "text/html"})
    assert page.status_code == 200
    broken = httpx.post(f"{site.address}/_stcore/stream?{CANARY}", content=b"\xff" + CANARY.encode())
    assert broken.status_code >= 400


@pytest.fixture(scope="module")
def figures(site: Served, metrics: str) -> dict[str, float]:
    told = httpx.get(f"http://{metrics}/metrics").text
    assert CANARY not in told
    assert KEY not in told
    rows = (line.rpartition(" ") for line in told.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in rows}


def test_work_requests_uploads_corpus_and_process_are_counted(figures: dict[str, float]) -> None:
    work = {
        tuple(re.findall(r'"([^"]*)"', name)): count
        for name, count in figures.items()
        if name.startswith("paper_trail_work_total")
    }
    assert work["program_question", "failed", ""] == 1
    assert sum(count for (_, outcome, _), count in work.items() if outcome in ("answered", "refused")) == 3
    refused = {reason for _, outcome, reason in work if outcome == "refused"}
    assert refused
    assert "" not in refused
    assert figures['paper_trail_work_seconds_count{kind="program_question"}'] == 3
    assert figures['paper_trail_first_words_seconds_count{kind="program_question"}'] >= 1
    assert figures['paper_trail_model_call_seconds_count{outcome="failed"}'] >= 1
    assert figures['paper_trail_model_call_seconds_count{outcome="complete"}'] >= 1
    requests = 'paper_trail_api_request_seconds_count{operation="%s",status="%d"}'
    assert figures[requests % ("post_ask", 200)] == 3
    assert figures[requests % ("post_ask", 502)] == 1
    assert figures[requests % ("refused", 401)] == 1
    assert figures[requests % ("get_conversation_trail", 404)] == 1
    assert figures['paper_trail_uploads_total{outcome="refused"}'] == 1
    assert figures["paper_trail_corpus_papers"] == 16
    assert figures["paper_trail_sessions"] == 0
    assert figures["process_resident_memory_bytes"] > 100e6
    assert figures["process_cpu_seconds_total"] > 0


def test_metrics_are_apart_and_the_log_is_lines_of_json_without_anybodys_words(
    site: Served, figures: object
) -> None:
    assert httpx.get(f"{site.address}/metrics").status_code == 404
    assert "paper_trail_work" not in httpx.get(f"{site.addresses['p1']}/metrics").text
    until(lambda: '"api_request_over"' in site.log.read_text())
    written = site.log.read_text()
    for secret in (CANARY, KEY, "paper_trail_owner"):
        assert secret not in written
    lines = [json.loads(line) for line in written.splitlines()]
    assert all(line["time"] and line["level"] and line["event"] for line in lines)
    outcomes = [line["outcome"] for line in lines if line["event"] == "work_over"]
    assert len(outcomes) == 4
    assert "failed" in outcomes
    (over, *_) = (line for line in lines if line["event"] == "work_over")
    assert over["kind"] == "program_question"
    assert over["seconds"] > 0
    assert re.fullmatch(r"[0-9a-f]{12}", over["job"])
    assert any(line["event"] == "process" and line["state"] == "loaded" for line in lines)
