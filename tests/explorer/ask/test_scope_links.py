"""Links to what is asked: `/ask?collection=`, `&paper=` and `&question=`, and the address that says it."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from corpus.records import Scope
from explorer.app.session import Current
from explorer.app.visitor.session import VisitorSession
from explorer.ask.scope import MOST_NAMED, NOT_HERE, PARTLY_HERE, scope_address
from tests.explorer.asking import QUESTION, ask, texts, visitor_of

Screen = Callable[..., AppTest]
EVALUATION = "field-notes-evaluation"
BM25, FUSION = "field-notes-retrieval/bm25", "field-notes-retrieval/rank-fusion"


def test_a_link_to_a_collection_asks_that_collection_and_is_followed_once(screen: Screen) -> None:
    test = screen("ask", collection=EVALUATION)
    assert test.multiselect(key="scope_collections").value == [EVALUATION]
    ask(test, "How is citation precision defined?")
    assert visitor_of(test).turns[0].scope == Scope(collections=(EVALUATION,))
    test.multiselect(key="scope_collections").set_value([]).run()
    assert test.multiselect(key="scope_collections").value == []


@pytest.mark.parametrize("papers", [(BM25,), (BM25, FUSION)])
def test_a_link_to_papers_asks_these(screen: Screen, papers: tuple[str, ...]) -> None:
    test = screen("ask", paper=",".join(papers))
    assert test.multiselect(key="scope_papers").value == list(papers)
    assert visitor_of(test).asked_about == papers
    assert visitor_of(test).notes == ()


def test_a_question_of_a_link_is_filled_in_as_long_as_one_may_be_and_not_asked(screen: Screen) -> None:
    test = screen("ask", collection=EVALUATION, question=f"  {QUESTION}\n\u200b ")
    assert test.chat_input(key="question_box").value == QUESTION
    test.run()
    assert not (visitor_of(test).turns or visitor_of(test).job_id or visitor_of(test).waiting)
    test = screen("ask", question="why " * 5000)
    assert len(str(test.chat_input(key="question_box").value)) <= 2000


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ({"collection": "nowhere"}, NOT_HERE),
        ({"paper": "field-notes-retrieval/none' OR 1=1 --"}, NOT_HERE),
        ({"paper": "uploads/1"}, NOT_HERE),
        ({"paper": f"{BM25},nowhere/1"}, PARTLY_HERE),
        ({"collection": f"nowhere,{EVALUATION}"}, PARTLY_HERE),
        ({"collection": "![x](http://e.x/a) <img src=http://e.x/b>"}, NOT_HERE),
    ],
)
def test_missing_papers_of_a_link_are_reported(screen: Screen, query: dict[str, str], note: str) -> None:
    test = screen("ask", **query)
    assert not test.exception
    assert visitor_of(test).notes == (note,)
    shown = texts(test)
    assert not any(part in shown for part in ("nowhere", "OR 1=1", "e.x"))
    if note == NOT_HERE:
        assert test.multiselect(key="scope_collections").value == []
        assert visitor_of(test).asked_about == ()


def test_what_the_address_says_of_a_choice_leads_to_that_choice_once(screen: Screen) -> None:
    for scope in (Scope(collections=(EVALUATION,)), Scope(papers=(BM25, FUSION))):
        address = scope_address(Current(VisitorSession()), scope)
        test = screen("ask", **{name: value for name, value in address.items() if value})
        found = visitor_of(test)
        assert (found.asked_about, found.asked_within.collections) == (scope.papers, scope.collections)
    visitor = Current(VisitorSession())
    scope_address(visitor, Scope(collections=(EVALUATION,)))
    assert f"collection={EVALUATION}" in visitor.now.visited


@pytest.mark.parametrize(
    ("is_private", "papers"), [(True, ("uploads/1",)), (False, tuple(map(str, range(MOST_NAMED + 1))))]
)
def test_addresses_name_no_own_or_too_many_papers(is_private: bool, papers: tuple[str, ...]) -> None:
    visitor = Current(VisitorSession(is_private=is_private))
    assert set(scope_address(visitor, Scope(papers=papers)).values()) == {""}


def test_a_fresh_visit_sees_what_is_here_and_asks_one_collection_of_it(screen: Screen) -> None:
    test = screen("ask")
    shown = texts(test)
    assert "**2 collections**" in shown and "Judges\\, summaries\\, agreement" in shown
    assert "- Fields: Information retrieval\\," in shown
    test.button(key="ask_collection_1").click().run()
    assert test.multiselect(key="scope_collections").value == [EVALUATION]
    assert "**Field Notes on Evaluation**" in texts(test)
    assert "2 collections" not in texts(test)
    shown = texts(screen("ask", paper=BM25))
    assert "BM25" in shown and "Judges" not in shown and "collections**" not in shown
    test = screen("collection", collection=EVALUATION)
    button = test.button(key="ask_filtered")
    assert button.label == "Ask this collection"
    button.click().run()
    assert test.multiselect(key="scope_collections").value == [EVALUATION]
