"""Servers that speak the protocol with an accent: fields that they refuse, and streams that end otherwise."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from assistant.models.protocol import ModelError, ModelUnavailableError
from assistant.models.together import TogetherModel
from assistant.records import Message, Parameters
from tests.assistant.models.test_together import MESSAGES, PARAMETERS, ask, ask_scripted, error_of, opened
from tests.standin_chat import KEY_CANARY, Behaviour, Received, StandinChat, refusal, reply

ANSWER = "Quern stones grind barley [1]."


def refusing(*rules: tuple[str, Any], status: int = 400):
    """Return a server that answers once no rule finds a field that it refuses."""

    def answer(request: Received) -> Behaviour:
        for field, words in rules:
            roles = [message["role"] for message in request.body["messages"]]
            if (field in request.body and request.body[field] is not False) or field in roles:
                return refusal(status, words)
        return reply(ANSWER)

    return StandinChat(default=answer)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("stream_options", "stream_options.include_usage: Extra inputs are not permitted"),
        ("stream_options", "json: unknown field `stream_options`, expected one of `model`, `temperature`"),
        ("stream_options", "Extra inputs are not permitted"),
        (
            "temperature",
            "Unsupported value: 'temperature' does not support 0.3, only the default.",
        ),
        ("temperature", "temperature and top_p cannot both be specified for this model"),
        ("top_p", "`top_p` must be left at 1"),
        ("max_tokens", "max_new_tokens must be <= 20"),
        ("system", "'system' is not one of ['user', 'assistant']"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("system", "System role not supported"),
        ("system", "Only user and assistant roles are supported!"),
        ("system", "Developer instruction is not enabled for models/quern-3-1b"),
        ("system", "messages.0.role: Input should be 'user' or 'assistant'"),
        ("stream", "Unsupported value: 'stream' does not support true with this model."),
        ("stream", "Streaming is not supported by this deployment."),
        ("repetition_penalty", "Unknown parameter: repetition_penalty"),
        ("top_k", "{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), 'msg': 'Extra inputs'}"),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_fault_a_field_that_a_server_refuses_ended_every_question(field, words, status):
    parameters = Parameters(temperature=0.3, top_k=4, repetition_penalty=1.1)
    with refusing((field, words), status=status) as server, opened(server.url) as model:
        for requests in (2, 3):
            stream = model.stream(MESSAGES, parameters)
            try:
                while True:
                    next(stream)
            except StopIteration as end:
                completion = end.value
            assert completion.text == ANSWER
            assert len(server.requests) == requests, "what is refused is remembered"
            assert completion.not_taken
            assert completion.attempts == 4 - requests


def test_fault_llama_cpp_fails_on_the_system_role_and_was_asked_the_same_again():
    with refusing(("system", "Jinja Exception: System role not supported"), status=500) as server:
        with opened(server.url) as model:
            assert ask(model)[1].not_taken == ("system role",)
        assert server.requests[1].body["messages"] == [{"role": "user", "content": "Be brief.\n\nWas ist α?"}]


def test_the_limit_of_tokens_is_sent_by_its_other_name():
    with refusing(("max_tokens", "'max_tokens' is not supported")) as server, opened(server.url) as model:
        ask(model)
    assert server.requests[1].body["max_completion_tokens"] == 50


def test_several_fields_are_refused_one_after_the_other():
    rules = [
        ("stream_options", "unknown: stream_options"),
        ("max_tokens", "no max_tokens"),
        ("max_completion_tokens", "no max_completion_tokens"),
        ("temperature", "no temperature"),
    ]
    with refusing(*rules) as server, opened(server.url) as model:
        completion = ask(model)[1]
    assert completion.text == ANSWER
    assert completion.not_taken == ("max_completion_tokens", "max_tokens", "stream_options", "temperature")


def test_a_refusal_that_repeats_the_request_names_no_field_by_that():
    body = {"detail": [{"loc": ["body", "prompt"], "msg": "Field required", "input": {"temperature": 1}}]}
    raw = Behaviour(status=422, message=body)
    error, server = error_of(raw)
    assert len(server.requests) == 1
    assert "body.prompt Field required" in str(error)


def test_a_prompt_too_long_is_not_remembered_as_a_refusal():
    words = "max_tokens is too large: 50. This model's maximum context length is 60 tokens."
    with StandinChat(refusal(400, words), reply(ANSWER), reply(ANSWER)) as server:
        with opened(server.url) as model:
            assert ask(model)[1].text == ask(model)[1].text == ANSWER
        assert "max_tokens" in server.requests[2].body


class Vote(BaseModel):
    choice: int


@pytest.mark.parametrize(
    "words",
    ["response_format is not supported", "'json_schema' type is unavailable now", "Failed to parse grammar"],
)
def test_a_server_that_holds_no_schema_is_told_of_it_in_words(words):
    def answer(request: Received) -> Behaviour:
        return refusal(400, words) if "response_format" in request.body else reply('{"choice": 2}')

    with StandinChat(default=answer) as server:
        model = TogetherModel("m", "M", api_key="k", base_url=server.url, structured=True)
        assert model.reply(MESSAGES, PARAMETERS, Vote).choice == 2
        assert model.reply(MESSAGES, PARAMETERS, Vote).choice == 2
        model.close()
    assert len(server.requests) == 3
    assert '"choice"' in server.requests[1].body["messages"][0]["content"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (503, "Loading model"),
        (503, "The model is still being loaded."),
        (503, "Model quern-7b is not ready yet"),
        (500, "llm server loading model"),
    ],
)
def test_fault_a_model_that_is_being_loaded_was_not_waited_for(status, words):
    loading = [refusal(status, words)] * 5
    _, completion, server = ask_scripted(*loading, reply(ANSWER), timeout=5.0)
    assert completion.text == ANSWER
    assert completion.attempts == len(server.requests) == 6


def test_a_model_that_is_never_loaded_is_told_of_in_its_servers_words():
    started = time.monotonic()
    loading = StandinChat(default=refusal(503, f"Loading model {KEY_CANARY}"))
    with loading, opened(loading.url, 0.6) as model, pytest.raises(ModelUnavailableError) as caught:
        ask(model)
    assert time.monotonic() - started < 10.0
    assert "is still loading its model (HTTP 503): Loading model [key]." in str(caught.value)
    assert "PAPER_TRAIL_MODEL_TIMEOUT" in str(caught.value)


def test_a_model_that_cannot_be_loaded_is_not_waited_for():
    words = "Error loading model: out of memory"
    error, server = error_of(*[refusal(503, words)] * 3)
    assert len(server.requests) == 3
    assert f"failed (HTTP 503): {words}." in str(error)


def test_a_proxys_page_is_not_repeated():
    error, _ = error_of(*[Behaviour(status=502, raw=b"<html>Bad <b>Gateway</b></html>")] * 3)
    assert "failed (HTTP 502). Your question" in str(error)


# Streams


def chunk(content: Any = None, end: Any = None, **more: Any) -> str:
    return json.dumps(
        {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": end}], **more}
    )


def raw(*parts: str | bytes, kind: str = "text/event-stream", ending: Any = "done") -> Behaviour:
    body = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return Behaviour(raw=body, content_type=kind, ending=ending)


def events(*data: str, between: str = "\n\n", name: str = "data: ") -> str:
    return "".join(f"{name}{event}{between}" for event in data)


def message(text: Any, end: Any = "stop", **more: Any) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    return json.dumps({"object": "chat.completion", "choices": [choice], **more})


HALVES = ("Quern stones grind ", "barley [1].")
TWO = tuple(map(chunk, HALVES))
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Is it oats?"}]}
TEXTS = [{"type": "text", "text": half} for half in HALVES]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7}


@pytest.mark.parametrize(
    "body",
    [
        raw(events(*TWO, "[DONE]")),
        raw(events(*TWO, "[DONE]", name="data:")),
        raw(events(*TWO, "[DONE] ")),
        raw(events(*TWO), "data: [DONE]"),
        raw(events(*TWO), "event: done\ndata: {}\n\n"),
        raw(events(*TWO), "[DONE]\n"),
        raw(events(*TWO, chunk("", "stop"))[:-2]),
        raw(events(*TWO, chunk("", "stop"))[:-1]),
        raw(events(*TWO, chunk("", "stop"), between="\n")),
        raw(events(*TWO, "[DONE]", between="\n")),
        raw(events(*TWO, chunk("", "stop"), between="\r\n")),
        raw(events(*TWO, chunk("", "stop"), between="\r\r")),
        raw(b"\xef\xbb\xbf", events(*TWO, "[DONE]")),
        raw(": keep-alive\n\ndata:\n\ndata: null\n\n", events(*TWO, "[DONE]")),
        raw(events(*TWO, "[DONE]"), kind="text/plain; charset=utf-8"),
        raw(events(*TWO, "[DONE]"), kind="application/json"),
        raw(events(*TWO, "[DONE]", name="data: data: ")),
        raw(events(*TWO, chunk("", "stop"), between="\n", name=""), kind="application/x-ndjson"),
        raw(events(*TWO, chunk("", 1))),
        raw(events(*TWO, chunk("", {"type": "stop"}))),
        raw(events(*TWO, chunk("", "eos_token"))),
        raw(events(*TWO, chunk("", "STOP", usage={"prompt_tokens": 1.5, "completion_tokens": "many"}))),
        raw(events(*TWO, chunk("", "stop", usage=[1, 2], timings="quick", model=7))),
        raw(events(*TWO, chunk("", "stop", usage={"prompt_tokens": -1, "prompt_tokens_details": 3}))),
        raw(events(chunk(TEXTS), "[DONE]")),
        raw(events(chunk([THOUGHT]), chunk([THOUGHT, *TEXTS]), "[DONE]")),
        raw(events(chunk(list(HALVES)), "[DONE]")),
        raw(events(chunk({"type": "text", "text": ANSWER}), "[DONE]")),
        raw(message(ANSWER), kind="application/json"),
        raw(message(ANSWER, None), kind="application/json"),
        raw(json.dumps(json.loads(message(TEXTS)), indent=2), kind="application/json"),
        raw(events(message(ANSWER), "[DONE]")),
        raw(events(message(HALVES[0], None), message(ANSWER), "[DONE]")),
        raw(events(message(HALVES[0], None), message(HALVES[1], None), "[DONE]")),
        raw(events(*TWO, message(ANSWER))),
        raw(events('{"choices": [{"text": "Quern stones grind barley [1].", "finish_reason": "stop"}]}')),
        raw(events(*TWO, chunk("", "stop")), ending="socket"),
        raw(events(*TWO, chunk("", "stop"), "{broken")),
    ],
)
@pytest.mark.parametrize("bytes_at_once", [0, 7])
def test_fault_a_whole_stream_was_taken_for_a_broken_one(body, bytes_at_once):
    pieces, completion, server = ask_scripted(replace(body, bytes_at_once=bytes_at_once))
    assert "".join(pieces) == completion.text == ANSWER
    assert (completion.finish_reason, completion.problem) == ("stop", "")
    assert len(server.requests) == 1


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_a_reply_that_is_all_thought_is_whole_and_not_asked_for_again(field: str) -> None:
    thought = json.dumps({"choices": [{"index": 0, "delta": {field: "Is it oats?", "content": ""}}]})
    pieces, completion, server = ask_scripted(raw(events(thought, chunk("", "length"), "[DONE]")))
    assert ("".join(pieces), completion.text, completion.finish_reason) == ("", "", "length")
    assert (completion.attempts, len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [(USAGE, (11, 7)), ({"prompt_tokens": 11.0, "completion_tokens": "7"}, (11, 7)), (None, (None, None))],
)
def test_figures_of_a_reply_are_kept_where_they_are_figures(usage, tokens):
    completion = ask_scripted(raw(events(*TWO, chunk("", "stop", usage=usage))))[1]
    assert (completion.prompt_tokens, completion.completion_tokens) == tokens


@pytest.mark.parametrize("word", ["content_filter", "SAFETY", "PROHIBITED_CONTENT"])
def test_a_content_filter_is_told(word):
    completion = ask_scripted(raw(events(TWO[0], chunk("", word), "[DONE]")))[1]
    assert (completion.text, completion.finish_reason) == ("Quern stones grind ", "content_filter")


@pytest.mark.parametrize("word", ["error", "network_error"])
def test_a_reply_that_its_server_gave_up_is_no_whole_one(word):
    completion = ask_scripted(raw(events(TWO[0], chunk("", word), "[DONE]")))[1]
    assert completion.finish_reason == "interrupted"
    assert f"“{word}”" in completion.problem


@pytest.mark.parametrize("end", [chunk("", "stop"), "[DONE]"])
def test_fault_a_server_that_keeps_the_connection_after_its_reply_was_waited_for(end):
    started = time.monotonic()
    slow = Behaviour(extra_events=(*TWO, end), wait_at_end=30.0)
    completion = ask_scripted(slow, timeout=60.0)[1]
    assert (completion.text, completion.finish_reason) == (ANSWER, "stop")
    assert time.monotonic() - started < 20.0


@pytest.mark.parametrize(
    "body",
    [
        raw(events(*TWO)),
        raw(events(*TWO), 'data: {"choices": [{"delta": {"cont'),
        raw(events(*TWO), ending="socket"),
    ],
)
def test_a_stream_without_an_end_is_still_half_a_reply(body):
    completion = ask_scripted(body)[1]
    assert (completion.text, completion.finish_reason) == (ANSWER, "interrupted")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            raw('{"error": {"message": "quota"}}', kind="application/json"),
            "gave up on the answer: quota.",
        ),
        (raw(events('{"object": "error", "message": "no room"}')), "gave up on the answer: no room."),
        (raw('event: error\ndata: {"message": "no luck"}\n\n'), "gave up on the answer: no luck."),
        (raw('{"greeting": "hello"}', kind="application/json"), "no chat reply"),
        (raw("Service is down", kind="text/plain"), "no chat reply"),
        (raw("[" * 100_000, kind="application/json"), "no chat reply"),
    ],
)
def test_errors_in_a_body_are_told(body, words):
    error, server = error_of(body)
    assert isinstance(error, ModelError)
    assert words in str(error)
    assert len(server.requests) == 1


def test_a_conversation_without_a_system_message_stays_as_it_is():
    with refusing(("system", "System role not supported")) as server, opened(server.url) as model:
        model_reply = model.stream((Message("user", "Oats?"),), PARAMETERS)
        list(model_reply)
    assert len(server.requests) == 1
