"""Replies of a model in this process, with random weights, held to the forms of SciRIFF's tasks."""

from pathlib import Path
from typing import get_args

import pydantic_core
import pytest

from assistant.models import CallLimits
from assistant.models.local import LocalModel
from assistant.records import Parameters
from evaluation.instructions import TASKS, Asker, Item
from evaluation.instructions import Intent
from evaluation.kept import KeptModel, KeptReplies
from tests.tiny_model import save_tiny_model

FORMED = [task for task in TASKS.values() if task.form]


@pytest.fixture(scope="module")
def asker(tmp_path_factory) -> Asker:
    folder: Path = tmp_path_factory.mktemp("held")
    model = LocalModel(str(save_tiny_model(folder / "model")), "Tiny")
    kept = KeptModel(model, KeptReplies(folder / "replies.jsonl"))
    return Asker(kept, "held", Parameters(temperature=0.0, max_tokens=150), CallLimits(1, 1), 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", FORMED, ids=lambda task: task.name)
def test_nothing_else_can_be_written(asker, task):
    reply = asker.ask(Item(f"{task.name}:test:1", task, "Reply.", None))
    last = reply.exchanges[-1].completion
    # What has no end within its tokens is the beginning of what has the form.
    assert reply.fits_at_last or last.finish_reason == "length"
    assert reply.problem == ""
    value = pydantic_core.from_json(last.text, allow_partial=True)
    assert isinstance(value, type(task.nothing)) or value is None
    if task.name == "multicite_intent_classification":
        assert set(value) <= set(get_args(Intent))


@pytest.mark.filterwarnings("ignore")
def test_a_form_is_no_bar_to_a_reply_that_ends(asker):
    """Intents are short words: within their tokens they end, and the reply is read."""
    (task,) = [task for task in FORMED if task.name == "multicite_intent_classification"]
    replies = [asker.ask(Item("x", task, f"Reply {number}.", None)) for number in range(5)]
    assert any(reply.fits_at_last for reply in replies)
