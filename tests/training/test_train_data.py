"""The data command, against a real server: its prompts, what it writes and drops; nothing is asked twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from assistant.prompts.render import load_prompt, no_answer_reason
from corpus.encoders.base import Encoder
from tests.small_corpus import make_paper, write_corpus
from tests.standin_chat import Behaviour, Received, StandinChat, reply
from tests.standin_writer import quote_material, write_documents
from training.__main__ import app
from training.truthreader.documents import read_documents
from training.truthreader.writer import PROMPTS

MODELS = '[[models]]\nid = "m"\nlabel = "M"\nprovider = "openai-compatible"\ncontext = 8192\n'


def environment(tmp_path: Path, url: str) -> dict[str, str]:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    return {"PAPER_TRAIL_MODEL_URL": url, "PAPER_TRAIL_MODELS_FILE": str(models)}


def make(
    tmp_path: Path, documents: Path, server: StandinChat, name: str = "rows", *options: str
) -> tuple[Result, Path]:
    out = tmp_path / f"{name}.jsonl"
    command = ["data", "--documents", str(documents), "--out", str(out), "--model", "m", *options]
    return CliRunner().invoke(app, command, env=environment(tmp_path, server.url)), out


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents.jsonl")


def test_rows_of_every_kind_come_with_counts_and_are_the_same_again(tmp_path: Path, documents: Path) -> None:
    with StandinChat(default=quote_material) as server:
        result, out = make(tmp_path, documents, server, "rows", "--seed", "1")
        assert result.exit_code == 0, result.output
        asked = len(server.requests)
        first = out.read_bytes()
        again, _ = make(tmp_path, documents, server, "rows", "--seed", "1")
        assert len(server.requests) == asked
    assert again.exit_code == 0
    assert out.read_bytes() == first
    rows = read(out)
    counts = json.loads(out.with_suffix(".statistics.json").read_text())
    assert {row["kind"] for row in rows} == {"fact", "summary", "synthesis"}
    assert {row["history_type"] for row in rows} == {"none", "relevant", "irrelevant", "both"}
    assert {"shuffled", "replaced", "omitted", "unanswerable"} == {row["change"] for row in rows}
    assert counts["rows"] == len(rows)
    assert 0.05 <= counts["refusal_share"] <= 0.15
    assert counts["dropped"] == len(read(out.with_suffix(".dropped.jsonl")))
    assert counts["attribution"] == "score"
    assert counts["refusals_explained_by"] == {"model": counts["refusals"]}
    made, paper = zip(*((line["rows"], line["paper"]) for line in counts["table_5"]), strict=True)
    assert (sum(made), paper) == (len(rows), (387, 561, 1482, 897, 3708))
    assert "QA, RefGPT                0                              0   3,708 (zh, en)" in result.output
    # A row is what the product sends, and its labels are given.
    for row in rows:
        system, user, answer = row["messages"]
        assert (system["role"], user["role"], answer["role"]) == ("system", "user", "assistant")
        assert "NO ANSWER:" in system["content"]
        assert ("Earlier turns, oldest first:" not in user["content"]) == (row["history_type"] == "none")
        assert row["is_refusal"] == (no_answer_reason(answer["content"]) is not None)
        for label in row["cited"]:
            assert f"[{label}] ⟦paper {label}⟧" in user["content"]
            assert f"[{label}]" in answer["content"]
        assert all(label <= len(row["papers"]) for label in row["cited"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("This is no JSON.", "asking: malformed reply"),
        ('{"requests": []}', "asking: nothing to ask"),
        ('{"requests": ["Who counted these?", "What do the authors find?"]}', "filtering:"),
    ],
)
def test_what_a_model_writes_badly_is_dropped_with_the_reason(
    tmp_path: Path, documents: Path, text: str, reason: str
) -> None:
    with StandinChat(default=reply(text, text)) as server:
        result, out = make(tmp_path, documents, server, "rows", "--limit", "2")
    assert result.exit_code == 0
    assert read(out) == []
    dropped = read(out.with_suffix(".dropped.jsonl"))
    assert dropped
    assert all(f"{row['step']}: {row['reason']}".startswith(reason) for row in dropped)


def _with(system: str, answer: str):
    """Reply as `quote_material`, but with `answer` where the system prompt begins otherwise."""

    def behave(request: Received) -> Behaviour:
        began = request.body["messages"][0]["content"].startswith(system)
        return reply(answer) if began else quote_material(request)

    return behave


def test_an_instruction_like_an_earlier_one_is_dropped(tmp_path: Path, documents: Path) -> None:
    repeated = '{"requests": ["Compare the survey records of skylarks, mosses and herrings."]}'
    with StandinChat(default=_with("You write instructions", repeated)) as server:
        _, out = make(tmp_path, documents, server)
    proposed = {row["id"] for row in read(out) if row["kind"] == "synthesis" and row["change"] == "shuffled"}
    reasons = [row["reason"] for row in read(out.with_suffix(".dropped.jsonl"))]
    assert (len(proposed), reasons.count("instruction like an earlier one")) == (1, 5)


def test_a_model_attributes_each_sentence_and_what_it_attributes_to_none_is_dropped(
    tmp_path: Path, documents: Path
) -> None:
    options = ("--attribution", "model", "--limit", "4")
    with StandinChat(default=quote_material) as server:
        make(tmp_path, documents, server, "rows", *options)
    counts = json.loads((tmp_path / "rows.statistics.json").read_text())
    assert counts["attribution"] == "model"
    assert counts["citations_per_answer"] >= 1
    with StandinChat(default=_with("You find the papers", '{"papers": [9]}')) as server:
        _, out = make(tmp_path, documents, server, "none", *options)
    assert read(out) == []
    assert {row["step"] for row in read(out.with_suffix(".dropped.jsonl"))} >= {"citing"}


@pytest.mark.parametrize(
    ("explanation", "by"),
    [
        ("They are about surveys of the coast. Nothing is said of the rest.", "model"),
        ("They are about surveys. Professor Zanzibar answered it in 1455.", "wording"),
    ],
)
def test_an_explanation_that_names_what_no_paper_names_gives_way_to_fixed_words(
    tmp_path: Path, documents: Path, explanation: str, by: str
) -> None:
    with StandinChat(default=_with("You tell a reader why", explanation)) as server:
        _, out = make(tmp_path, documents, server)
    refusals = [row for row in read(out) if row["is_refusal"]]
    assert {row["explained_by"] for row in refusals} == {by}
    assert all((explanation in row["messages"][-1]["content"]) == (by == "model") for row in refusals)


def test_killed_at_any_call_it_loses_that_call_alone(tmp_path: Path, documents: Path) -> None:
    held = Behaviour(wait_before=60.0)
    asked: list[str] = []

    def holding(count: int):
        def behave(request: Received) -> Behaviour:
            asked.append(json.dumps(request.body["messages"]))
            return held if len(asked) > count else quote_material(request)

        return behave

    out = tmp_path / "rows.jsonl"
    command = [sys.executable, "-m", "training", "data", "--model", "m"]
    command += ["--documents", str(documents), "--out", str(out)]
    with StandinChat(default=holding(5)) as server:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env=os.environ | environment(tmp_path, server.url), **silent)
        deadline = time.monotonic() + 60
        while len(asked) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    # Half a line is what a kill in the middle of writing leaves.
    with (tmp_path / "rows.calls.jsonl").open("a") as ledger:
        ledger.write('{"key": "ab')
    with StandinChat(default=holding(10_000)) as server:
        result, _ = make(tmp_path, documents, server)
        assert result.exit_code == 0
        straight, alone = make(tmp_path, documents, server, "alone")
    assert straight.exit_code == 0
    assert out.read_bytes() == alone.read_bytes()
    repeated = len(asked) - len(set(asked))
    # All of the second run, and the one that was under way.
    assert repeated == len(set(asked)) + 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ('{"id": "a", "title": "A"}', "line 1: text"),
        ('{"id": "a", "title": "A", "text": "b"}\n' * 2, "earlier line"),
        ("{", "line 1"),
    ],
)
def test_broken_documents_are_named(tmp_path: Path, text: str, said: str) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(text)
    with StandinChat() as server:
        result, _ = make(tmp_path, broken, server)
    assert result.exit_code == 2
    assert said in result.output


def test_a_path_without_documents_is_named(tmp_path: Path) -> None:
    with StandinChat() as server:
        result, _ = make(tmp_path, tmp_path / "nowhere", server)
    assert (result.exit_code, "no documents at" in result.output) == (2, True)


def test_without_a_model_it_says_how_to_have_one(tmp_path: Path, documents: Path) -> None:
    command = ["data", "--documents", str(documents), "--out", str(tmp_path / "rows.jsonl")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "PAPER_TRAIL_MODEL_URL" in result.output


def test_a_home_is_read(tmp_path: Path, encoder: Encoder) -> None:
    owls = {make_paper("c", "owls"): ["Owls hoot.", "They hunt at night."]}
    write_corpus(tmp_path / "home" / "corpus", encoder, owls)
    for path in (tmp_path / "home", tmp_path / "home" / "corpus"):
        ((_, passages),) = read_documents(path)
        assert [passage.text for passage in passages] == ["Owls hoot.", "They hunt at night."]


GOLDEN = Path(__file__).parent / "golden"
GAPS = {
    "fact": ("material",),
    "summary": ("material",),
    "follow_up": ("earlier", "material"),
    "instruction": ("examples", "material"),
    "answer": ("length", "material", "earlier", "request"),
    "refusal": ("papers", "question"),
    "attribution": ("papers", "sentence"),
}


@pytest.mark.parametrize("name", GAPS)
def test_golden_prompt(name: str) -> None:
    messages = load_prompt(name, PROMPTS).render(**{gap: f"<{gap}>" for gap in GAPS[name]})
    text = "".join(f"--- {message.role} ---\n{message.content}\n" for message in messages)
    path = GOLDEN / f"prompt_{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
