"""Comparisons in worker threads: watched, stopped, gone on with, failing, and what cannot be stored."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.comparing.algorithm import UnusableRoundError
from assistant.comparing.records import (
    Candidate,
    ComparisonError,
    ComparisonEvent,
    ComparisonRequest,
    Extracted,
    KeyElements,
    Round,
    RoundFinished,
    Sampled,
    Vote,
    Voted,
    WorkCall,
)
from assistant.models.protocol import ModelError
from assistant.records import AssistantError, Call
from assistant.storage.comparisons import TakenUpError
from corpus.errors import CorpusError
from explorer.compare.kept import papers_in_address, papers_of_address
from explorer.compare.tree import elements_row, growing_row, round_row
from explorer.jobs.comparison import ComparisonJob, ComparisonKeeper, comparison_runner
from explorer.jobs.runner import JobRunner
from tests.explorer.jobs.running import wait_until

REQUEST = ComparisonRequest(("a", "b"), "about")
CALL = WorkCall("elements 1", Call("elements", "m", (), None, "reply", "2026-01-01T00:00:00+00:00", 0.1))
ROUND = Round(
    1,
    (1,),
    (Candidate(1, None, "One [1].", votes=2), Candidate(2, None, "Two.", lost=(1,))),
    (Vote(1, 1), Vote(2, 1), Vote(3, None, problem="unreadable")),
    (1, 2),
    ("The server refused.",),
)


class FullDisk:
    """A store that takes the first call and then nothing any more."""

    def __init__(self) -> None:
        self.asked = 0

    def calls(self, *_stored: object) -> tuple[WorkCall, ...]:
        return (CALL,)

    def take(self, *_stored: object) -> str:
        return "run"

    def add_call(self, *_stored: object) -> None:
        self.asked += 1
        if self.asked > 1:
            self.fail()

    def fail(self, *_stored: object) -> None:
        raise ComparisonError("The disk is full.")

    finish = drop_round = fail


def start(
    script: Callable[[], Iterator[ComparisonEvent]],
    store: JobRunner[ComparisonJob] | None = None,
    name: str = "c",
) -> ComparisonJob:
    job = ComparisonJob(name, REQUEST, ComparisonKeeper(name))
    (store or comparison_runner()).start(job, script)
    return job


def test_a_comparison_is_watched_round_by_round() -> None:
    go_on = threading.Event()

    def script() -> Iterator[ComparisonEvent]:
        yield Extracted(KeyElements(1, "abstract"))
        yield RoundFinished(ROUND)
        yield Sampled(2, Candidate(1, 1, "More [1][2]."))
        yield Voted(2, Vote(1, 1))
        go_on.wait(5)

    job = start(script)
    view = wait_until(job, lambda view: bool(view.votes))
    assert (view.state, len(view.elements), view.rounds, len(view.candidates)) == ("running", 1, (ROUND,), 1)
    assert view.has_begun
    go_on.set()
    wait_until(job)


def test_a_stopped_comparison_is_closed_and_keeps_what_is_done() -> None:
    closed, go_on = threading.Event(), threading.Event()

    def script() -> Iterator[ComparisonEvent]:
        try:
            yield RoundFinished(ROUND)
            while True:
                yield Voted(2, Vote(1, 1))
                go_on.wait(0.01)
        finally:
            time.sleep(0.05)
            closed.set()

    job = start(script)
    wait_until(job, lambda view: bool(view.votes))
    job.stop()
    assert job.view().state == "stopping"
    view = wait_until(job)
    # It has stopped only when nothing of it runs any more: it may be gone on with at once.
    assert closed.is_set()
    assert (view.state, view.rounds) == ("stopped", (ROUND,))


@pytest.mark.parametrize(
    "error", [ModelError("The model server did not answer."), CorpusError("It is gone.")]
)
def test_a_failing_comparison_says_why_and_keeps_what_is_done(error: Exception) -> None:
    def script() -> Iterator[ComparisonEvent]:
        yield RoundFinished(ROUND)
        raise error

    view = wait_until(start(script))
    assert (view.state, view.error) == ("failed", str(error))
    assert view.rounds == (ROUND,)


def test_a_crash_is_reported_with_a_reference_and_without_its_words() -> None:
    def script() -> Iterator[ComparisonEvent]:
        yield RoundFinished(ROUND)
        raise RuntimeError("secret detail")

    view = wait_until(start(script))
    assert (view.state, view.rounds) == ("failed", (ROUND,))
    assert "secret" not in view.error and "log" in view.error


def test_a_comparison_runs_once_at_a_time_and_not_too_many_do() -> None:
    go_on, begun = threading.Event(), []

    def script() -> Iterator[ComparisonEvent]:
        begun.append(1)
        go_on.wait(5)
        yield RoundFinished(ROUND)

    store = comparison_runner(most_waiting=1)
    job = start(script, store)
    start(script, store)
    assert store.under_way("c") == "c" and store.get("c") is job
    with pytest.raises(AssistantError, match="Too many comparisons"):
        start(script, store, "other")
    go_on.set()
    wait_until(job)
    assert begun == [1]


def test_a_store_that_fails_or_is_not_there_loses_no_calls_and_one_taken_up_elsewhere_stops() -> None:
    store = FullDisk()
    keeper = ComparisonKeeper("c", store)
    ledger = keeper.ledger()
    for _ in range(4):
        ledger.add(CALL)
    keeper.fail("stopped")
    assert store.asked == 2
    assert "The disk is full" in keeper.problem and "reload would lose it" in keeper.problem
    assert len(keeper.ledger().recorded("elements 1")) == 4

    class Taken(FullDisk):
        def add_call(self, *_stored: object) -> None:
            raise TakenUpError("It has been taken up elsewhere.")

    keeper = ComparisonKeeper("c", Taken())
    with pytest.raises(TakenUpError):
        keeper.ledger().add(CALL)
    keeper = ComparisonKeeper("c", problem="There is no database.")
    keeper.ledger().add(CALL)
    assert keeper.ledger().recorded("elements 1") == (CALL,)


def test_a_round_that_came_to_nothing_is_asked_for_anew() -> None:
    keeper = ComparisonKeeper("c", problem="There is no database.")
    ledger = keeper.ledger()
    for work in ("elements 1", "round 1 sample 1", "round 2 sample 1", "round 2 sample 2"):
        ledger.add(replace(CALL, work=work))
    job = ComparisonJob("c", REQUEST, keeper)

    def script() -> Iterator[ComparisonEvent]:
        raise UnusableRoundError("No sample cites a paper.", 2)
        yield

    comparison_runner().start(job, script)
    wait_until(job)
    kept = [
        name
        for name in ("elements 1", "round 1 sample 1", "round 2 sample 1")
        if keeper.ledger().recorded(name)
    ]
    assert kept == ["elements 1", "round 1 sample 1"]


def test_the_tree_is_drawn_of_numbers_and_words_of_ours() -> None:
    row = round_row(ROUND)
    assert 'aria-label="Candidate 1: 2 votes, kept"' in row
    assert "lost [1]" in row and "1 sample not written" in row and "1 vote discarded" in row
    assert "being written" in growing_row((), ())
    assert growing_row(ROUND.candidates[::-1], ROUND.votes).index("1 · 2 votes") > 0
    dots = elements_row((0, 1, 2), (1,), (2,))
    assert "read of 1 of 3 texts" in dots
    assert (dots.count("pt-read"), dots.count("pt-failed"), dots.count("pt-dot")) == (1, 1, 4)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), unique=True))
def test_chosen_papers_read_back_from_an_address(ids: list[str]) -> None:
    assert papers_of_address(papers_in_address(ids)) == tuple(ids)


@pytest.mark.parametrize("address", ["", ",", ",,,", "x" * 9000])
def test_an_address_of_no_papers_names_none(address: str) -> None:
    assert papers_of_address(address) == ()
