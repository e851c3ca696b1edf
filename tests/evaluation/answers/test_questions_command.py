"""Questions written beforehand, asked of the demonstration by the command, without a model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.answers.judge import asked_of_all, is_answer, not_asked_of_all, read_systems
from tests.standin_chat import StandinChat, reply

BM25 = "field-notes-retrieval/bm25"
ROUGE = "field-notes-evaluation/rouge"
PARAMETERS = {
    "id": "parameters",
    "question": "What do the parameters k1 and b of BM25 control?",
    "expect": "answer",
    "expected_papers": [BM25],
    "kind": "fact",
    "part": "dev",
    "corpus": "demo",
}
CLICKBAIT = {
    "id": "clickbait",
    "question": "How can clickbait headlines be spoiled?",
    "expect": "refuse",
    "expected_papers": [],
    "kind": "how",
    "part": "dev",
    "corpus": "demo",
}
FOLLOW_UP = {
    "id": "follow-up",
    "question": "What errors can it not see?",
    "history": ["What does ROUGE measure?"],
    "paper": ROUGE,
    "collection": "field-notes-evaluation",
    "expect": "answer",
    "expected_papers": [ROUGE],
    "kind": "list",
    "part": "kept",
    "corpus": "demo",
}
ELSEWHERE = {**CLICKBAIT, "id": "elsewhere", "collection": "2022.acl-long", "corpus": "acl2022"}


def written(folder: Path, *lines: object) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    return file


def test_questions_are_asked_in_their_conversation_counted_and_written_out(demo_home: Path, tmp_path: Path):
    data = written(tmp_path, PARAMETERS, CLICKBAIT, FOLLOW_UP, ELSEWHERE)
    answers = tmp_path / "answers.jsonl"
    asked = ["questions", "--data", str(data), "--corpus", str(demo_home), "--out", str(answers)]
    done = CliRunner().invoke(app, [*asked, "--corpus-name", "demo"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["questions"] == 3
    assert figures["answered"] == figures["expected_found"] == figures["expected_cited"] == 1.0
    assert (figures["refused_wrongly"], figures["refused_rightly"]) == (0.0, 1.0)
    assert figures["seconds_median"] > 0
    assert set(figures["kinds"]) == {"list", "fact", "how"}
    assert "3 questions" in done.stdout

    parameters, clickbait, follow_up = map(json.loads, answers.read_text().splitlines())
    assert parameters["found"][0] == BM25
    assert BM25 in parameters["cited"]
    assert "[1]" in parameters["text"]
    assert parameters["refusal"] is parameters["refusal_reason"] is None
    assert clickbait["refusal_reason"] == "not_about"
    assert clickbait["refusal"]
    assert clickbait["cited"] == []
    # What was asked before is what "it" is, and one paper alone is asked.
    assert "ROUGE" in follow_up["search_query"]
    assert follow_up["found"] == follow_up["cited"] == [ROUGE]


def test_trails_are_kept_for_a_judge(demo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data, kept = written(tmp_path, PARAMETERS, CLICKBAIT, FOLLOW_UP), tmp_path / "kept"
    asked = ["questions", "--data", str(data), "--corpus", str(demo_home)]
    done = CliRunner().invoke(app, [*asked, "--trails", str(kept / "extractive")])
    assert done.exit_code == 0, done.output
    with StandinChat(default=reply("BM25 saturates by k1 and b [1].")) as server:
        models = tmp_path / "models.toml"
        models.write_text('[[models]]\nid = "writer"\ncontext = 32768\n', encoding="utf-8")
        monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        done = CliRunner().invoke(app, [*asked, "--generator", "writer", "--trails", str(kept / "writer")])
        assert done.exit_code == 0, done.output
        assert server.requests
    systems = read_systems([str(kept / "extractive"), str(kept / "writer")])
    assert [one.writers for one in systems] == [{"extractive"}, {"writer"}]
    # The question before the follow-up is one of its own.
    assert len(asked_of_all(systems)) == 4
    assert not_asked_of_all(systems) == {}
    refused = {one.question.question for one in asked_of_all(systems) if not is_answer(one.turns[0])}
    assert refused == {CLICKBAIT["question"]}
    nobody = CliRunner().invoke(app, [*asked, "--generator", "nobody"])
    assert (nobody.exit_code, "no writer 'nobody'" in nobody.stderr) == (2, True)
