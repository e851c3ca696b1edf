import json
import logging
import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import BaseModel

from assistant.models.arriving import LONGEST_REPLY
from assistant.models.protocol import Completion, ModelError, ModelUnavailableError, whole
from assistant.models.together import Patience, TogetherModel
from assistant.records import Message, Parameters
from tests.standin_chat import (
    KEY_CANARY,
    Behaviour,
    StandinChat,
    cut_off,
    dropped,
    malformed,
    refusal,
    reply,
    silence,
)

MESSAGES = (Message("system", "Be brief."), Message("user", "Was ist α?"))
PARAMETERS = Parameters(temperature=0.3, top_p=0.8, max_tokens=50)


@contextmanager
def opened(url: str, timeout: float = 2.0, key: str = KEY_CANARY) -> Iterator[TogetherModel]:
    model = TogetherModel(
        "some/model", "Some", api_key=key, base_url=url, patience=Patience(timeout, timeout), first_wait=0.01
    )
    try:
        yield model
    finally:
        model.close()


def ask(model: TogetherModel) -> tuple[list[str], Completion]:
    """Return the pieces of one reply, without those that only say that it is awaited, and the whole."""
    pieces = []
    stream = model.stream(MESSAGES, PARAMETERS)
    while True:
        try:
            if piece := next(stream):
                pieces.append(piece)
        except StopIteration as end:
            return pieces, end.value


def ask_scripted(*behaviours: Behaviour, timeout: float = 2.0) -> tuple[list[str], Completion, StandinChat]:
    with StandinChat(*behaviours) as server, opened(server.url, timeout) as model:
        return *ask(model), server


def error_of(*behaviours: Behaviour, timeout: float = 2.0) -> tuple[ModelError, StandinChat]:
    with (
        StandinChat(*behaviours) as server,
        opened(server.url, timeout) as model,
        pytest.raises(ModelError) as caught,
    ):
        ask(model)
    return caught.value, server


def test_streams_a_reply_and_returns_it_whole():
    pieces, completion, server = ask_scripted(reply("The mean is 3 [1]."))
    assert len(pieces) > 3
    assert "".join(pieces) == completion.text == "The mean is 3 [1]."
    assert completion == Completion("The mean is 3 [1].", "stop", 11, 7)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY_CANARY}"
    assert request.body == {
        "model": "some/model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Was ist α?"},
        ],
        "temperature": 0.3,
        "top_p": 0.8,
        "max_tokens": 50,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_parameters_that_not_every_server_knows_are_sent_only_when_set():
    chosen = Parameters(top_k=40, repetition_penalty=1.1)
    with StandinChat(default=reply("yes")) as server, opened(server.url) as model:
        whole(model.stream(MESSAGES, chosen))
        whole(model.stream(MESSAGES, replace(chosen, top_k=None)))
    first, second = (request.body for request in server.requests)
    assert (first["top_k"], first["repetition_penalty"]) == (40, 1.1)
    assert "top_k" not in second


@pytest.mark.parametrize("bytes_at_once", [1, 3, 7])
def test_bytes_may_be_split_anywhere(bytes_at_once):
    pieces = ("α ist", " 3 ", "[1", "2] – 😀", "漢字.")
    received, completion, _ = ask_scripted(reply("", *pieces, bytes_at_once=bytes_at_once))
    assert received == list(pieces)
    assert completion.text == "α ist 3 [12] – 😀漢字."


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (reply("x", finish_reason="eos"), Completion("x", "stop", 11, 7)),
        (reply("x", finish_reason="length"), Completion("x", "length", 11, 7)),
        (reply("x", usage=None), Completion("x", "stop", None, None)),
        (reply(""), Completion("", "stop", 11, 7)),
    ],
)
def test_endings_of_a_complete_reply(behaviour, expected):
    assert ask_scripted(behaviour)[1] == expected


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_what_a_server_sends_apart_as_reasoning_is_not_read(field):
    """vLLM, llama.cpp and Together send thoughts in a field of their own."""
    deltas = (
        {field: "Is it 3?", "content": None},
        {field: " Yes.", "content": "Three"},
        {"content": " [1]."},
    )
    events = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    pieces, completion, _ = ask_scripted(Behaviour(extra_events=tuple(events)))
    assert "".join(pieces) == completion.text == "Three [1]."


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("<think>Hm, 3?</think>\n\nThree [1].", "Three [1]."),
        ("  <think>Hm</think>Three.", "Three."),
        ("<think>never ended", ""),
        ("<thin air> is thin.", "<thin air> is thin."),
        ("<thi", "<thi"),
        ("Three <think>aloud</think>.", "Three <think>aloud</think>."),
    ],
)
def test_thoughts_before_the_answer_are_dropped(sent, kept):
    for behaviour in (reply(sent), reply(sent, *sent), reply(sent, sent)):
        pieces, completion, _ = ask_scripted(behaviour)
        assert "".join(pieces) == completion.text == kept


