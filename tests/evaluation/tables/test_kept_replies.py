"""Replies kept in a file: given again word for word, never paid for twice, and torn lines survived."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel

from assistant.models import BadReplyError, ModelUnavailableError, whole
from assistant.models.together import Patience, TogetherModel
from assistant.records import Message, Parameters
from evaluation.input_files import EvaluationError
from evaluation.kept import KeptModel, KeptReplies, replies_file
from tests.standin_chat import StandinChat, cut_off, dropped, reply

ASKED = (Message("user", "Which? 排序 😀"),)
PARAMETERS = Parameters(temperature=0.0)


class Choice(BaseModel):
    choice: Literal["a", "b"]


@pytest.fixture
def path(tmp_path):
    return replies_file(tmp_path, "org/model:8b")


def kept(path, server, model="m", how=""):
    """Return the model as a new run has it."""
    asked = TogetherModel(
        model,
        "M",
        api_key="k",
        base_url=server.url,
        patience=Patience(5.0, 5.0),
        first_wait=0.01,
        structured=True,
    )
    return KeptModel(asked, KeptReplies(path), how)


def test_a_whole_reply_is_given_again_with_its_time_and_tokens(path):
    with StandinChat(reply("One, with “quotes” and 排序.")) as server:
        first = kept(path, server).exchange(ASKED, PARAMETERS)
        assert kept(path, server).exchange(ASKED, PARAMETERS) == first
        assert whole(kept(path, server).stream(ASKED, PARAMETERS)) == first.completion
    assert len(server.requests) == 1
    assert (first.completion.text, first.completion.completion_tokens) == ("One, with “quotes” and 排序.", 7)


def test_what_differs_is_asked_for(path):
    with StandinChat(default=reply('{"choice": "a"}')) as server:
        model = kept(path, server)
        model.exchange(ASKED, PARAMETERS)
        model.exchange((Message("user", "Another?"),), PARAMETERS)
        model.exchange(ASKED, Parameters(temperature=0.5))
        model.reply(ASKED, PARAMETERS, Choice)
        kept(path, server, "other").exchange(ASKED, PARAMETERS)
        kept(path, server, how="told in words").reply(ASKED, PARAMETERS, Choice)
        assert len(server.requests) == 6
        again = kept(path, server)
        again.reply(ASKED, PARAMETERS, Choice)
        again.exchange(ASKED, Parameters(temperature=0.5))
        assert len(server.requests) == 6


def test_what_one_run_asks_twice_gets_two_replies_in_every_run(path):
    with StandinChat(reply("first"), reply("second")) as server:
        texts = []
        for _ in range(2):
            model = kept(path, server)
            texts.append([model.exchange(ASKED, PARAMETERS).completion.text for _ in range(2)])
    assert texts == [["first", "second"]] * 2
    assert len(server.requests) == 2


def test_both_exchanges_of_a_reply_in_a_form_are_told_again(path):
    with StandinChat(reply("no JSON"), reply('{"choice": "b"}')) as server:
        told: list[list[object]] = [[], []]
        for exchanges in told:
            assert kept(path, server).reply(ASKED, PARAMETERS, Choice, exchanges.append).choice == "b"
    assert len(server.requests) == 2
    assert told[0] == told[1]
    assert [len(one.messages) for one in told[1]] == [1, 3]


def test_a_reply_that_was_refused_twice_is_refused_again_in_the_same_words(path):
    with StandinChat(reply("no JSON"), reply('{"choice": "c"}')) as server:
        errors = []
        for _ in range(2):
            with pytest.raises(BadReplyError) as raised:
                kept(path, server).reply(ASKED, PARAMETERS, Choice)
            errors.append((str(raised.value), raised.value.received))
    assert len(server.requests) == 2
    assert errors[0] == errors[1]


@pytest.mark.parametrize("broken", [cut_off("Half a"), cut_off('{"choi', "clean")])
def test_a_reply_that_broke_off_is_an_error_and_asked_for_anew(path, broken):
    with StandinChat(broken, reply("Whole."), broken, reply('{"choice": "a"}')) as server:
        with pytest.raises(ModelUnavailableError):
            kept(path, server).exchange(ASKED, PARAMETERS)
        assert kept(path, server).exchange(ASKED, PARAMETERS).completion.text == "Whole."
        with pytest.raises(ModelUnavailableError):
            kept(path, server).reply(ASKED, PARAMETERS, Choice)
        assert kept(path, server).reply(ASKED, PARAMETERS, Choice).choice == "a"


def test_a_server_that_is_gone_leaves_nothing_behind(path):
    with StandinChat(default=dropped()) as server, pytest.raises(ModelUnavailableError):
        kept(path, server).exchange(ASKED, PARAMETERS)
    assert path.read_text(encoding="utf-8") == ""


def test_a_line_torn_by_a_kill_costs_its_reply_alone(path):
    with StandinChat(reply("first"), reply("second"), reply("second again"), reply("third")) as server:
        model = kept(path, server)
        model.exchange(ASKED, PARAMETERS)
        model.exchange((Message("user", "Second?"),), PARAMETERS)
        text = path.read_text(encoding="utf-8")
        path.write_text(text[:-25], encoding="utf-8")
        model = kept(path, server)
        assert model.exchange(ASKED, PARAMETERS).completion.text == "first"
        assert model.exchange((Message("user", "Second?"),), PARAMETERS).completion.text == "second again"
        # What is written behind a torn line is read.
        model = kept(path, server)
        assert model.exchange((Message("user", "Second?"),), PARAMETERS).completion.text == "second again"
        assert len(server.requests) == 3


def test_half_a_character_of_a_reply_can_be_kept(path):
    half = json.dumps({"choices": [{"index": 0, "delta": {"content": "x\ud83d"}, "finish_reason": None}]})
    with StandinChat(reply("y", extra_events=(half,))) as server:
        kept(path, server).exchange(ASKED, PARAMETERS)
        assert kept(path, server).exchange(ASKED, PARAMETERS).completion.text.startswith("yx")
    assert len(server.requests) == 1


@pytest.mark.parametrize("text", ['{"key": 7}\n', "no JSON\n", '{"key": "x", "other": 1}\n'])
def test_a_file_that_holds_no_replies_is_named_and_left_as_it_is(path, text):
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match="line 1"):
        KeptReplies(path)
    assert path.read_text(encoding="utf-8") == text


def test_models_have_files_of_their_own(tmp_path):
    names = ["a/b", "a-b", "/models/x.gguf", "..", "é" * 300]
    files = {replies_file(tmp_path, name) for name in names}
    assert len(files) == len(names)
    assert {file.parent for file in files} == {tmp_path / "replies"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "replies").write_text("a file", encoding="utf-8")
    with pytest.raises(EvaluationError, match="replies"):
        KeptReplies(replies_file(tmp_path, "m"))
