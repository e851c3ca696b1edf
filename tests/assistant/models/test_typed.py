"""Replies in a form that code reads, over a real socket."""

import json
import traceback
from contextlib import contextmanager
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from assistant.models.protocol import BadReplyError, ModelError
from assistant.models.together import TogetherModel
from assistant.records import Message, Parameters
from tests.standin_chat import KEY_CANARY, StandinChat, cut_off, refusal, reply


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdict: Literal["yes", "no"]
    score: int = Field(ge=0, le=9)


MESSAGES = (Message("system", "Be brief."), Message("user", "Is it so?"))
GOOD = '{"verdict": "yes", "score": 7}'
PARAMETERS = Parameters()


@contextmanager
def asked(*behaviours, structured=False):
    """Yield the stand-in server and what asks the model behind it for a verdict."""
    with StandinChat(*behaviours) as server:
        model = TogetherModel(
            "m", "M", api_key=KEY_CANARY, base_url=server.url, first_wait=0.01, structured=structured
        )
        try:
            yield server, lambda heard=None: model.reply(MESSAGES, PARAMETERS, Verdict, heard)
        finally:
            model.close()


@pytest.mark.parametrize("text", [GOOD, f"  {GOOD}\n", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```"])
@pytest.mark.parametrize("structured", [False, True])
def test_a_good_reply_is_read(text, structured):
    with asked(reply(text), structured=structured) as (_, ask):
        assert ask() == Verdict(verdict="yes", score=7)


def test_a_server_that_can_is_asked_to_hold_the_model_to_the_schema():
    with asked(reply(GOOD), structured=True) as (server, ask):
        ask()
    body = server.requests[0].body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Verdict", "schema": Verdict.model_json_schema(), "strict": True},
    }
    assert [message["content"] for message in body["messages"]] == ["Be brief.", "Is it so?"]


def test_a_server_that_cannot_is_told_of_the_schema_in_words():
    with asked(reply(GOOD)) as (server, ask):
        ask()
    body = server.requests[0].body
    assert "response_format" not in body
    system, user = (message["content"] for message in body["messages"])
    assert system.startswith("Be brief.\n\nReply with one JSON object")
    assert json.dumps(Verdict.model_json_schema()) in system
    assert user == "Is it so?"


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("It is so [1].", "it is not JSON"),
        ("", "it is empty"),
        ('{"verdict": "yes", "score": 77}', "score: Input should be less than or equal to 9"),
        ('{"verdict": "yes"}', "score: Field required"),
        ('{"verdict": "perhaps", "score": 1}', "verdict: Input should be 'yes' or 'no'"),
        (
            '{"verdict": "yes", "score": 1, "ignore the rules": 1}',
            "the object: Extra inputs are not permitted",
        ),
        ("[]", "the object: Input should be an object"),
        ("NaN" * 1000, "it is not JSON"),
        (GOOD[:-1], "it is not JSON"),
    ],
)
def test_a_bad_reply_is_asked_for_once_more_with_what_is_wrong(bad, problem):
    heard = []
    with asked(reply(bad), reply(GOOD)) as (server, ask):
        assert ask(heard.append) == Verdict(verdict="yes", score=7)
    *before, said, complaint = server.requests[1].body["messages"]
    assert before == server.requests[0].body["messages"]
    assert said == {"role": "assistant", "content": bad.strip() or "(nothing)"}
    assert complaint["role"] == "user"
    assert complaint["content"].startswith(f"Your reply cannot be used: {problem}")
    assert [exchange.completion.text for exchange in heard] == [bad, GOOD]
    assert [[vars_of(message) for message in exchange.messages] for exchange in heard] == [
        request.body["messages"] for request in server.requests
    ]


def vars_of(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


def test_two_bad_replies_are_an_error_that_keeps_them_and_shows_nothing_of_them():
    first, second = f"No {KEY_CANARY}", '{"verdict": "perhaps"}'
    heard = []
    with asked(reply(first), reply(second), reply(GOOD)) as (server, ask):
        with pytest.raises(BadReplyError, match=r"^M did not reply in the form asked for, twice: verdict: "):
            ask(heard.append)
        with pytest.raises(BadReplyError) as caught:
            server.behaviours.clear()
            server.behaviours.extend([reply(first), reply(second)])
            ask()
    assert caught.value.received == (first, second)
    assert len(heard) == 2
    assert "perhaps" not in "".join(traceback.format_exception(caught.value))
    assert KEY_CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_reply_that_broke_off_is_asked_for_once_more():
    with asked(cut_off(GOOD[:12]), reply(GOOD)) as (server, ask):
        assert ask().score == 7
    assert "it ended in the middle" in server.requests[1].body["messages"][-1]["content"]


def test_a_reply_that_ran_out_of_tokens_is_said_so():
    with asked(reply(GOOD[:12], finish_reason="length"), reply(GOOD)) as (server, ask):
        ask()
    assert "it ran out of tokens" in server.requests[1].body["messages"][-1]["content"]


def test_a_busy_server_is_asked_again_and_a_failing_one_is_an_error():
    with asked(refusal(429, retry_after="0"), reply(GOOD), refusal(401, KEY_CANARY)) as (_, ask):
        assert ask().score == 7
        with pytest.raises(ModelError, match="refused the API key") as caught:
            ask()
    assert KEY_CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_reply_of_a_hundred_thousand_characters_is_not_sent_back_whole():
    with asked(reply("", "x" * 100_000), reply(GOOD)) as (server, ask):
        ask()
    assert len(server.requests[1].body["messages"][-2]["content"]) == 4000
