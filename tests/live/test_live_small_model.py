"""A tiny model that follows instructions, from the terminal: whatever it writes, readers get an answer."""

import json

import pytest

from assistant.trail.comparison_file import comparison_from_json
from assistant.trail.transcript import from_json
from tests.live.shown import check_answer, check_calls

QUESTIONS = (
    "What is BM25F?",
    "Which papers are about combining lexical and dense retrieval?",
    "How does BERTScore differ from MoverScore?",
)
# A small model reads so much in a few seconds.
MOST_PROMPT_TOKENS = 1300
PAPERS = tuple(f"field-notes-retrieval/{name}" for name in ("bm25", "dense-retrieval", "rank-fusion"))


@pytest.fixture
def server(serve):
    return serve(instruct=True)


def test_every_question_that_the_papers_answer_is_answered_with_citations(server, run, tmp_path):
    for number, question in enumerate(QUESTIONS):
        trail = tmp_path / f"{number}.json"
        run("assistant", "ask", question, "--generator", "tiny", "--trail", trail)
        (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
        assert turn.careful and turn.answer.refusal is None
        assert turn.answer.cited_labels and turn.answer.citation_recall == 1.0
        check_calls(turn.calls, server.served)
        check_answer(turn.answer, turn.evidence)
        (call,) = turn.calls
        assert call.prompt_tokens <= MOST_PROMPT_TOKENS
        others = sum(step.seconds for step in turn.seconds if step.step != "write")
        assert others < call.seconds + 5, "what is not the model's own takes about as long at most"
        assert "1 of 1 turn is equal" in run("assistant", "replay", trail).stdout


def test_the_rules_are_read_once_by_the_server(server, run, tmp_path):
    known = []
    for question in QUESTIONS[:2]:
        trail = tmp_path / "trail.json"
        run("assistant", "ask", question, "--generator", "tiny", "--trail", trail)
        (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
        known += [call.cached_tokens or 0 for call in turn.calls]
    assert known[-1] >= 100


def test_what_nobody_told_is_refused_without_a_call(server, run):
    done = run("assistant", "ask", "What is the boiling point of helium?", "--generator", "tiny", "--json")
    assert json.loads(done.stdout)["refusal"]
    assert server.calls == 0


def test_a_comparison_keeps_and_cites_every_paper(server, run, tmp_path):
    trail = tmp_path / "comparison.json"
    asked = (*PAPERS, "--about", "A search engine for a small collection of papers.", "--yes")
    run("assistant", "compare", *asked, "--generator", "tiny", "--samples", 1, "--keep", 1, "--trail", trail)
    comparison = comparison_from_json(trail.read_text(encoding="utf-8"))
    assert comparison.answer.cited_labels == (1, 2, 3)
    assert comparison.answer.citation_recall == 1.0
    assert [made.call.step for made in comparison.calls] == ["compare"] * 3