def test_thoughts_that_used_all_tokens_leave_nothing_written():
    completion = ask_scripted(reply("<think>Is it 3? Or", finish_reason="length"))[1]
    assert (completion.text, completion.finish_reason) == ("", "length")


def test_a_model_whose_prompt_begins_its_thoughts_is_known_from_its_first_reply():
    """DeepSeek-R1 and Qwen3 send an end of thoughts and no beginning: what came before it is one."""
    thinks, cut = reply("Is it 3? Yes.\n</think>\n\nThree [1]."), reply("Is it 3?", finish_reason="length")
    with StandinChat(thinks, thinks, cut, reply("Three."), cut) as server, opened(server.url) as model:
        pieces, first = ask(model)
        assert first.text == "Three [1]."
        assert "".join(pieces).endswith("Three [1].")
        pieces, second = ask(model)
        assert "".join(pieces) == second.text == "Three [1].", "its thoughts are no longer shown"
        assert ask(model)[1].text == "", "it had not come to its reply"
        assert ask(model) == (["Three."], Completion("Three.", "stop", 11, 7)), "it can reply at once"
        assert ask(model)[1].text == "Is it 3?"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("Three [1].<|im_end|>\n<|im_start|>user\nAnd four?", "Three [1]."),
        ("Three.</s> More.", "Three."),
        ("<|channel|>final<|message|>Three.<|return|> More.", "Three."),
        ("<think>Hm</think>Three.<end_of_turn>", "Three."),
        ("<|im_start|>assistant\nThree.", "Three."),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nThree.", "Three."),
        ("<start_of_turn>model\nThree.<end_of_turn>\n<start_of_turn>user", "Three."),
        ("<|im_start|>user\nThree?", ""),
        ("<|im_start|>assistant", ""),
        ("\n <|im_end|>", ""),
        ("Three <|im in [1] and </", "Three <|im in [1] and </"),
        ("a < b, [1]", "a < b, [1]"),
    ],
)
def test_a_reply_ends_where_a_chat_control_token_stands(sent, kept):
    for behaviour in (reply(sent), reply(sent, *sent), reply(sent, sent)):
        pieces, completion, _ = ask_scripted(behaviour)
        assert "".join(pieces).strip() == completion.text.strip() == kept
        assert completion.finish_reason == "stop"


def test_a_server_that_lets_another_model_write_is_taken_at_its_word():
    """llama.cpp ignores the model that is asked for, and names the one it has in every chunk."""
    assert ask_scripted(reply("Three."))[1].served == ""
    completion = ask_scripted(reply("Three.", served="gemma-3-270m.gguf"))[1]
    assert (completion.text, completion.served) == ("Three.", "gemma-3-270m.gguf")


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_address_may_end_in_its_version_or_not(slash):
    with StandinChat(default=reply("yes")) as server:
        for url in (server.url, server.url.removesuffix("/v1")):
            with opened(url + slash) as model:
                assert ask(model)[1].text == "yes"


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (
            refusal(401, f"Incorrect API key: {KEY_CANARY}"),
            ("refused the API key (HTTP 401)", "MODEL_API_KEY"),
        ),
        (refusal(403), ("refused the API key (HTTP 403)",)),
        (refusal(404), ("knows no model 'some/model' (HTTP 404)", "models file")),
        (refusal(400, f"context too long for {KEY_CANARY}."), ("(HTTP 400): context too long for [key].",)),
        (refusal(422, "x" * 5000), ("(HTTP 422): " + "x" * 200 + ".",)),
        (refusal(400, ""), ("(HTTP 400): no reason given.",)),
        (malformed(), ("no chat reply",)),
        (malformed(event=b'{"choices": [{"delta": {"content": "caf\xe9"}}]}'), ("no chat reply",)),
        (reply("<p>Log in</p>", content_type="text/html; charset=utf-8"), ("no chat reply",)),
        (malformed(event='["a", "list"]'), ("no chat reply",)),
        (malformed(event='{"choices": "none"}'), ("no chat reply",)),
        (malformed(event='{"choices": [{"delta": {"content": 7}}]}'), ("no chat reply",)),
        (
            malformed(event='{"error": {"message": "out of memory"}}'),
            ("gave up on the answer: out of memory.",),
        ),
    ],
)
def test_failures_that_are_not_tried_again(behaviour, words):
    error, server = error_of(behaviour, reply("never asked for"))
    assert all(word in str(error) for word in words)
    assert str(error).startswith("The model server at 127.0.0.1:")
    assert "question is kept" in str(error)
    assert len(server.requests) == 1
    assert KEY_CANARY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (malformed("Half an ans"), "sent something that is no chat reply."),
        (
            malformed("Half an ans", event=b'{"choices": [{"delta": {"content": "caf\xe9"}}]}'),
            "no chat reply.",
        ),
        (malformed("Half an ans", event='{"error": "out"}'), "gave up on the answer: out."),
        (malformed("Half an ans", event=json.dumps({"error": KEY_CANARY})), "gave up on the answer: [key]."),
        (cut_off("Half an ans"), "ended the connection in the middle of its answer."),
        (cut_off("Half an ans", "clean"), "ended the connection in the middle of its answer."),
    ],
)
def test_a_reply_that_ends_in_the_middle_is_kept_and_never_asked_for_again(behaviour, problem):
    pieces, completion, server = ask_scripted(behaviour, reply("never asked for"))
    assert "".join(pieces) == completion.text == "Half an ans"
    assert completion.finish_reason == "interrupted"
    assert completion.problem.startswith("The model server at 127.0.0.1:")
    assert completion.problem.endswith(problem)
    assert KEY_CANARY not in repr(completion)
    assert len(server.requests) == 1


