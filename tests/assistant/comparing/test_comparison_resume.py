"""A comparison whose process is killed goes on where it was: real processes, a real server's own log."""

import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from dataclasses import replace

import pytest

from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.comparing.records import Comparison
from assistant.storage.comparisons import ComparisonStore
from corpus.settings import read_settings
from tests.assistant.comparing.compared_papers import ABOUT, compared, request_for
from tests.assistant.comparing.comparing_model import (
    drafts_of,
    elements_reply,
    kind_of,
    labels_of,
    vote_reply_text,
)
from tests.standin_chat import StandinChat, reply


@pytest.fixture
def home(shelf_home):
    return shelf_home


def steady_reply(request):
    """Reply to the same messages with the same text, whichever of several calls at once comes first."""
    mark, kind = zlib.crc32(sent_to(request).encode()), kind_of(request)
    if kind == "elements":
        text = elements_reply()
    elif kind == "vote":
        text = vote_reply_text(mark % drafts_of(request) + 1)
    else:
        text = " ".join(f"Reference {label} studies retrieval [{label}]." for label in labels_of(request))
        text = f"{text} This is take {mark % 97} [1]."
    return reply(text, text)


class KillerInRoundSix:
    """Replies, and kills the process that asks when its third vote of round 6 has come."""

    process = None

    def __init__(self):
        self.votes = 0

    def __call__(self, request):
        if kind_of(request) == "vote" and len(labels_of(request)) == 6:
            self.votes += 1
            if self.votes == 3:
                self.process.kill()
        return replace(steady_reply(request), wait_before=0.02)


def sent_to(request):
    return json.dumps([[message["role"], message["content"]] for message in request.body["messages"]])


def sent(messages):
    return json.dumps([[message.role, message.content] for message in messages])


def told(comparison: Comparison):
    """Return a comparison without what is of one run: its id, and when and how long."""
    calls = Counter(
        (call.work, sent(call.call.messages), call.call.reply, call.reused) for call in comparison.calls
    )
    elements = tuple(replace(elements, written="") for elements in comparison.elements)
    return replace(comparison, id="", asked="", seconds=(), calls=(), elements=elements), calls


def test_killed_in_round_six_a_comparison_resumes_without_repeating_a_call(
    root, shelf, encoder, run, own_model
):
    request = request_for(7)
    killer = KillerInRoundSix()
    with StandinChat(default=killer) as server:
        own_model(server)
        command = ["compare", *request.papers, "--about", ABOUT, "--generator", "own", "--json"]
        with subprocess.Popen(
            [sys.executable, "-m", "assistant", *command],
            cwd=root,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as killer.process:
            output = killer.process.communicate(timeout=240)
    assert killer.process.returncode == -9, output
    store = ComparisonStore.open(read_settings())
    (begun,) = store.list("terminal")
    assert begun.state == "unfinished"
    done = store.calls(begun.id)
    assert {call.work for call in done} >= {"elements 7", "round 5 vote 5", "round 6 sample 6"}
    assert "round 7 sample 1" not in {call.work for call in done}

    with StandinChat(default=steady_reply) as server:
        own_model(server)
        ran = run("compare", "--resume", begun.id, "--json")
        asked_after = Counter(map(sent_to, server.requests))
    assert ran.exit_code == 0, ran.output
    resumed = store.get(begun.id).comparison
    store.close()

    with StandinChat(default=steady_reply) as server:
        own_model(server)
        generator = open_comparative_generator("own", read_settings(), encoder)
        whole = compared(Comparer(shelf, encoder, generator), request)
        asked_in_all = Counter(map(sent_to, server.requests))
    assert asked_after == asked_in_all - Counter(sent(call.call.messages) for call in done)
    assert told(resumed) == told(whole)
