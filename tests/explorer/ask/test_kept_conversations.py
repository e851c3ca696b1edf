"""Stored conversations on the screens: resumed, renamed, deleted, imported, and a store that fails."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from assistant.records import Evidence, ScoredPassage, Turn
from assistant.storage.conversations import ConversationStore
from assistant.trail.transcript import to_json
from explorer.app.resources import Library
from explorer.ask.conversations import listed_conversations
from tests.explorer.asking import (
    QUESTION,
    ask,
    choose_the_model,
    finish,
    open_menu,
    take_in,
    texts,
    visitor_of,
)
from tests.standin_chat import StandinChat, reply

Screen = Callable[..., AppTest]


def identifier(test: AppTest) -> str:
    return visitor_of(test).conversation_id


def open_query(test: AppTest) -> TextInput:
    """Open the menu in which the first question's search query is changed."""
    return open_menu(test, f"edit_query_1_{visitor_of(test).menus_closed}").text_input(key="own_query_0_1")


def test_a_conversation_is_resumed_by_its_address(screen: Screen, asked: AppTest, library: Library) -> None:
    second = screen("ask", conversation=identifier(asked))
    assert visitor_of(second).turns == visitor_of(asked).turns
    assert "#cite-1-1" in texts(second)
    assert len(visitor_of(ask(choose_the_model(second), "What about its storage cost?")).turns) == 2
    stored = library.conversations().read(identifier(asked))
    assert stored is not None and len(stored.conversation.turns) == 2 and stored.faults == ()
    # A turn of another tab is on the screen with the next question.
    ask(asked, "What is reciprocal rank fusion?")
    questions = [turn.question for turn in visitor_of(asked).turns]
    assert questions == [QUESTION, "What about its storage cost?", "What is reciprocal rank fusion?"]
    other = screen("ask")
    assert "Nothing yet" in texts(other)
    assert not [button for button in other.button if button.key == f"open_{identifier(asked)}"]


def test_a_reload_while_answering_finds_the_question_on_its_way_and_stores_it_once(
    screen: Screen, library: Library, model: Callable[..., StandinChat]
) -> None:
    model(reply("BM25 ranks passages by their words [1].", wait_between=0.1))
    first = choose_the_model(screen("ask"))
    first.chat_input(key="question_box").set_value("What is BM25?").run()
    assert visitor_of(first).job_id
    second = screen("ask", conversation=identifier(first))
    assert visitor_of(second).job_id == visitor_of(first).job_id
    assert len(visitor_of(finish(second)).turns) == len(visitor_of(finish(first)).turns) == 1
    stored = library.conversations().read(identifier(first))
    assert stored is not None
    assert stored.conversation.turns == visitor_of(first).turns == visitor_of(second).turns


def test_fault_a_question_under_way_when_the_server_was_killed_was_lost_without_a_word(
    screen: Screen, library: Library, model: Callable[..., StandinChat]
) -> None:
    model(reply("BM25 ranks passages by their words [1].", wait_between=0.1))
    first = choose_the_model(screen("ask"))
    first.chat_input(key="question_box").set_value("What is BM25?").run()
    store, conversation = library.conversations(), identifier(first)
    assert store.lost_question(conversation, "the server after a restart") == "What is BM25?"
    finish(first)
    assert store.lost_question(conversation, "the server after a restart") == ""
    store.begin_question("job", conversation, "And who made it?", "the server before a restart")
    second = screen("ask", conversation=conversation)
    assert "And who made it" in texts(second)
    assert "the server was stopped meanwhile" in texts(second)
    finish(second.button(key="retry").click().run())
    assert [turn.question for turn in visitor_of(second).turns] == ["What is BM25?", "And who made it?"]
    assert visitor_of(screen("ask", conversation=conversation)).failure is None


@pytest.mark.parametrize("address", ["AAAAAAAAAAAAAAAAAAAAAA", "' OR 1=1 --", "x" * 5000, "\u0000", "../.."])
def test_an_address_of_no_conversation_says_so_and_offers_a_new_one(screen: Screen, address: str) -> None:
    test = screen("ask", conversation=address)
    assert "No conversation is at this address" in texts(test)
    test.button(key="begin_new").click().run()
    assert not test.exception
    assert "Ask the papers" in texts(test)


def test_a_new_conversation_leaves_the_old_one_in_the_list(asked: AppTest) -> None:
    test, old = asked, identifier(asked)
    open_query(test).set_value("half written").run()
    test.button(key="new_conversation").click().run()
    assert visitor_of(test).turns == ()
    ask(test, "What is reciprocal rank fusion?")
    assert identifier(test) != old
    fields = [field.value for field in test.text_input if str(field.key).startswith("own_query")]
    assert fields == [visitor_of(test).turns[0].rewrite.search_query]
    test.button(key=f"open_{old}").click().run()
    assert [turn.question for turn in visitor_of(test).turns] == [QUESTION]
    open_menu(test, "conversation_more")
    titles = [field.value for field in test.text_input if str(field.key).startswith("new_title")]
    assert titles == [QUESTION]


