"""Questions to a real model server, from the terminal: its words are rubbish, what is made of them is not."""

import json
import signal

import pytest

from assistant.trail.transcript import from_json
from tests.live.model_server import wait_until
from tests.live.shown import check_answer, check_calls

QUESTION = "When is rank fusion worth it?"
PAPER = "field-notes-retrieval/rank-fusion"
# Of ChatML, which the server takes where weights bring no template, its marks come as text.
TEMPLATES = ("", "plain", "no_system")


@pytest.fixture
def ask(run):
    def asked(*arguments, status=0):
        return run("assistant", "ask", *arguments, "--generator", "tiny", status=status)

    return asked


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_answer_is_checked_and_its_trail_replays_equal(serve, ask, run, tmp_path, template):
    server, trail = serve(template), tmp_path / "trail.json"
    done = ask(QUESTION, "--paper", PAPER, "--trail", trail, "--json")
    shown = json.loads(done.stdout)
    assert bool(shown["answer"]) != bool(shown["refusal"])
    (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
    assert len(turn.calls) == server.calls
    check_calls(turn.calls, server.served)
    check_answer(turn.answer, turn.evidence)
    assert "1 of 1 turn is equal" in run("assistant", "replay", trail).stdout


def test_three_turns_are_one_conversation_that_replays_equal(serve, ask, run, tmp_path):
    server, trail = serve("plain"), tmp_path / "trail.json"
    begun = json.loads(ask(QUESTION, "--paper", PAPER, "--conversation", "new", "--json").stdout)
    for follow_up in ("What are its limitations?", "And on long queries?"):
        ask(follow_up, "--paper", PAPER, "--conversation", begun["conversation"], "--trail", trail)
    turns = from_json(trail.read_text(encoding="utf-8")).turns
    assert [turn.question for turn in turns] == [
        QUESTION,
        "What are its limitations?",
        "And on long queries?",
    ]
    assert sum(len(turn.calls) for turn in turns) == server.calls
    for turn in turns:
        check_calls(turn.calls, server.served)
        check_answer(turn.answer, turn.evidence)
    assert all(QUESTION in call.messages[-1].content for turn in turns for call in turn.calls)
    assert "3 of 3 turns are equal" in run("assistant", "replay", begun["conversation"]).stdout


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_question_that_is_stopped_frees_the_server_and_keeps_nothing(serve, begin, run, by):
    server = serve("plain")
    asked = (QUESTION, "--paper", PAPER, "--query", "rank fusion", "--conversation", "new")
    with begin("assistant", "ask", *asked, "--generator", "tiny", "--max-tokens", 2000) as process:
        assert wait_until(lambda: server.written() > 5, 240), process.poll()
        process.send_signal(by)
        out, err = process.communicate(timeout=30)
    assert wait_until(server.is_idle, 10)
    assert process.returncode == (130 if by == signal.SIGINT else -by)
    assert out == ""
    assert "Traceback" not in err
    assert QUESTION not in run("assistant", "conversations", "list").stdout


def test_more_papers_than_the_context_are_left_out_and_the_trail_says_which(serve, ask, tmp_path):
    server, trail = serve("plain", context=2048), tmp_path / "trail.json"
    ask(QUESTION, "--papers", 8, "--trail", trail)
    (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
    written = next(call for call in turn.calls if call.step == "write")
    sent = written.messages[-1].content
    given = {passage.id: passage.text for paper in turn.evidence.papers for passage in paper.passages}
    assert 0 < len(written.left_out) < len(given)
    assert written.prompt_tokens + written.parameters.max_tokens <= 2048
    assert len(turn.calls) == server.calls
    assert any(text in sent for name, text in given.items() if name not in written.left_out)
    assert not any(text in sent for name, text in given.items() if name in written.left_out)
    check_answer(turn.answer, turn.evidence)


def test_a_server_that_takes_less_than_the_models_file_says_is_named_with_both_figures(serve, ask, tmp_path):
    serve("plain", context=2048, believed=8192)
    done = ask(QUESTION, "--papers", 8, "--trail", tmp_path / "trail.json", status=2)
    assert done.stdout == ""
    assert "exceeds the available context size (2048 tokens)" in done.stderr
    assert not (tmp_path / "trail.json").exists()


def test_a_server_that_dies_in_its_reply_leaves_what_came_and_says_so(serve, begin, tmp_path):
    server, trail = serve("plain"), tmp_path / "trail.json"
    asked = (QUESTION, "--paper", PAPER, "--query", "rank fusion", "--trail", trail)
    with begin("assistant", "ask", *asked, "--generator", "tiny", "--max-tokens", 2000) as process:
        assert wait_until(lambda: server.written() > 20, 240), process.poll()
        server.kill()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "The reply ended in the middle" in err
    (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
    assert turn.calls[-1].finish_reason == "interrupted"
    assert turn.calls[-1].problem
    check_answer(turn.answer, turn.evidence)
