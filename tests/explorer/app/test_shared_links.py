"""Shared links of conversations and comparisons, and notices on imported ones."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from assistant.records import AssistantError
from assistant.trail.comparison_file import comparison_to_json
from assistant.trail.transcript import to_json
from explorer.app.resources import Library
from explorer.app.session import Current
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import clear, open_conversation
from explorer.compare.kept import import_comparison, open_comparison, sidebar_list_of
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.explorer.asking import ask, choose_the_model, finish, open_menu, take_in, texts, visitor_of
from tests.explorer.comparing import ABOUT, Model, Screen, compared, modelled, over, session_of
from tests.standin_chat import StandinChat, reply


def test_a_link_reads_and_changes_no_comparison(screen: Screen, writer: Model, library: Library) -> None:
    writer()
    test = over(modelled(screen))
    comparison, identifier = compared(test), session_of(test).identifier
    assert "another browser" not in texts(test)
    other = screen("compare", comparison=identifier)
    assert session_of(other).comparison == comparison and "another browser" in texts(other)
    assert not [button for button in other.button if str(button.key).startswith("delete_")]
    visitor, session = Current(VisitorSession()), Current(ComparisonSession())
    open_comparison(library, visitor, session, identifier)
    listed = sidebar_list_of(library, visitor, session)
    with pytest.raises(AssistantError, match="begun in another browser"):
        listed.delete()
    with pytest.raises(AssistantError, match="begun in another browser"):
        listed.rename(identifier, "Mine now")
    stored = library.comparisons().get(identifier)
    assert stored is not None and stored.title == ABOUT


def test_a_running_comparison_of_another_is_watched_and_not_stopped(screen: Screen, writer: Model) -> None:
    writer(ComparingModel(seconds=0.3))
    first = modelled(screen)
    second = screen("compare", comparison=session_of(first).identifier)
    assert session_of(second).state == "running"
    assert not [button for button in second.button if button.key == "stop_comparison"]
    first.button(key="stop_comparison").click().run()
    assert session_of(over(second)).state == "unfinished"
    assert not [button for button in second.button if str(button.key).startswith("delete_")]
    # Who has it go on may stop what they began.
    second.button(key="go_on").click().run()
    assert [button for button in second.button if button.key == "stop_comparison"]
    over(second)


def test_an_imported_comparison_says_so(screen: Screen, writer: Model, library: Library) -> None:
    writer()
    test = over(modelled(screen))
    assert "came from a file" not in texts(test)
    session = Current(ComparisonSession())
    import_comparison(
        library, Current(VisitorSession()), session, comparison_to_json(compared(test)).encode()
    )
    assert session.now.is_imported
    shown = texts(screen("compare", comparison=session.now.identifier))
    assert "came from a file" in shown and "paper-trail replay comparison.json" in shown


def test_a_link_continues_a_conversation(screen: Screen, asked: AppTest, library: Library) -> None:
    identifier = visitor_of(asked).conversation_id
    other = open_menu(screen("ask", conversation=identifier), "clear_menu")
    open_menu(other, "conversation_more")
    assert "only there can it be renamed or deleted" in texts(other)
    assert not [
        button for button in other.button if button.key in ("clear", "rename") or "delete" in str(button.key)
    ]
    ask(choose_the_model(other), "What about its storage cost?")
    visitor = Current(VisitorSession())
    open_conversation(library, visitor, identifier)
    clear(library, visitor)
    assert "begun in another browser" in visitor.now.notes[0]
    stored = library.conversations().get(identifier)
    assert stored is not None and len(stored.turns) == 2
    open_menu(asked, "clear_menu").button(key="clear").click().run()
    assert library.conversations().get(identifier) is None


def test_anothers_question_is_watched(screen: Screen, model: Callable[..., StandinChat]) -> None:
    model(reply("BM25 ranks passages by their words [1].", wait_between=0.2))
    first = choose_the_model(screen("ask"))
    first.chat_input(key="question_box").set_value("What is BM25?").run()
    second = screen("ask", conversation=visitor_of(first).conversation_id)
    assert visitor_of(second).job_id
    assert [button for button in first.button if button.key == "stop"]
    assert not [button for button in second.button if button.key == "stop"]
    finish(first)


def test_an_imported_conversation_says_that_it_is_unchecked(screen: Screen, asked: AppTest) -> None:
    assert "came from a file" not in texts(asked)
    written = to_json(visitor_of(asked).conversation()).encode()
    test = screen("ask")
    take_in(test, written)
    for shown in (test, screen("ask", conversation=visitor_of(test).conversation_id)):
        assert "came from a file" in texts(shown)
        assert "paper-trail replay conversation.json" in texts(shown)
