"""Aspects written by a model: what was paid for is kept until it is published, whatever runs in between."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.models.protocol import Completion
from assistant.records import Message
from corpus.records import Scope
from corpus.settings import Settings
from indexer.enrich.writing import Written, write_corpus_aspects
from indexer.maintenance.compact import compact_home
from tests.indexer.build.killable_build import HashEncoder, build
from tests.indexer.build.small_papers import write_tei
from tests.indexer.enrich.fake_model import aspect_model

APPROACH = "They watch animals in the wild."
REPLY = json.dumps({"challenge": "not stated", "approach": APPROACH, "outcome": "not stated"})


class _KilledError(Exception):
    """Stands for the signal that ends a run."""


class _Enrich:
    """Runs of `enrich` over a few papers, with the questions that each model was asked."""

    def __init__(self, folder: Path) -> None:
        for number in range(12):
            abstract = f"We watch animals in the wild. They sleep for {number} hours."
            write_tei(folder / "papers" / f"{number:02}.tei.xml", f"On animal {number}", abstract)
        self.settings, self.encoder = Settings(home=folder / "home"), HashEncoder(folder / "log")
        build(self.settings.home, folder / "papers", folder / "log")
        self.asked: list[str] = []

    def run(self, model: str, reply: str = REPLY, *, killed: bool = False) -> Written:
        def complete(_: tuple[Message, ...]) -> Completion:
            self.asked.append(model)
            return Completion(reply)

        def progress(title: str) -> None:
            if killed and title == "On animal 5":
                raise _KilledError

        writer = aspect_model(complete, model)
        return write_corpus_aspects(self.settings, self.encoder, writer, Scope(), progress)


@pytest.fixture
def enrich(tmp_path: Path) -> _Enrich:
    return _Enrich(tmp_path)


@pytest.mark.parametrize("other", ["org-small", "org/small-2"])
def test_paid_replies_survive_another_model(enrich: _Enrich, other: str) -> None:
    with pytest.raises(_KilledError):
        enrich.run("org/small", killed=True)
    paid = len(enrich.asked)
    assert paid >= 6
    assert enrich.run(other).written == 12
    assert enrich.asked.count(other) == 12
    compact_home(enrich.settings, enrich.encoder, timedelta(days=1))
    assert enrich.run("org/small").written == 12
    assert enrich.asked.count("org/small") == 12
    assert not list(enrich.settings.replies_path.glob("aspects-*"))


def test_a_reply_that_states_nothing_is_paid_for_once(enrich: _Enrich) -> None:
    nothing = REPLY.replace(APPROACH, "not stated")
    with pytest.raises(_KilledError):
        enrich.run("small", nothing, killed=True)
    enrich.run("small", nothing)
    assert len(enrich.asked) == 12
