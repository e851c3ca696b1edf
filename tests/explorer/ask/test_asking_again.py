"""Questions undone, put back, edited, gone on with and limited; answers judged."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from assistant.records import Turn
from assistant.storage.feedback import is_mark_of
from assistant.trail.transcript import from_json, to_json
from explorer.app.resources import Library
from explorer.app.session import Current
from explorer.app.visitor.conversation import Waiting
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import change_turn, open_conversation, undo
from explorer.ask.runs import replaced_by
from explorer.presenters.citations import format_claims
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import searched_again, searched_for
from tests.explorer.asking import (
    QUESTION,
    ask,
    choose_the_model,
    finish,
    open_menu,
    show_rest_of,
    texts,
    visitor_of,
)
from tests.explorer.turns import TURN, make_turn
from tests.standin_chat import StandinChat, refusal, reply

Screen = Callable[..., AppTest]
Model = Callable[..., StandinChat]
OTHER = "What is reciprocal rank fusion?"


def stored_turns(library: Library, test: AppTest) -> tuple[Turn, ...]:
    found = library.conversations().get(visitor_of(test).conversation_id)
    assert found is not None
    return found.turns


def edit(test: AppTest, number: int, question: str) -> AppTest:
    open_menu(test, f"edit_{number}_{visitor_of(test).menus_closed}")
    key = re.compile(rf"own_question_\d+_{number}_\d+")
    field = next(field for field in test.text_area if key.fullmatch(str(field.key)))
    field.set_value(question)
    return test.button(key=f"ask_edited_{number}").click().run()


def test_questions_are_undone_and_put_back(asked: AppTest, library: Library) -> None:
    test = ask(asked, OTHER)
    before = visitor_of(test).turns
    test.button(key="undo").click().run()
    assert visitor_of(test).turns == stored_turns(library, test) == before[:1]
    assert f"Removed: “{escaped(OTHER)}”" in texts(test)
    test.button(key="put_back").click().run()
    assert visitor_of(test).turns == stored_turns(library, test) == before
    assert not [button for button in test.button if button.key == "put_back"]
    test.button(key="undo").click().run()
    test.button(key="undo").click().run()
    assert stored_turns(library, test) == () and "Ask the papers" in texts(test)
    ask(test, OTHER)
    assert [turn.question for turn in stored_turns(library, test)] == [OTHER]
    assert "Removed" not in texts(test)


def test_edited_questions_replace_the_last_one_only(asked: AppTest, library: Library) -> None:
    test = ask(asked, "What about its storage cost?")
    finish(edit(test, 2, OTHER))
    assert [turn.question for turn in visitor_of(test).turns] == [QUESTION, OTHER]
    assert stored_turns(library, test) == visitor_of(test).turns
    assert f"Replaced: the answer to “{escaped('What about its storage cost?')}”" in texts(test)
    test.button(key="put_back").click().run()
    questions = [QUESTION, OTHER, "What about its storage cost?"]
    assert [turn.question for turn in stored_turns(library, test)] == questions
    finish(edit(show_rest_of(test, 1), 1, "What is BM25?"))
    assert [turn.question for turn in visitor_of(test).turns] == [*questions, "What is BM25?"]


def test_earlier_answers_are_drawn_without_sources_and_menus(asked: AppTest) -> None:
    test = ask(asked, OTHER)
    first = visitor_of(test).turns[0]
    found = format_claims(first.answer)
    assert "supported by what" in found
    assert escaped(found) in texts(test)
    assert "#cite-1-1" in texts(test)
    own = {button.key for button in test.button}
    assert {"again_2", "calls_2"} <= own
    assert not own & {"again_1", "calls_1"}
    show_rest_of(test, 1)
    own = {button.key for button in test.button}
    assert {"again_1", "again_2", "calls_1", "calls_2", "cite_1_1"} <= own
    where = f"In the answer to “{escaped(QUESTION)}”"
    assert where not in texts(test)
    test.button(key="cite_1_1").click().run()
    assert where in texts(test)
    assert escaped(found) in texts(test)
    assert not test.text_area
    for number in (1, 2):
        open_menu(test, f"edit_{number}_{visitor_of(test).menus_closed}")
    drawn = [field.key for field in test.text_area]
    assert len(drawn) == 2
    # Typed text survives a click beside the menu.
    test.session_state[f"edit_1_{visitor_of(test).menus_closed}"] = False
    test.run()
    assert [field.key for field in test.text_area] == drawn


def test_earlier_questions_say_how_they_were_read_searched_and_why_not_answered(asked: AppTest) -> None:
    test = ask(asked, "What are its limitations?")
    ask(test, "How does ColBERT store token vectors, and when should a system abstain?")
    (second,) = visitor_of(test).turns[2].second_searches
    assert second.part == "when should a system abstain?"
    assert searched_again(second) in texts(test)
    ask(test, "How do penguins breed in Antarctica?")
    refused = visitor_of(ask(test, "What is BM25?")).turns[3].answer.refusal
    rewrite = visitor_of(test).turns[1].rewrite
    assert rewrite.searched_for != rewrite.question
    assert searched_for(rewrite) in texts(test)
    assert searched_again(second) not in texts(test)
    assert searched_again(second) in texts(show_rest_of(test, 3))
    assert refused
    assert escaped(refused.message) in texts(test)
    assert "The nearest passages:" not in texts(test)
    assert "The nearest passages:" in texts(show_rest_of(test, 4))


def test_a_failed_edit_leaves_the_answer(screen: Screen, model: Model, library: Library) -> None:
    model(reply("BM25 ranks passages by words [1]."), refusal(401))
    test = ask(choose_the_model(screen("ask")), QUESTION)
    finish(edit(test, 1, "And what is BM25?"))
    failure = visitor_of(test).failure
    assert failure is not None and failure.question == "And what is BM25?"
    assert [turn.question for turn in visitor_of(test).turns] == [QUESTION]
    assert stored_turns(library, test) == visitor_of(test).turns
    finish(test.button(key="retry").click().run())
    assert [turn.question for turn in visitor_of(test).turns] == ["And what is BM25?"]
    assert stored_turns(library, test) == visitor_of(test).turns


def test_a_reload_hides_the_replaced_answer(screen: Screen, model: Model, library: Library) -> None:
    model(
        reply("BM25 ranks passages by words [1]."),
        reply("BM25 is a formula [1].", wait_between=0.1),
    )
    test = ask(choose_the_model(screen("ask")), QUESTION)
    edit(test, 1, "What is BM25?")
    second = screen("ask", conversation=visitor_of(test).conversation_id)
    assert visitor_of(second).turns == () and visitor_of(second).job_id
    assert len(stored_turns(library, test)) == 1
    assert visitor_of(finish(second)).turns == visitor_of(finish(test)).turns == stored_turns(library, test)


@pytest.mark.parametrize(
    ("turns", "replaces", "expected"),
    [
        ((TURN,), TURN, TURN),
        ((TURN,), None, None),
        ((), TURN, None),
        ((TURN, make_turn("later")), TURN, TURN),  # both were asked at once: they are told apart by nothing
    ],
)
def test_only_the_last_turn_is_replaced(
    turns: tuple[Turn, ...], replaces: Turn | None, expected: Turn | None
) -> None:
    found = replaced_by(Waiting("q", replaces=replaces), turns)
    assert (found is None) == (expected is None)


def test_a_question_to_go_on_with_is_asked_with_one_click(screen: Screen) -> None:
    test = ask(screen("ask"), OTHER)
    assert "You could also ask:" in texts(test)
    label = test.button(key="follow_up_1").label.replace("\\", "")
    test.button(key="follow_up_1").click().run()
    finish(test)
    assert [turn.question for turn in visitor_of(test).turns] == [OTHER, label]


def thumbs(test: AppTest) -> Any:
    (found,) = [feedback for feedback in test.get("feedback") if str(feedback.key).startswith("verdict_")]
    return found


def test_answers_and_citations_are_judged_and_clear_keeps_them(asked: AppTest, library: Library) -> None:
    test, identifier = asked, visitor_of(asked).conversation_id
    thumbs(test).set_value(1).run()
    assert stored_turns(library, test)[0].feedback.verdict == "good"
    test.button(key="new_conversation").click().run()
    test.button(key=f"open_{identifier}").click().run()
    assert thumbs(test).value == 1
    thumbs(test).set_value(0).run()
    assert stored_turns(library, test)[0].feedback.verdict == "bad"
    thumbs(test).set_value(None).run()
    assert stored_turns(library, test)[0].feedback.verdict is None
    test.button(key=f"cite_1_{visitor_of(test).turns[0].answer.cited_labels[0]}").click().run()
    test.text_input(key="side_wrong_note_1_1").set_value("Not <b>this</b> one")
    test.button(key="side_wrong_mark").click().run()
    (mark,) = stored_turns(library, test)[0].feedback.wrong_citations
    assert is_mark_of(mark, visitor_of(test).turns[0].answer.sentences[0].citations[0])
    assert mark.note == "Not <b>this</b> one" and "<b>" not in texts(test)
    assert "You marked 1 citation as wrong." in texts(test)
    written = from_json(to_json(visitor_of(test).conversation()))
    assert written.turns[0].feedback.wrong_citations == (mark,)
    test.button(key="side_unmark").click().run()
    assert not stored_turns(library, test)[0].feedback.says_anything
    open_menu(test, "clear_menu").button(key="clear_new").click().run()
    assert visitor_of(test).turns == () and library.conversations().get(identifier) is not None


def test_a_link_undoes_and_judges_nothing(screen: Screen, asked: AppTest, library: Library) -> None:
    identifier = visitor_of(asked).conversation_id
    other = open_menu(screen("ask", conversation=identifier), "clear_menu")
    open_menu(other, f"edit_1_{visitor_of(other).menus_closed}")
    assert not [button for button in other.button if button.key in ("undo", "clear", "side_wrong_mark")]
    assert not list(other.get("feedback"))
    assert "It is asked as a new question" in texts(other)
    visitor = Current(VisitorSession())
    open_conversation(library, visitor, identifier)
    undo(library, visitor)
    assert "begun in another browser" in " ".join(visitor.now.notes)
    visitor.update(VisitorSession.note)
    (turn,) = visitor.now.turns
    change_turn(library, visitor, turn, turn)
    assert "begun in another browser" in " ".join(visitor.now.notes)
    assert len(stored_turns(library, asked)) == len(visitor.now.turns) == 1
    choose_the_model(other)
    finish(edit(other, 1, OTHER))
    assert [turn.question for turn in stored_turns(library, asked)] == [QUESTION, OTHER]


def test_a_refused_question_is_kept(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_QUESTIONS_PER_TEN_MINUTES", "1")
    test = ask(screen("ask"), OTHER)
    test = ask(test, QUESTION)
    failure = visitor_of(test).failure
    assert failure is not None and failure.question == QUESTION
    assert "It can be asked again in 10 minutes" in failure.message
    assert test.button(key="retry") and len(visitor_of(test).turns) == 1
