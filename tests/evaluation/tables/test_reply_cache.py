"""Replies kept in a file: given again word for word, never paid for twice, and torn lines survived."""

from typing import Literal

import pytest
from pydantic import BaseModel

from assistant.models.protocol import ModelUnavailableError, whole
from assistant.records import Message, Parameters
from evaluation.reply_cache import CachedModel, ReplyCache, replies_file
from tests.evaluation.commands import model_of
from tests.standin_chat import StandinChat, cut_off, reply

ASKED = (Message("user", "Which? 排序 😀"),)
PARAMETERS = Parameters(temperature=0.0)


class Choice(BaseModel):
    choice: Literal["a", "b"]


@pytest.fixture
def path(tmp_path):
    return replies_file(tmp_path, "org/model:8b")


def kept(path, server):
    """Return the model as a new run has it."""
    return CachedModel(model_of(server, "m"), ReplyCache(path))


def test_a_whole_reply_is_given_again_with_its_time_and_tokens(path):
    with StandinChat(reply("One, with “quotes” and 排序.")) as server:
        first = kept(path, server).exchange(ASKED, PARAMETERS)
        assert kept(path, server).exchange(ASKED, PARAMETERS) == first
        assert whole(kept(path, server).stream(ASKED, PARAMETERS)) == first.completion
    assert len(server.requests) == 1
    assert (first.completion.text, first.completion.completion_tokens) == ("One, with “quotes” and 排序.", 7)


def test_what_one_run_asks_twice_gets_two_replies_in_every_run(path):
    with StandinChat(reply("first"), reply("second")) as server:
        texts = []
        for _ in range(2):
            model = kept(path, server)
            texts.append([model.exchange(ASKED, PARAMETERS).completion.text for _ in range(2)])
    assert texts == [["first", "second"]] * 2
    assert len(server.requests) == 2


@pytest.mark.parametrize("broken", [cut_off("Half a"), cut_off('{"choi', "clean")])
def test_a_reply_that_broke_off_is_an_error_and_asked_for_anew(path, broken):
    with StandinChat(broken, reply("Whole."), broken, reply('{"choice": "a"}')) as server:
        with pytest.raises(ModelUnavailableError):
            kept(path, server).exchange(ASKED, PARAMETERS)
        assert kept(path, server).exchange(ASKED, PARAMETERS).completion.text == "Whole."
        with pytest.raises(ModelUnavailableError):
            kept(path, server).reply(ASKED, PARAMETERS, Choice)
        assert kept(path, server).reply(ASKED, PARAMETERS, Choice).choice == "a"


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
        # A reply that was written after a torn line is read.
        model = kept(path, server)
        assert model.exchange((Message("user", "Second?"),), PARAMETERS).completion.text == "second again"
        assert len(server.requests) == 3
