"""What is kept of calls, in every state that a killed process leaves; and the prompts, word for word."""

import os
from pathlib import Path

import pytest

from assistant.models.protocol import BadReplyError
from assistant.models.together import Patience, TogetherModel
from assistant.prompts import load_prompt
from assistant.records import Message, Parameters
from tests.standin_chat import StandinChat, reply
from tests.training.test_train_fitting import files_of_at_most
from training.files import TrainingError
from training.truthreader.construct import PROMPTS, PairsReply
from training.truthreader.recording import RecordedModel

GOLDEN = Path(__file__).parent / "golden"
GAPS = {"fact": ("material",), "summary": ("material",), "synthesis": ("material",)}
GAPS["follow_up"] = ("earlier", "material")
ASKED = (Message("system", "Write."), Message("user", "Now."))
GOOD = '{"pairs": [{"question": "Who sings at dawn?", "answer": "Larks sing at dawn."}]}'


def recorded(path: Path, server: StandinChat, **parameters: float) -> RecordedModel:
    model = TogetherModel("m", "M", api_key="k", base_url=server.url, patience=Patience(5, 5))
    return RecordedModel(model, Parameters(**parameters), path)


def test_a_first_reply_that_did_not_fit_is_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with StandinChat(reply("no JSON"), reply(GOOD)) as server:
        recorded(path, server).reply(ASKED, PairsReply)
        sent = [request.body["messages"][-1] for request in server.requests]
    first, second = path.read_bytes().splitlines(keepends=True)
    # As a kill between the two would have left it.
    path.write_bytes(first)
    with StandinChat(reply(GOOD)) as server:
        found = recorded(path, server).reply(ASKED, PairsReply)
        assert [request.body["messages"][-1] for request in server.requests] == sent[1:]
    assert found.pairs[0].answer == "Larks sing at dawn."
    assert path.read_bytes() == first + second
    with StandinChat() as server:
        assert recorded(path, server).reply(ASKED, PairsReply) == found
        assert server.requests == []
        assert recorded(path, server).count == 2


def test_two_replies_that_did_not_fit_stay_a_bad_reply(tmp_path: Path) -> None:
    with StandinChat(reply("no"), reply("no again")) as server:
        for _ in range(2):
            with pytest.raises(BadReplyError):
                recorded(tmp_path / "calls.jsonl", server).reply(ASKED, PairsReply)
        assert len(server.requests) == 2


def test_of_other_messages_or_parameters_another_call_is_made(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with StandinChat(default=reply(GOOD)) as server:
        recorded(path, server).reply(ASKED, PairsReply)
        recorded(path, server).reply((*ASKED[:1], Message("user", "Later.")), PairsReply)
        recorded(path, server, temperature=0.9).reply(ASKED, PairsReply)
        assert len(server.requests) == 3


def test_half_a_line_is_cut_and_a_foreign_one_is_said(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"key": "a", "reply": "b", "finish_reason": "stop"}\n{"key": "\xc3')
    with StandinChat() as server:
        assert recorded(path, server).count == 1
        assert path.read_bytes().endswith(b'"stop"}\n')
        path.write_bytes(b"something else\n")
        with pytest.raises(TrainingError, match="line 1"):
            recorded(path, server)


def test_a_disk_that_takes_no_more_is_said(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with StandinChat(default=reply("b" * 5_000)) as server:
        with files_of_at_most(1_000), pytest.raises(TrainingError, match="Free space"):
            recorded(path, server).reply(ASKED, PairsReply)
        assert recorded(path, server).count == 0
        (tmp_path / "file").write_text("")
        with pytest.raises(TrainingError, match="cannot be written"):
            recorded(tmp_path / "file" / "calls.jsonl", server)


@pytest.mark.parametrize("name", GAPS)
def test_golden_prompt(name: str) -> None:
    messages = load_prompt(name, PROMPTS).render(**{gap: f"<{gap}>" for gap in GAPS[name]})
    text = "".join(f"--- {message.role} ---\n{message.content}\n" for message in messages)
    path = GOLDEN / f"prompt_{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
