"""SciRIFF's tasks asked of a real model server: what is held to a form has it, as far as it came."""

import pydantic_core
import pytest

from assistant.models.limits import CallLimits
from assistant.models.together import Patience, TogetherModel
from assistant.records import Parameters
from evaluation.instructions import TASKS, Asker, ask_all, read_items, reply_figures, task_figures
from evaluation.reply_cache import CachedModel, ReplyCache
from tests.evaluation.instructions.sciriff_samples import write_lines
from tests.live.model_server import ModelServer

BRIEF = Parameters(temperature=0.0, max_tokens=60)


@pytest.fixture
def server(live_environment, tmp_path):
    with ModelServer(tmp_path / "server.log", template="plain") as started:
        yield started


def test_a_real_server_takes_every_form(server, tmp_path):
    patience = Patience(300, 300)
    served = TogetherModel(
        "tiny", "Tiny", api_key="k", base_url=server.url, patience=patience, structured=True
    )
    items = read_items(write_lines(tmp_path / "test.jsonl"), limit=1)
    for way in ("held", "free"):
        model = CachedModel(served, ReplyCache(tmp_path / "replies.jsonl"))
        replies = ask_all(Asker(model, way, BRIEF, CallLimits(2, 2), 2), items)
        assert [reply.problem for reply in replies] == [""] * len(TASKS)
        assert all(0 <= figure <= 1 for figure in task_figures(replies).values())
        assert reply_figures(replies)["completion tokens"] <= 2 * BRIEF.max_tokens
        for reply in replies if way == "held" else ():
            last = reply.exchanges[-1].completion
            assert reply.fits_at_last is not False or last.finish_reason == "length"
            if reply.item.task.nothing is not None:
                value = pydantic_core.from_json(last.text, allow_partial=True)
                assert isinstance(value, type(reply.item.task.nothing)) or value is None
    served.close()
