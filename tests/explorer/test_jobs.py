"""Questions in worker threads: watched, stopped, failing, and more of them than workers."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.chat import Assistant
from assistant.conversations import ConversationStore
from assistant.models.protocol import ModelError
from assistant.records import (
    Answered,
    AssistantError,
    Event,
    Retrieved,
    Rewrite,
    Rewritten,
    Turn,
    Written,
)
from explorer.parts import jobs as jobs_module
from explorer.parts.jobs import Job, JobStore, JobView, may_succeed_again
from explorer.parts.keeping import Keeper, Kept
from tests.explorer.turns import make_turn


class ScriptedAssistant:
    """Plays a script of events instead of asking a generator."""

    def __init__(self, script: Callable[[], Iterator[Event]]) -> None:
        self._script = script

    def ask(self, *_: Any) -> Iterator[Event]:
        return self._script()


def start(store: JobStore, script: Callable[[], Iterator[Event]], job: Job | None = None) -> str:
    return store.start(cast(Assistant, ScriptedAssistant(script)), (), job or Job("why?"))


def wait_until(store: JobStore, job: str, is_reached: Callable[[JobView], bool]) -> JobView:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        found = store.get(job)
        assert found is not None
        if is_reached(found.view()):
            return found.view()
        time.sleep(0.01)
    raise AssertionError("the job did not get there")


def test_a_job_is_watched_while_it_runs() -> None:
    go_on = threading.Event()

    def script() -> Iterator[Event]:
        yield Rewritten(Rewrite("why?", "why"))
        yield Retrieved(())
        yield Written("Because ")
        go_on.wait(5)
        yield Written("so.")

    store = JobStore()
    job = start(store, script)
    view = wait_until(store, job, lambda one: one.text == "Because ")
    assert (view.state, view.rewrite, view.papers) == ("running", Rewrite("why?", "why"), ())
    go_on.set()


def test_a_stopped_job_closes_its_events() -> None:
    closed, go_on = threading.Event(), threading.Event()

    def script() -> Iterator[Event]:
        try:
            while True:
                yield Written("x")
                go_on.wait(0.01)
        finally:
            closed.set()

    store = JobStore()
    job = start(store, script)
    wait_until(store, job, lambda one: bool(one.text))
    found = store.get(job)
    assert found is not None
    found.stop()
    assert wait_until(store, job, lambda one: one.is_over).state == "stopped"
    assert closed.wait(2)


def test_a_failing_model_is_reported_in_its_words() -> None:
    def script() -> Iterator[Event]:
        yield Written("half")
        raise ModelError("The model server did not answer within 60 s.")

    store = JobStore()
    view = wait_until(store, start(store, script), lambda one: one.is_over)
    assert view.can_retry
    assert (view.state, view.error, view.text) == (
        "failed", "The model server did not answer within 60 s.", "half",
    )  # fmt: skip


def test_a_question_refused_at_the_door_is_not_to_be_tried_again() -> None:
    def script() -> Iterator[Event]:
        raise AssistantError("The question is empty.")
        yield

    store = JobStore()
    view = wait_until(store, start(store, script), lambda one: one.is_over)
    assert (view.error, view.can_retry) == ("The question is empty.", False)


def test_a_crash_is_reported_with_a_reference_and_without_its_words() -> None:
    def script() -> Iterator[Event]:
        yield Written("half")
        raise RuntimeError("secret detail")

    store = JobStore()
    view = wait_until(store, start(store, script), lambda one: one.is_over)
    assert view.state == "failed"
    assert "secret detail" not in view.error
    assert "kept" in view.error


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MOST_WAITING", 1)
    go_on = threading.Event()

    def script() -> Iterator[Event]:
        go_on.wait(5)
        yield Written("x")

    store = JobStore()
    start(store, script)
    with pytest.raises(AssistantError, match="Too many questions") as refused:
        start(store, script)
    assert may_succeed_again(refused.value)
    go_on.set()


def one_turn() -> Iterator[Event]:
    yield Answered(make_turn("Text."))


def test_a_turn_is_stored_once_and_before_it_is_told() -> None:
    store, kept, go_on = JobStore(), [], threading.Event()

    def keep(turn: Turn) -> Kept:
        go_on.wait(5)
        kept.append(turn)
        return Kept()

    job = start(store, one_turn, Job("why?", conversation_id="c", keep=keep))
    assert store.under_way("c") == job
    assert store.under_way("d") == ""
    found = store.get(job)
    assert found is not None and found.view().turn is None
    go_on.set()
    assert wait_until(store, job, lambda one: one.is_over).turn is kept[0]
    assert len(kept) == 1
    assert store.under_way("c") == ""


def test_a_question_is_either_stopped_or_stored() -> None:
    store, kept, storing, go_on = JobStore(), [], threading.Event(), threading.Event()

    def keep(turn: Turn) -> Kept:
        storing.set()
        go_on.wait(5)
        kept.append(turn)
        return Kept()

    job = start(store, one_turn, Job("why?", keep=keep))
    assert storing.wait(5)
    found = store.get(job)
    assert found is not None
    stopping = threading.Thread(target=found.stop)
    stopping.start()
    go_on.set()
    stopping.join(5)
    assert (found.view().state, len(kept)) == ("answered", 1)


def test_a_store_that_crashes_does_not_lose_the_answer() -> None:
    def keep(turn: Turn) -> Kept:
        raise RuntimeError("secret detail")

    store = JobStore()
    view = wait_until(store, start(store, one_turn, Job("why?", keep=keep)), lambda one: one.is_over)
    assert (view.state, view.kept.unkept) == ("answered", (view.turn,))
    assert "could not be stored" in view.kept.problem
    assert "secret" not in view.kept.problem


def test_what_could_not_be_stored_is_stored_with_the_next_turn_in_order(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations.sqlite")
    first, second, third = (replace(make_turn("Text."), question=name) for name in ("1", "2", "3"))
    failed = Keeper(store, "nowhere", (first,)).keep(second)
    assert failed.unkept == (first, second)
    assert "may have been deleted" in failed.problem
    begun = store.start("owner")
    assert Keeper(store, begun.id, failed.unkept).keep(third) == Kept()
    stored = store.get(begun.id)
    assert stored is not None and stored.turns == (first, second, third)
    store.close()


def test_an_unknown_job_is_none() -> None:
    assert JobStore().get("nothing") is None