def test_a_server_that_falls_silent_in_its_answer_is_given_up():
    pieces, completion, server = ask_scripted(reply("Half an answer", wait_between=2.0), timeout=0.8)
    assert pieces == ["Ha"]
    assert completion.finish_reason == "interrupted"
    assert "stopped in the middle of its answer: nothing came for 0.8 s. PAPER_TRAIL" in completion.problem
    assert len(server.requests) == 1


@pytest.mark.parametrize("pieces", [2, 250])
def test_a_reply_without_end_is_not_read_for_ever(pieces):
    text = "x" * (2 * LONGEST_REPLY // pieces)
    _, completion, _ = ask_scripted(reply("", *[text] * pieces))
    assert completion.text == "x" * LONGEST_REPLY
    assert completion.finish_reason == "too_long"


@pytest.mark.parametrize(
    "trouble",
    [
        refusal(429),
        refusal(429, retry_after="0"),
        refusal(500),
        refusal(503, retry_after="0.05"),
        refusal(503, retry_after="soon"),
        dropped(),
        cut_off(""),
        cut_off("", "clean"),
    ],
)
def test_trouble_before_the_first_word_is_tried_again(trouble):
    pieces, completion, server = ask_scripted(trouble, trouble, reply("There."))
    assert "".join(pieces) == completion.text == "There."
    assert completion.attempts == len(server.requests) == 3


def test_a_date_to_wait_for_is_waited_for():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    assert ask_scripted(refusal(503, retry_after=date), reply("There."))[1].attempts == 2


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (refusal(429), "limits how often it is asked (HTTP 429): no. Your question"),
        (refusal(500), "failed (HTTP 500): no. Your question"),
        (dropped(), "ended the connection without an answer"),
    ],
)
def test_gives_up_after_two_retries(trouble, words):
    error, server = error_of(trouble, trouble, trouble, reply("too late"))
    assert isinstance(error, ModelUnavailableError)
    assert words in str(error)
    assert len(server.requests) == 3


def test_a_silent_server_is_asked_once_more():
    _, completion, server = ask_scripted(silence(), reply("There."), timeout=0.8)
    assert (completion.text, completion.attempts, len(server.requests)) == ("There.", 2, 2)
    error, server = error_of(silence(), silence(), reply("too late"), timeout=0.8)
    assert isinstance(error, ModelUnavailableError)
    assert "did not begin to answer within 0.8 s, asked twice. A longer PAPER_TRAIL_MODEL" in str(error)
    assert len(server.requests) == 2


def test_waits_as_long_as_asked():
    started = time.monotonic()
    ask_scripted(refusal(429, retry_after="0.3"), reply("There."))
    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize("as_date", [False, True])
def test_a_long_wait_is_said_instead_of_waited(as_date):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    error, server = error_of(refusal(429, retry_after=date if as_date else "90"), reply("never asked for"))
    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == pytest.approx(90, abs=30)
    assert f"asks to wait {'' if as_date else 90}" in str(error)
    assert len(server.requests) == 1