def test_the_list_is_of_one_owner_and_of_what_was_answered(tmp_path: Path, asked: AppTest) -> None:
    turns = visitor_of(asked).turns
    store = ConversationStore(tmp_path / "other.sqlite")
    for owner in ("a", "a", "b"):
        store.add_turn(store.start(owner, "title").id, turns[0])
    store.start("a", "never answered")
    assert [conversation.title for conversation in listed_conversations(store, "a")] == ["title", "title"]
    store.close()


def test_conversations_are_renamed_and_deleted(screen: Screen, asked: AppTest, library: Library) -> None:
    test, kept = asked, identifier(asked)
    title = "![x](http://e.x/a) <b> :red[alarm]"
    open_menu(test, "conversation_more").text_input(key="new_title_0").set_value(title)
    test.button(key="rename").click().run()
    stored = library.conversations().get(kept)
    assert stored is not None and stored.title == title == visitor_of(test).conversation().title
    shown = texts(test)
    assert "![x]" not in shown and ":red[" not in shown and "<b>" not in shown
    test.button(key="delete_drawer").click().run()
    assert library.conversations().get(kept) is not None
    test.button(key="delete_surely_drawer").click().run()
    assert library.conversations().get(kept) is None
    assert visitor_of(test).turns == ()
    assert "No conversation is at this address" in texts(screen("ask", conversation=kept))


def test_a_downloaded_conversation_is_imported_and_what_no_answer_can_hold_costs_its_turn(
    screen: Screen, asked: AppTest
) -> None:
    written = to_json(visitor_of(asked).conversation()).encode()
    second = screen("ask")
    take_in(second, written)
    assert visitor_of(second).turns == visitor_of(asked).turns
    assert identifier(second) != identifier(asked)
    conversation = visitor_of(asked).conversation()
    for damage, said in DAMAGED:
        hostile = to_json(replace(conversation, turns=(damage(conversation.turns[0]), *conversation.turns)))
        test = screen("ask")
        take_in(test, hostile.encode())
        assert not test.exception
        assert visitor_of(test).turns == conversation.turns
        assert "Turn 1 cannot be shown" in texts(test) and said in texts(test)


DAMAGED: tuple[tuple[Callable[[Turn], Turn], str], ...] = (
    (lambda turn: replace(turn, hits=(ScoredPassage("no passage", 1.0, None, None),)), "names a passage"),
    (
        lambda turn: replace(
            turn,
            evidence=_without_passages(turn.evidence),
            answer=replace(turn.answer, sentences=()),
        ),
        "a paper without a passage",
    ),
)


def test_an_overlong_answer_costs_its_turn(screen: Screen, asked: AppTest, library: Library) -> None:
    conversation = visitor_of(asked).conversation()
    turn = conversation.turns[0]
    long = replace(turn, answer=replace(turn.answer, text="x " * 150_000))
    hostile = replace(conversation, turns=(long, turn))
    test = screen("ask")
    take_in(test, to_json(hostile).encode())
    assert visitor_of(test).turns == () and "are read" in texts(test)
    numberless = replace(turn, answer=replace(turn.answer, citation_recall=inf))
    take_in(test, to_json(replace(conversation, turns=(numberless,))).encode())
    assert visitor_of(test).turns == () and "a number that there cannot be" in texts(test)
    stored = library.conversations().put("someone", replace(hostile, turns=(long, numberless, turn)))
    opened = screen("ask", conversation=stored.id)
    assert visitor_of(opened).turns == conversation.turns
    assert "Turn 1 cannot be shown" in texts(opened) and "are read" in texts(opened)
    assert "Turn 2 cannot be shown" in texts(opened)


