"""Screens are drawn one by one, in the order in which they were asked for, and none holds up the others."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.one_by_one import DrawingQueue, screens
from tests.demo_home import PROJECT

PATIENCE_SECONDS = 30


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as pool:
        yield pool


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody go on because another takes long, which on a busy machine may be anybody."""
    monkeypatch.setattr("explorer.app.one_by_one.LONGEST_SECONDS", PATIENCE_SECONDS)


@pytest.mark.usefixtures("patient")
def test_screens_begun_together_are_drawn_one_after_another(threads: ThreadPoolExecutor) -> None:
    line, drawn, together = DrawingQueue(), list[int](), list[int]()
    lock = threading.Lock()
    drawing = 0

    def draw(number: int) -> None:
        nonlocal drawing
        with line.turn():
            with lock:
                drawing += 1
            # Works and lets others go on meanwhile, as a screen that reads the database does.
            threading.Event().wait(0.002)
            with lock:
                together.append(drawing)
                drawing -= 1
                drawn.append(number)

    for task in [threads.submit(draw, number) for number in range(32)]:
        task.result(PATIENCE_SECONDS)
    assert sorted(drawn) == list(range(32))
    assert set(together) == {1}


@pytest.mark.usefixtures("patient")
def test_who_came_first_is_drawn_first(threads: ThreadPoolExecutor) -> None:
    line, drawn = DrawingQueue(), list[int]()

    def draw(number: int) -> None:
        with line.turn():
            drawn.append(number)

    with line.turn():
        waiting = []
        for number in range(5):
            before = line._last
            waiting.append(threads.submit(draw, number))
            while line._last is before:
                time.sleep(0.001)
    for drawing in waiting:
        drawing.result(PATIENCE_SECONDS)
    assert drawn == list(range(5))


def test_fault_a_screen_that_waits_for_a_server_keeps_nobody_else_waiting(
    threads: ThreadPoolExecutor,
) -> None:
    line, answered = DrawingQueue(), threading.Event()

    def draw(begun: threading.Event, until: threading.Event | None) -> None:
        with line.turn():
            begun.set()
            if until:
                until.wait(PATIENCE_SECONDS)

    with ExitStack() as stack:
        stack.callback(answered.set)
        begun = threading.Event()
        slow = threads.submit(draw, begun, answered)
        assert begun.wait(PATIENCE_SECONDS)
        for drawing in [threads.submit(draw, threading.Event(), None) for _ in range(20)]:
            drawing.result(PATIENCE_SECONDS)
        assert not slow.done()
    slow.result(PATIENCE_SECONDS)


class _Rerun(BaseException):
    """As Streamlit ends a run of a screen that is drawn anew."""


def test_a_screen_that_is_broken_off_gives_its_turn_on(threads: ThreadPoolExecutor) -> None:
    line = DrawingQueue()
    with pytest.raises(_Rerun), line.turn():
        raise _Rerun
    with pytest.raises(_Rerun), line.turn(), line.yield_turn():
        raise _Rerun
    with line.turn():
        pass
    with DrawingQueue().yield_turn():
        pass


def test_who_searches_lets_others_draw_and_draws_on_after_them(threads: ThreadPoolExecutor) -> None:
    line, order = DrawingQueue(), list[str]()
    found = threading.Event()

    def search_and_draw(begun: threading.Event) -> None:
        with line.turn():
            with line.yield_turn():
                begun.set()
                assert found.wait(PATIENCE_SECONDS)
            order.append("found")

    def draw() -> None:
        with line.turn():
            order.append("drawn")

    begun = threading.Event()
    searching = threads.submit(search_and_draw, begun)
    assert begun.wait(PATIENCE_SECONDS)
    threads.submit(draw).result(PATIENCE_SECONDS)
    found.set()
    searching.result(PATIENCE_SECONDS)
    assert order == ["drawn", "found"]


@pytest.mark.usefixtures("patient", "home")
def test_the_screens_of_the_app_are_drawn_so(threads: ThreadPoolExecutor) -> None:
    app = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180).run()
    with screens.turn():
        again = threads.submit(app.run)
        assert not wait([again], timeout=2).done
    assert not again.result(180).exception
