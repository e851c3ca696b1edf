"""The same weights in this process: a question from the terminal, and a reply in a form."""

import json

import pytest

from assistant.comparing.prompted.replies import vote_reply
from assistant.models.local import LocalModel
from assistant.records import Message, Parameters
from assistant.trail.transcript import from_json
from tests.live.shown import check_answer

QUESTION = "When is rank fusion worth it?"
PAPER = "field-notes-retrieval/rank-fusion"


def test_a_model_of_this_machine_answers_from_the_terminal(local_model, environment, run, tmp_path):
    environment["PAPER_TRAIL_LOCAL_MODEL"] = str(local_model)
    trail = tmp_path / "trail.json"
    chosen = ("--generator", local_model, "--max-tokens", 50, "--trail", trail)
    done = run("assistant", "ask", QUESTION, "--paper", PAPER, *chosen, "--json")
    shown = json.loads(done.stdout)
    assert bool(shown["answer"]) != bool(shown["refusal"])
    (turn,) = from_json(trail.read_text(encoding="utf-8")).turns
    assert {call.model for call in turn.calls} == {str(local_model)}
    assert all(0 < call.completion_tokens <= 50 < call.prompt_tokens for call in turn.calls)
    check_answer(turn.answer, turn.evidence)
    assert "1 of 1 turn is equal" in run("assistant", "replay", trail).stdout


@pytest.mark.filterwarnings("ignore")
def test_a_vote_has_its_form_at_the_first_try(local_model):
    model = LocalModel(str(local_model), "Tiny")
    asked = "Draft 1: BM25 counts words. Draft 2: BM25 is old. Which is better? Reply as JSON."
    exchanges = []
    reply = model.reply(
        (Message("system", "You judge drafts."), Message("user", asked)),
        Parameters(temperature=0.0, max_tokens=200),
        vote_reply(2),
        exchanges.append,
    )
    assert reply.model_dump()["choice"] in (1, 2)
    (exchange,) = exchanges
    assert (exchange.completion.finish_reason, exchange.completion.prompt_tokens > 10) == ("stop", True)