def test_a_refused_connection_is_named():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with opened(f"http://127.0.0.1:{port}/v1") as model, pytest.raises(ModelUnavailableError) as caught:
            ask(model)
    assert f"127.0.0.1:{port} cannot be reached" in str(caught.value)
    assert "PAPER_TRAIL_MODEL_URL" in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://host:port/v1", "notaurl", "localhost:8000", "http://", "/v1", "ftp://host/v1"]
)
def test_an_address_that_is_none_is_named_and_never_called_together(address):
    with pytest.raises(ModelError, match=r"address is not valid\. Check PAPER_TRAIL_MODEL_URL") as caught:
        TogetherModel("m", "M", api_key="k", base_url=address)
    assert "Together" not in str(caught.value)


def test_a_name_and_password_in_the_address_are_not_repeated():
    with opened(f"http://user:{KEY_CANARY}@127.0.0.1:9/v1") as model, pytest.raises(ModelError) as caught:
        ask(model)
    assert KEY_CANARY not in str(caught.value)


@pytest.mark.parametrize("key", [f"{KEY_CANARY}é", f"{KEY_CANARY}\nx"])
def test_a_key_that_cannot_be_sent_is_named_without_repeating_it(key):
    with pytest.raises(ModelError, match="TOGETHER_API_KEY") as caught:
        TogetherModel("m", "M", api_key=key)
    assert KEY_CANARY not in str(caught.value)


def test_a_server_without_keys_needs_none(monkeypatch):
    monkeypatch.setenv("TOGETHER_API_KEY", KEY_CANARY)
    with StandinChat(reply("yes")) as server, opened(server.url, key="") as model:
        assert ask(model)[1].text == "yes"
    assert KEY_CANARY not in str(server.requests)


def test_stopping_closes_the_connection():
    endless = reply("word " * 500, wait_between=0.01)
    with StandinChat(endless, reply("next")) as server, opened(server.url) as model:
        stream = model.stream(MESSAGES, PARAMETERS)
        next(stream)
        stream.close()
        assert server.wait_for_hang_up()
        assert ask(model)[1].text == "next"


def test_the_key_shows_nowhere(caplog):
    caplog.set_level(logging.DEBUG)
    with StandinChat(refusal(401, KEY_CANARY), reply("yes")) as server, opened(server.url) as model:
        with pytest.raises(ModelError) as caught:
            ask(model)
        _, completion = ask(model)
        shown = [repr(model), str(caught.value), repr(caught.value), repr(completion), caplog.text]
        shown += traceback.format_exception(caught.value)
    assert not [text for text in shown if KEY_CANARY in text]


def test_a_slow_prompt_and_a_slow_word_have_limits_of_their_own():
    slow_prompt = reply("Yes.", "Y", "es.", wait_before=0.6)
    with StandinChat(slow_prompt, reply("Half", "Ha", "lf", wait_between=0.6)) as server:
        model = TogetherModel("m", "M", api_key="k", base_url=server.url, patience=Patience(2.0, 0.3))
        assert ask(model)[1].text == "Yes."
        completion = ask(model)[1]
        model.close()
    assert (completion.text, completion.finish_reason) == ("Ha", "interrupted")
    assert "nothing came for 0.3 s. PAPER_TRAIL_MODEL_SILENCE" in completion.problem


def test_thoughts_that_a_server_keeps_apart_are_no_silence():
    chunk = {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}, "finish_reason": None}]}
    thinking = Behaviour(extra_events=(json.dumps(chunk),) * 6, wait_between=0.3)
    with StandinChat(thinking) as server:
        model = TogetherModel("m", "M", api_key="k", base_url=server.url, patience=Patience(1.5, 1.5))
        completion = ask(model)[1]
        model.close()
    assert (completion.text, completion.attempts) == ("", 1)


@pytest.mark.parametrize("trouble", [silence(30.0), reply("Half", wait_between=30.0)])
def test_a_reply_that_is_awaited_can_be_stopped_at_any_moment(trouble):
    """Stopping waited for the next word, which a slow server takes minutes to read a prompt for."""
    with StandinChat(trouble) as server, opened(server.url, 60.0) as model:
        stream, clock = model.stream(MESSAGES, PARAMETERS), time.monotonic()
        while not server.requests:
            next(stream)
        for _ in range(3):
            next(stream)
        stream.close()
        assert time.monotonic() - clock < 25.0
        assert server.wait_for_hang_up(5.0)


def test_what_is_told_of_the_pieces_can_stop_a_typed_reply():
    class StoppedError(Exception):
        pass

    class Vote(BaseModel):
        choice: int

    def stop(_piece: str) -> None:
        raise StoppedError

    with StandinChat(silence(30.0)) as server, opened(server.url, 60.0) as model:
        with pytest.raises(StoppedError):
            model.reply(MESSAGES, PARAMETERS, Vote, on_piece=stop)
        assert server.wait_for_hang_up(5.0)
