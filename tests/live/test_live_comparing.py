"""A comparison by a real model server: killed in the middle, gone on with, replayed and judged."""

import json
from collections import Counter
from contextlib import closing

import pytest

from assistant.storage.comparisons import ComparisonStore
from assistant.trail.comparison_file import comparison_from_json
from corpus.settings import Settings
from tests.live.model_server import wait_until
from tests.live.shown import check_answer, check_calls

PAPERS = [f"field-notes-retrieval/{name}" for name in ("bm25", "rank-fusion", "rag")]
ABOUT = "How lexical and dense retrieval can be combined"
CHOSEN = ("--generator", "tiny", "--samples", 2, "--votes", 3, "--keep", 2, "--yes")
# Of such a model whole rounds cite nothing, which ends a comparison until it is gone on with.
TRIES = 20


@pytest.fixture
def killed(serve, begin):
    """Return the server and the id of a comparison that was killed in its first round."""
    server = serve()
    with begin("assistant", "compare", *PAPERS, "--about", ABOUT, *CHOSEN) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("Round 1: candidate"):
                process.kill()
    assert process.returncode == -9, said
    assert wait_until(server.is_idle, 10)
    return server, "".join(said).partition("Kept as comparison ")[2].partition(".")[0]


@pytest.fixture
def recorded(home):
    """Return a function that reads the stored calls of a comparison."""

    def read(identifier):
        with closing(ComparisonStore.open(Settings(home=home))) as store:
            return store.calls(identifier)

    return read


def test_a_killed_comparison_goes_on_without_asking_twice_replays_equal_and_is_judged(
    killed, recorded, run, tmp_path
):
    server, identifier = killed
    trail = tmp_path / "comparison.json"
    assert {f"elements {label}" for label in range(4)} < {call.work for call in recorded(identifier)}

    for _ in range(TRIES):
        before, begun = recorded(identifier), server.calls
        went_on = ("--resume", identifier, "--yes", "--trail", trail)
        done = run("assistant", "compare", *went_on, status=None)
        if done.returncode == 0:
            break
        # A tiny model may write nothing that a summary could go on from: then a round is asked again.
        assert "no sample " in done.stderr
    comparison = comparison_from_json(trail.read_text(encoding="utf-8"))
    assert not Counter(before) - Counter(comparison.calls)
    assert server.calls - begun == len(comparison.calls) - len(before)
    assert [len(round_.candidates) for round_ in comparison.rounds] == [2, 4, 4]
    assert [len(round_.votes) for round_ in comparison.rounds] == [3, 3, 3]
    check_calls(tuple(call.call for call in comparison.calls), server.served)
    check_answer(comparison.answer, comparison.evidence)

    assert "The comparison is equal." in run("assistant", "replay", identifier).stdout

    judged = run("evaluation", "summary", "--comparison", trail, "--judge", "tiny", "--votes", 2)
    figures = json.loads(judged.stdout.splitlines()[-1])["judge"]
    assert (figures["votes"], figures["wrote"]) == (2, [trail.stem])
    marks = figures["systems"][trail.stem]["means"]
    # Of a vote that is not in its form nothing counts; what does is a mark.
    assert bool(marks) == (figures["discarded"] < 2)
    assert all(1 <= mark <= 5 for mark in marks.values())
