"""Helpers that compare papers on the screen."""

import time
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from assistant.comparing.records import Comparison
from explorer.app.resources import comparison_jobs
from explorer.app.visitor.comparison import ComparisonSession
from tests.standin_chat import StandinChat

Screen = Callable[..., AppTest]
Model = Callable[..., StandinChat]
BM25, DENSE, FUSION = (
    f"field-notes-retrieval/{name}" for name in ("bm25", "dense-retrieval", "late-interaction")
)
ABOUT = "We choose between dense and lexical retrieval for a search engine of our own."
NAMED = {"papers": f"{BM25},{DENSE}"}


def session_of(test: AppTest) -> ComparisonSession:
    found = test.session_state["comparison"].now
    assert isinstance(found, ComparisonSession)
    return found


def described(test: AppTest, about: str = ABOUT) -> AppTest:
    return test.text_area(key=f"about_{session_of(test).opened}").set_value(about).run()


def with_the_model(test: AppTest) -> AppTest:
    """Have the stand-in write, in rounds that are soon over."""
    chosen = test.selectbox(key="writer")
    chosen.set_value(next(option for option in chosen.options if option == "Stand-in")).run()
    test.number_input(key="compare_votes").set_value(2).run()
    return test.number_input(key="compare_keep").set_value(1).run()


def begun(test: AppTest) -> AppTest:
    test.button(key="compare").click().run()
    assert not test.exception
    return test


def wait_until(test: AppTest, is_reached: Callable[[ComparisonSession], bool]) -> AppTest:
    deadline = time.monotonic() + 180
    while not is_reached(session_of(test)):
        assert time.monotonic() < deadline, f"the comparison is {session_of(test).state}"
        time.sleep(0.1)
        test.run()
        assert not test.exception
    return test


def over(test: AppTest) -> AppTest:
    """Run the screen again once the comparison under way has ended."""
    if job := comparison_jobs().get(session_of(test).identifier):
        deadline = time.monotonic() + 180
        while not job.view().is_over and time.monotonic() < deadline:
            time.sleep(0.02)
    return wait_until(test, lambda session: not session.is_running)


def compared(test: AppTest) -> Comparison:
    comparison = session_of(over(test)).comparison
    assert comparison is not None, session_of(test).failure
    return comparison


def modelled(screen: Screen) -> AppTest:
    """Return a comparison of two papers by the stand-in model, just begun."""
    return begun(with_the_model(described(screen("compare", **NAMED))))
