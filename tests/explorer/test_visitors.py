"""Two visitors of one server: what one has selected, chosen to compare or searched for is not the other's."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.explorer.asking import reader_of, texts

PAPER = "field-notes-retrieval/bm25"


def test_what_a_visitor_selects_and_searches_for_is_theirs_alone(screen: Callable[..., AppTest]) -> None:
    mine, others = screen("collection", q="rank fusion"), screen("collection")
    mine.checkbox(key=f"tick_{PAPER}").check().run()
    others.run()
    assert reader_of(mine).picked == (PAPER,)
    assert reader_of(others).picked == ()
    assert "1 paper selected" in texts(mine) and "selected" not in texts(others)
    assert others.text_input(key="q").value == ""


def test_what_a_visitor_adds_to_a_comparison_is_theirs_alone(screen: Callable[..., AppTest]) -> None:
    mine, others = screen("paper", id=PAPER), screen("paper", id=PAPER)
    mine.button(key="add_to_comparison").click().run()
    others.run()
    assert "add_to_comparison" not in [one.key for one in mine.button]
    assert "add_to_comparison" in [one.key for one in others.button]
