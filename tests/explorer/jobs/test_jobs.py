"""Questions in worker threads: watched, stopped, failing, and more of them than workers."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.models.protocol import ModelError
from assistant.records import Answered, AssistantError, Event, Retrieved, Rewrite, Rewritten, Turn, Written
from assistant.storage.conversations import ConversationStore
from explorer.jobs.question import Kept, QuestionJob, TurnKeeper, may_succeed_again, question_runner
from explorer.jobs.runner import JobRunner
from tests.explorer.jobs.running import Clock, wait_until
from tests.explorer.turns import make_turn

Script = Callable[[], Iterator[Event]]


def start(
    script: Script, runner: JobRunner[QuestionJob] | None = None, job: QuestionJob | None = None
) -> QuestionJob:
    started = job or QuestionJob("why?")
    (runner or question_runner()).start(started, script)
    return started


def one_turn() -> Iterator[Event]:
    yield Answered(make_turn("Text."))


def half_and(error: Exception) -> Script:
    def script() -> Iterator[Event]:
        yield Written("half")
        raise error

    return script


def after(go_on: threading.Event) -> Script:
    def script() -> Iterator[Event]:
        go_on.wait(5)
        yield from one_turn()

    return script


def test_a_job_is_watched_while_it_runs() -> None:
    go_on = threading.Event()

    def script() -> Iterator[Event]:
        yield from (Rewritten(Rewrite("why?", "why")), Retrieved(()), Written("Because "))
        go_on.wait(5)
        yield Written("so.")

    view = wait_until(start(script), lambda view: view.text == "Because ")
    assert (view.state, view.rewrite, view.papers) == ("running", Rewrite("why?", "why"), ())
    go_on.set()


def test_what_fails_is_reported_in_words_of_the_model_or_with_a_reference() -> None:
    view = wait_until(start(half_and(ModelError("The model server did not answer within 60 s."))))
    assert (view.state, view.error, view.text, view.can_retry) == (
        "failed", "The model server did not answer within 60 s.", "half", True,
    )  # fmt: skip
    view = wait_until(start(half_and(AssistantError("The question is empty."))))
    assert (view.error, view.can_retry) == ("The question is empty.", False)
    view = wait_until(start(half_and(RuntimeError("secret detail"))))
    assert view.state == "failed"
    assert "secret detail" not in view.error
    assert "kept" in view.error


def test_too_many_questions_are_refused_and_an_unknown_job_is_none() -> None:
    go_on, runner = threading.Event(), question_runner(most_waiting=1)
    start(after(go_on), runner)
    with pytest.raises(AssistantError, match="Too many questions") as refused:
        start(one_turn, runner)
    assert may_succeed_again(refused.value)
    go_on.set()
    assert question_runner().get("nothing") is None


def test_fault_one_visitor_took_every_worker_and_every_place_to_wait() -> None:
    go_on, runner = threading.Event(), question_runner()
    own = [start(after(go_on), runner, QuestionJob("why?", starter="a")) for _ in range(16)]
    with pytest.raises(AssistantError, match="Too many questions"):
        start(one_turn, runner, QuestionJob("why?", starter="a"))
    assert wait_until(start(one_turn, runner, QuestionJob("why?", starter="b"))).turn
    assert sum(job.view().state == "running" for job in own) == 3
    own[0].stop()
    go_on.set()
    assert all(wait_until(job).is_over for job in own)


def test_of_jobs_that_wait_the_next_is_of_who_has_the_fewest_running() -> None:
    go_on, runner, begun = threading.Event(), question_runner(workers=2, share=None), []

    def named(name: str) -> Script:
        def script() -> Iterator[Event]:
            begun.append(name)
            go_on.wait(5)
            yield from one_turn()

        return script

    names = ("a", "a", "a", "a", "b")
    asked = [start(named(name), runner, QuestionJob("why?", starter=name)) for name in names]
    go_on.set()
    assert all(wait_until(job).turn for job in asked)
    assert begun[:2] == ["a", "a"] and "b" in begun[2:4]


def test_a_turn_is_stored_once_and_before_it_is_told() -> None:
    runner, kept, go_on = question_runner(), [], threading.Event()

    def keep(turn: Turn) -> Kept:
        go_on.wait(5)
        kept.append(turn)
        return Kept()

    job = start(one_turn, runner, QuestionJob("why?", subject="c", keep=keep))
    assert runner.under_way("c") == job.identifier
    assert runner.under_way("d") == ""
    assert job.view().turn is None
    go_on.set()
    assert wait_until(job).turn is kept[0]
    assert len(kept) == 1
    assert runner.under_way("c") == ""


def test_a_question_is_either_stopped_or_stored() -> None:
    kept, storing, go_on = [], threading.Event(), threading.Event()

    def keep(turn: Turn) -> Kept:
        storing.set()
        go_on.wait(5)
        kept.append(turn)
        return Kept()

    job = start(one_turn, job=QuestionJob("why?", keep=keep))
    assert storing.wait(5)
    stopping = threading.Thread(target=job.stop)
    stopping.start()
    go_on.set()
    stopping.join(5)
    assert (job.view().state, len(kept)) == ("finished", 1)


@pytest.mark.parametrize(
    ("begin", "state"),
    [
        (one_turn, "finished"),
        (half_and(AssistantError("The question is empty.")), "failed"),
        (half_and(RuntimeError("secret detail")), "failed"),
    ],
)
def test_who_waits_for_the_end_of_a_question_is_called_once(begin: Script, state: str) -> None:
    called: list[str] = []
    job = QuestionJob("why?", on_over=lambda: called.append("over"))
    assert wait_until(start(begin, job=job)).state == state
    job.stop()
    time.sleep(0.05)
    assert called == ["over"]


def test_a_question_stopped_while_it_waited_is_over_and_asks_no_model() -> None:
    go_on, called, runner = threading.Event(), [], question_runner(workers=1)
    start(after(go_on), runner)
    job = start(one_turn, runner, QuestionJob("why?", on_over=lambda: called.append("over")))
    job.stop()
    assert (job.view().state, called) == ("stopped", ["over"])
    go_on.set()
    runner, go_on, asked = question_runner(workers=1), threading.Event(), []

    def script() -> Iterator[Event]:
        asked.append(1)
        yield from one_turn()

    start(after(go_on), runner)
    stopped = start(script, runner)
    stopped.stop()
    assert stopped.view().state == "stopped"
    go_on.set()
    wait_until(start(one_turn, runner))
    assert (asked, stopped.view().state) == ([], "stopped")


def test_what_could_not_be_stored_is_not_lost_and_stored_with_the_next_turn(tmp_path: Path) -> None:
    def keep(turn: Turn) -> Kept:
        raise RuntimeError("secret detail")

    view = wait_until(start(one_turn, job=QuestionJob("why?", keep=keep)))
    assert (view.state, view.kept.unkept) == ("finished", (view.turn,))
    assert "could not be stored" in view.kept.problem
    assert "secret" not in view.kept.problem
    store = ConversationStore(tmp_path / "conversations.sqlite")
    first, second, third = (replace(make_turn("Text."), question=name) for name in ("1", "2", "3"))
    failed = TurnKeeper(store, "nowhere", (first,)).keep(second)
    assert failed.unkept == (first, second)
    assert "may have been deleted" in failed.problem
    begun = store.start("owner")
    assert TurnKeeper(store, begun.id, failed.unkept).keep(third) == Kept()
    stored = store.get(begun.id)
    assert stored is not None and stored.turns == (first, second, third)
    store.close()


def test_a_question_that_runs_longer_than_a_quarter_of_an_hour_does_not_vanish() -> None:
    clock, go_on = Clock(), threading.Event()
    runner = question_runner(clock=clock)

    def is_known_at(now: float) -> bool:
        """Return True if the long question is still known when another is asked."""
        clock.now = now
        start(one_turn, runner, QuestionJob("else?", clock=clock))
        return runner.get(long.identifier) is not None

    long = start(after(go_on), runner, QuestionJob("why?", clock=clock))
    assert is_known_at(1000)
    go_on.set()
    wait_until(long)
    # A finished job is kept from its end on.
    assert is_known_at(1800) and not is_known_at(2000)