def _without_passages(evidence: Evidence) -> Evidence:
    return Evidence(tuple(replace(paper, passages=()) for paper in evidence.papers))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe\x00", "not text"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"format": "another"}', "not a Paper Trail transcript"),
        (json.dumps({"format": "paper-trail/transcript", "version": 99}).encode(), "version 99"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_in_words(screen: Screen, data: bytes, said: str) -> None:
    test = screen("ask")
    take_in(test, data)
    assert not test.exception
    assert said in texts(test).replace("\\", "")
    assert visitor_of(test).turns == ()


def test_a_store_that_fails_loses_no_answer_and_says_so(
    screen: Screen, model: Callable[..., StandinChat], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model()
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no folder")
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{in_the_way / 'conversations.sqlite'}")
    test = ask(ask(choose_the_model(screen("ask")), QUESTION), "What about its storage cost?")
    assert "#cite-1-1" in texts(test)
    assert "2 answers of this conversation would be lost by a reload" in texts(test)
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'mended.sqlite'}")
    test.run()
    test.button(key="store_again").click().run()
    assert visitor_of(test).notes == ()
    resumed = screen("ask", conversation=identifier(test))
    assert visitor_of(resumed).turns == visitor_of(test).turns


def test_answers_survive_deleted_conversations(screen: Screen, asked: AppTest, library: Library) -> None:
    test = asked
    library.conversations().delete(identifier(test))
    ask(test, "What about its storage cost?")
    assert len(visitor_of(test).turns) == 2
    assert "may have been deleted" in texts(test)
    test.button(key="store_again").click().run()
    assert visitor_of(screen("ask", conversation=identifier(test))).turns == visitor_of(test).turns


def test_fault_an_imported_conversation_stored_again_passed_for_one_checked_here(
    screen: Screen, asked: AppTest, library: Library
) -> None:
    """Regression: deleted in another tab and stored again, it lost the note that it is from a file."""
    test = screen("ask")
    take_in(test, to_json(visitor_of(asked).conversation()).encode())
    imported = identifier(test)
    assert library.conversations().is_imported(imported)
    library.conversations().delete(imported)
    ask(test, "What about its storage cost?")
    test.button(key="store_again").click().run()
    assert identifier(test) != imported
    assert library.conversations().is_imported(identifier(test))
    assert "came from a file" in texts(screen("ask", conversation=identifier(test)))


def test_an_unreadable_turn_costs_itself_and_latest_turns_are_drawn_first(
    screen: Screen, asked: AppTest, library: Library
) -> None:
    test = asked
    store, turn = library.conversations(), visitor_of(test).turns[0]
    store.add_turn(identifier(test), replace(turn, question="second"))
    path = library.settings.conversations.get_secret_value().removeprefix("sqlite:///")
    _damage(Path(path), 0)
    resumed = screen("ask", conversation=identifier(test))
    assert [turn.question for turn in visitor_of(resumed).turns] == ["second"]
    assert "Turn 1 cannot be read" in texts(resumed)
    conversation = visitor_of(asked).conversation()
    turns = tuple(replace(conversation.turns[0], question=f"number {n}") for n in range(1, 26))
    kept = library.conversations().put("owner", replace(conversation, turns=turns))
    test = screen("ask", conversation=kept.id)
    assert "number 25" in texts(test) and "number 15" not in texts(test)
    assert test.button(key="show_earlier").label.endswith("15 more")
    test.button(key="show_earlier").click().run()
    test.button(key="show_earlier").click().run()
    assert "number 1\n" in texts(test)
    assert not [button for button in test.button if button.key == "show_earlier"]


def _damage(path: Path, number: int) -> None:
    import sqlite3  # noqa: PLC0415

    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE turns SET document = '{}' WHERE number = ?", (number,))
    connection.close()


def test_an_edited_query_is_searched_for_in_a_new_turn(asked: AppTest) -> None:
    test = asked
    open_query(test).set_value("reciprocal rank fusion")
    test.button(key="search_again_1").click().run()
    first, second = visitor_of(finish(test)).turns
    assert first.question == second.question == QUESTION
    assert (second.rewrite.search_query, second.rewrite.edited) == ("reciprocal rank fusion", True)
    assert not first.rewrite.edited
    assert "your own search query" in texts(test)


def test_an_edited_query_keeps_its_scope(screen: Screen, model: Callable[..., StandinChat]) -> None:
    model()
    test = choose_the_model(screen("ask"))
    test.multiselect(key="scope_collections").set_value(["field-notes-evaluation"]).run()
    ask(test, "How is citation precision defined?")
    test.multiselect(key="scope_collections").set_value([]).run()
    open_query(test).set_value("citation recall")
    test.button(key="search_again_1").click().run()
    assert visitor_of(finish(test)).turns[1].scope.collections == ("field-notes-evaluation",)


def test_models_have_settings_others_none(screen: Screen, model: Callable[..., StandinChat]) -> None:
    assert not [slider for slider in screen("ask").slider if str(slider.key).startswith("manner")]
    server = model(reply("BM25 ranks by words [1]."))
    test = choose_the_model(screen("ask"))
    test.slider(key="manner_temperature_1").set_value(0.8)
    test.number_input(key="manner_top_k_1").set_value(40)
    test.selectbox(key="request_kind").set_value("A fact").run()
    turn = visitor_of(ask(test, "What is BM25?")).turns[0]
    assert server.requests[-1].body["temperature"] == 0.8
    assert server.requests[-1].body["top_k"] == 40
    assert turn.rewrite.kind == "fact"
    assert "kind: a fact" in texts(test)


def test_conversations_of_others_and_answers_without_citations_say_so(
    screen: Screen, asked: AppTest, library: Library
) -> None:
    assert "another browser" not in texts(asked)
    turn = visitor_of(asked).turns[0]
    begun = library.conversations().start("somebody else", "title")
    library.conversations().add_turn(begun.id, turn)
    other = screen("ask", conversation=begun.id)
    assert "What you ask here is added to it" in texts(other)
    assert "Nothing of your own yet" in texts(other) and "Nothing yet" not in texts(other)
    other.button(key="new_conversation").click().run()
    assert "another browser" not in texts(other)
    assert "**References**" in texts(asked)
    turn = visitor_of(asked).turns[0]
    bare = replace(turn, answer=replace(turn.answer, text="Nothing is cited", sentences=()))
    begun = library.conversations().start("a", "title")
    library.conversations().add_turn(begun.id, bare)
    shown = screen("ask", conversation=begun.id)
    assert "Nothing is cited" in texts(shown) and "**References**" not in texts(shown)
