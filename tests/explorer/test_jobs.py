"""Questions in worker threads: watched, stopped, failing, and more of them than workers."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from assistant.chat import Assistant
from assistant.models.protocol import ModelError
from assistant.records import AskOptions, AssistantError, Event, Retrieved, Rewrite, Rewritten, Written
from explorer.parts import jobs as jobs_module
from explorer.parts.jobs import JobStore, JobView, may_succeed_again


class ScriptedAssistant:
    """Plays a script of events instead of asking a generator."""

    def __init__(self, script: Callable[[], Iterator[Event]]) -> None:
        self._script = script

    def ask(self, *_: Any) -> Iterator[Event]:
        return self._script()


def start(store: JobStore, script: Callable[[], Iterator[Event]]) -> str:
    return store.start(cast(Assistant, ScriptedAssistant(script)), "why?", (), AskOptions())


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


def test_an_unknown_job_is_none() -> None:
    assert JobStore().get("nothing") is None
