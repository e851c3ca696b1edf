"""Transitions of a visitor's state: plain values in, plain values out; and their holder."""

from dataclasses import FrozenInstanceError, replace

import pytest

from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.records import ComparisonRequest
from assistant.records import Conversation
from corpus.records import Scope
from explorer.app.session import Current
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.app.visitor.conversation import Failure, RemovedTurn, Waiting
from explorer.app.visitor.session import Focus, VisitorSession
from explorer.jobs.comparison import ComparisonView
from tests.demo_home import PROJECT
from tests.explorer.turns import make_turn

FIRST, SECOND = (replace(make_turn("Text."), question=name, asked=name) for name in ("first", "second"))
TALK = VisitorSession(turns=(FIRST, SECOND))
ORDER = Order(ComparisonRequest(("a", "b"), "about"), "writer")


def test_a_value_is_of_one_visitor_and_of_the_time_it_was_read() -> None:
    visitor = Current(VisitorSession())
    before, look = visitor.now, visitor.updating(VisitorSession.look_at)
    visitor.update(VisitorSession.pick, "a", picked=True)
    look(1, 2)
    assert (visitor.now.picked, visitor.now.focus, before.focus) == (("a",), Focus(1, 2), None)
    with pytest.raises(FrozenInstanceError):
        before.title = "changed"  # type: ignore[misc]
    mine, others = Current(VisitorSession()), Current(VisitorSession())
    mine.update(VisitorSession.visit, "somewhere")
    assert others.now.visited == frozenset() and mine.now.stranger != others.now.stranger
    assert mine.now.conversation_id == mine.now.conversation_id != others.now.conversation_id


def test_a_question_is_sent_begun_and_taken_into_the_conversation_once() -> None:
    asked = TALK.look_at(1, 1).ask("third", "query")
    assert asked.waiting == Waiting("third", "query")
    sent = asked.send()
    assert (sent.waiting, sent.focus, sent.drawer_open) == (None, None, False)
    third = replace(FIRST, question="third", asked="third")
    taken = sent.begin("job", None).take(third).take(third)
    assert (taken.turns, taken.job_id, taken.removed_turn) == ((FIRST, SECOND, third), "", None)


def test_what_was_replaced_or_taken_off_can_be_had_back() -> None:
    begun = TALK.begin("job", SECOND)
    assert (begun.turns, begun.replaced) == ((FIRST,), SECOND)
    failed = begun.fail(Failure("again?", "No answer."))
    assert failed.turns == (FIRST, SECOND)
    assert failed.failure == Failure("again?", "No answer.", replaces=SECOND)
    assert (failed.job_id, failed.ask("again?").failure, failed.dismiss().failure) == ("", None, None)
    third = replace(FIRST, question="third", asked="third")
    replaced = begun.take(third)
    assert (replaced.turns, replaced.removed_turn) == ((FIRST, third), RemovedTurn(SECOND, was_replaced=True))
    taken = replace(TALK, unkept=(SECOND,)).remove_last_turn()
    assert (taken.turns, taken.unkept, taken.removed_turn) == ((FIRST,), (), RemovedTurn(SECOND))
    assert taken.put_back(SECOND).turns == (FIRST, SECOND)


def test_another_conversation_leaves_nothing_of_the_one_before_but_the_visit() -> None:
    before = replace(
        TALK, narrow=True, is_kept=True, unkept=(FIRST,), failure=Failure("q", "m"), job_id="job"
    )
    before = (
        before.look_at(1, 1).pick("a", picked=True).visit("old").close_menus().set_origin(is_imported=True)
    )
    after = before.turn_to(Conversation("new", "Title", (SECOND,)), notes=("A note.",))
    assert after == replace(
        VisitorSession(conversation_id="new", stranger=before.stranger),
        title="Title",
        turns=(SECOND,),
        notes=("A note.",),
        is_kept=True,
        visited=frozenset({"old", "new"}),
        opened=1,
        menus_closed=1,
        picked=("a",),
        narrow=True,
    )
    empty = after.turn_to()
    assert (empty.turns, empty.is_kept, empty.opened) == ((), False, 2)
    assert empty.conversation_id in empty.visited


def test_where_to_look_and_what_is_open_is_one_thing_at_a_time() -> None:
    private = TALK.turn_to_own(None)
    assert (private.is_private, private.is_kept) == (True, False)
    assert private.turn_to().is_private and not private.turn_to_collection().is_private
    session = TALK.look_at(1, 1).show_calls(2)
    assert (session.drawer_open, session.shown_calls) == (False, 2)
    session = session.open_documents()
    assert (session.documents_open, session.shown_calls) == (True, 0)
    session = TALK.look_in(("a",))
    assert (session.asked_about, session.asked_within) == (("a",), Scope())
    session = session.look_in((), Scope(venues=("V",)))
    assert (session.asked_about, session.asked_within) == ((), Scope(venues=("V",)))
    assert session.pick_all("abc", 2).pick("a", picked=False).picked == ("b",)


def test_a_comparison_is_chosen_begun_and_left_for_another() -> None:
    chosen = ComparisonSession().add(("a", "b", "a")).describe("about")
    assert (chosen.papers, chosen.state) == (("a", "b"), "choosing")
    running = chosen.begin("id", ORDER, "Title").run()
    assert (running.state, running.is_kept, running.title) == ("running", True, "Title")
    view = ComparisonView(request=ORDER.request, state="stopped", problem="The disk is full.")
    stopped = running.settle(view, "Stopped.")
    assert (stopped.state, stopped.failure, stopped.notes) == (
        "unfinished",
        "Stopped.",
        ("The disk is full.",),
    )
    again = stopped.choose_again()
    assert (again.state, again.papers, again.about, again.failure) == ("choosing", ("a", "b"), "about", "")
    assert chosen.add_to_chosen("c").papers == ("a", "b", "c")
    assert stopped.add_to_chosen("c").papers == ("c",)
    assert stopped.choose(("c",)).papers == ("c",)
    assert stopped.turn_to("", None).miss("gone").state == "missing"
    full = ComparisonSession().add([f"p{number}" for number in range(40)])
    assert len(full.papers) == MOST_PAPERS
    assert full.notes[0].startswith("10 papers were not added: 30 can be compared at once.")
    assert full.remove("p0").notes == () and full.clear().papers == ()


def test_what_streamlit_keeps_of_a_visitor_is_touched_in_one_file() -> None:
    files = [*(PROJECT / "explorer").rglob("*.py"), PROJECT / "streamlit_app.py"]
    touching = [file for file in files if "st.session_state" in file.read_text(encoding="utf-8")]
    assert touching == [PROJECT / "explorer" / "app" / "session.py"]
