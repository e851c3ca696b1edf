"""Questions written beforehand, asked of the demonstration by the command, without a model."""

import json
from pathlib import Path

from evaluation.answers.judge import is_answer, read_systems, writers
from tests.evaluation.commands import figures, figures_in, invoke, write_lines
from tests.evaluation.conftest import Serve
from tests.standin_chat import reply

BM25 = "field-notes-retrieval/bm25"
ROUGE = "field-notes-evaluation/rouge"
DEV = {"part": "dev", "corpus": "demo"}
PARAMETERS = {
    "id": "parameters",
    "question": "What do the parameters k1 and b of BM25 control?",
    **DEV,
    **{"expect": "answer", "expected_papers": [BM25], "kind": "fact"},
}
CLICKBAIT = {
    "id": "clickbait",
    "question": "How can clickbait headlines be spoiled?",
    **DEV,
    **{"expect": "refuse", "expected_papers": [], "kind": "how"},
}
FOLLOW_UP = {
    "id": "follow-up",
    "question": "What errors can it not see?",
    "history": ["What does ROUGE measure?"],
    **{"paper": ROUGE, "collection": "field-notes-evaluation", "part": "kept", "corpus": "demo"},
    **{"expect": "answer", "expected_papers": [ROUGE], "kind": "list"},
}
ELSEWHERE = {**CLICKBAIT, "id": "elsewhere", "collection": "2022.acl-long", "corpus": "acl2022"}


def test_questions_are_asked_in_their_conversation_counted_and_written_out(demo_home: Path, tmp_path: Path):
    data = write_lines(tmp_path / "questions.jsonl", PARAMETERS, CLICKBAIT, FOLLOW_UP, ELSEWHERE)
    answers = tmp_path / "answers.jsonl"
    done = invoke(
        "questions", "--data", data, "--corpus", demo_home, "--out", answers, "--corpus-name", "demo"
    )
    found = figures_in(done)
    assert found["questions"] == 3
    assert found["answered"] == found["expected_found"] == found["expected_cited"] == 1.0
    assert (found["refused_wrongly"], found["refused_rightly"]) == (0.0, 1.0)
    assert found["seconds_median"] > 0
    assert set(found["kinds"]) == {"list", "fact", "how"}
    assert "3 questions" in done.stdout

    parameters, clickbait, follow_up = map(json.loads, answers.read_text().splitlines())
    assert parameters["found"][0] == BM25
    assert BM25 in parameters["cited"]
    assert "[1]" in parameters["text"]
    assert parameters["refusal"] is parameters["refusal_reason"] is None
    assert clickbait["refusal_reason"] == "not_about"
    assert clickbait["refusal"]
    assert clickbait["cited"] == []
    # "it" is resolved from the question before; a single paper is searched.
    assert "ROUGE" in follow_up["search_query"]
    assert follow_up["found"] == follow_up["cited"] == [ROUGE]


def test_trails_are_kept_for_a_judge(demo_home: Path, tmp_path: Path, serve: Serve):
    data, kept = (
        write_lines(tmp_path / "questions.jsonl", PARAMETERS, CLICKBAIT, FOLLOW_UP),
        tmp_path / "kept",
    )
    asked = ["questions", "--data", data, "--corpus", demo_home]
    figures(*asked, "--trails", kept / "extractive")
    server = serve(lambda _: reply("BM25 saturates by k1 and b [1]."))
    figures(*asked, "--generator", "writer", "--trails", kept / "writer")
    assert server.requests
    systems = read_systems([str(kept / "extractive"), str(kept / "writer")])
    assert {name: writers(turns) for name, turns in systems.items()} == {
        name: {name} for name in ("extractive", "writer")
    }
    # The question before the follow-up is one of its own.
    extractive, writer = systems.values()
    assert len(extractive.keys() & writer.keys()) == len(extractive) == len(writer) == 4
    refused = {question.question for question, turn in extractive.items() if not is_answer(turn)}
    assert refused == {CLICKBAIT["question"]}
    nobody = invoke(*asked, "--generator", "nobody")
    assert (nobody.exit_code, "no writer 'nobody'" in nobody.stderr) == (2, True)
