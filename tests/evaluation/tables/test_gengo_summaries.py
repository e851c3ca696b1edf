"""The table of summaries: ours beside models, over a stand-in server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from tests.standin_chat import Behaviour, Received, StandinChat, reply

ABSTRACT = (
    "Parsers are slow on long sentences.",
    "In this paper, we propose a parser that reads a sentence from left to right in linear time.",
    "Experiments show that it is twice as fast as chart parsers on news text.",
)
TARGET = "A parser that reads a sentence from left to right in linear time."
ASPECTS = {"challenge": ABSTRACT[0], "approach": ABSTRACT[1], "outcome": ABSTRACT[2]}


def write(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    papers = [
        {
            "id": f"p{at}",
            "split": "dev",
            "title": f"A parser in linear time {at}",
            "source": ABSTRACT,
            "targets": [TARGET],
        }
        for at in range(3)
    ]
    write(tmp_path / "data" / "summaries" / "scitldr.jsonl", *papers)
    told = {"split": "val", "source": {"abstract": ABSTRACT}, "aspects": ASPECTS}
    aclsum = [{"id": f"q{at}", "title": f"A parser in linear time {at}", **told} for at in range(2)]
    write(tmp_path / "data" / "summaries" / "aclsum.jsonl", *aclsum)
    return tmp_path / "data"


def writing(tldr: str = TARGET) -> Callable[[Received], Behaviour]:
    def behave(request: Received) -> Behaviour:
        is_tldr = "The one sentence:" in request.body["messages"][-1]["content"]
        return reply(tldr if is_tldr else json.dumps(ASPECTS))

    return behave


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandinChat]:
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "writer"\nstructured = true\n', encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    with StandinChat(default=writing()) as standin:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", standin.url)
        yield standin


def run(data: Path, *arguments: str) -> dict[str, Any]:
    given = ("--data", str(data), "--out", str(data.parent / "out"), *arguments)
    result = CliRunner().invoke(app, ["table", "gengo-summaries", *given, "--json"])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def test_a_model_is_asked_once_for_each_paper_and_each_set(data: Path, server: StandinChat) -> None:
    row = run(data, "--model", "writer")["measured"][-1]
    assert row["system"] == "writer"
    assert row["figures"]["SciTLDR ROUGE-1"] == pytest.approx(100)
    assert [row["figures"][f"{name} ROUGE-L"] for name in ASPECTS] == pytest.approx([100] * 3)
    assert row["note"] == "3 papers of SciTLDR, 2 of ACLSum"
    asked = len(server.requests)
    assert asked == 3 + 2
    run(data, "--model", "writer", "--limit", "2")
    assert len(server.requests) == asked


def test_a_model_that_writes_nothing_counts_as_wrong_and_is_named(data: Path, server: StandinChat) -> None:
    server.default = writing(tldr=" ")
    row = run(data, "--model", "writer")["measured"][-1]
    assert row["figures"]["SciTLDR ROUGE-1"] == 0
    assert "nothing written for 3 papers, counted as wrong (p0, p1, p2)" in row["note"]
