"""Feedback on answers: given, changed, taken back, stored, exported and left alone by a replay."""

import json
from dataclasses import replace

import pytest

from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.records import Conversation
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.feedback import (
    LONGEST_NOTE,
    mark_of,
    with_verdict,
    with_wrong_citation,
    without_wrong_citation,
)
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from assistant.verdicts import Feedback
from tests.assistant.storage.test_conversations import make_turn
from tests.explorer.turns import TURN

FIRST, SECOND = (TURN.answer.sentences[place].citations[0] for place in (0, 1))


def test_a_verdict_is_given_changed_and_taken_back():
    good = with_verdict(TURN, "good")
    assert (good.feedback.verdict, bool(good.feedback.given)) == ("good", True)
    assert with_verdict(good, "bad").feedback.verdict == "bad"
    assert with_verdict(good, None) == TURN


def test_a_citation_is_marked_as_wrong_once_and_no_other_with_it():
    marked = with_wrong_citation(with_wrong_citation(TURN, FIRST, "first"), FIRST, "  second\n reason ")
    assert [mark.note for mark in marked.feedback.wrong_citations] == ["second reason"]
    assert mark_of(marked, FIRST) is not None
    assert mark_of(marked, SECOND) is None and mark_of(marked, None) is None
    assert without_wrong_citation(marked, SECOND).feedback.wrong_citations == marked.feedback.wrong_citations
    assert without_wrong_citation(marked, FIRST) == TURN


def test_a_reason_is_one_storable_line():
    (mark,) = with_wrong_citation(TURN, FIRST, "x\x00\ud800" * 2000).feedback.wrong_citations
    assert len(mark.note) <= LONGEST_NOTE and mark.note.isprintable()


@pytest.fixture
def store(tmp_path):
    store = ConversationStore(tmp_path / "c.sqlite")
    yield store
    store.close()


def rows(store):
    """Return every stored turn's document, as it stands in the file."""
    with store._reading() as connection:
        found = connection.exec_driver_sql("SELECT number, document FROM turns ORDER BY number")
        return dict(found.all())


def test_only_the_turn_that_changes_is_written(store):
    turns = [replace(make_turn(f"Question {number}?"), asked=f"2026-11-2{number}") for number in range(3)]
    identifier = store.start("me").id
    for turn in turns:
        store.add_turn(identifier, turn)
    before = rows(store)
    store.change_turn(identifier, turns[1], with_verdict(turns[1], "good"))
    after = rows(store)
    assert [number for number in before if before[number] != after[number]] == [1]
    read = store.get(identifier).turns
    assert [turn.feedback.verdict for turn in read] == [None, "good", None]
    # As it is on another screen, without the verdict, it is the same turn.
    store.change_turn(identifier, turns[1], with_verdict(turns[1], "bad"))
    assert store.get(identifier).turns[1].feedback.verdict == "bad"


def test_a_turn_is_taken_off_put_back_and_nothing_of_it_stays_meanwhile(store, tmp_path):
    first, last = make_turn("First?"), make_turn("Last, with a secret?", "A secret.")
    identifier = store.start("me").id
    for turn in (first, last):
        store.add_turn(identifier, turn)
    store.remove_turn(identifier, last)
    assert store.get(identifier).turns == (first,)
    assert b"A secret." not in b"".join(path.read_bytes() for path in tmp_path.glob("c.sqlite*"))
    with pytest.raises(ConversationError, match="no longer in the stored conversation"):
        store.remove_turn(identifier, last)
    store.add_turn(identifier, last)
    assert store.get(identifier).turns == (first, last)


@pytest.mark.parametrize("method", ["change_turn", "remove_turn"])
def test_what_is_not_there_is_not_changed(store, method):
    turns = (TURN, TURN)[: 2 if method == "change_turn" else 1]
    with pytest.raises(ConversationError, match="There is no conversation"):
        getattr(store, method)("nothing", *turns)
    with pytest.raises(ConversationError, match="no longer in the stored conversation"):
        getattr(store, method)(store.start("me").id, *turns)


def test_exports_say_what_a_reader_said_and_reasons_are_text():
    said = with_verdict(with_wrong_citation(TURN, FIRST, "<b>no</b> ![x](http://e.x)"), "bad")
    conversation = Conversation("c", "t", (said,))
    markdown, page = to_markdown(conversation), to_html(conversation)
    for written in (markdown, page):
        assert "What a reader said" in written
        assert "A reader found this answer not good" in written
        assert "<b>" not in written
    assert "![x](" not in markdown
    assert from_json(to_json(conversation)) == conversation
    assert json.loads(to_json(conversation))["conversation"]["turns"][0]["feedback"]["verdict"] == "bad"
    assert "What a reader said" not in to_markdown(Conversation("c", "t", (TURN,)))


def test_a_trail_from_before_there_was_feedback_is_read():
    document = json.loads(to_json(Conversation("c", "t", (TURN,))))
    del document["conversation"]["turns"][0]["feedback"]
    assert from_json(json.dumps(document)).turns[0].feedback == Feedback()


def test_a_replay_does_not_look_at_feedback(ask_demo, demo_corpus, encoder):
    turn = with_verdict(ask_demo("What is BM25?", "field-notes-retrieval"), "bad")
    (replayed,) = Replayer(encoder, lambda _versions: demo_corpus).replay(Conversation("c", "t", (turn,)))
    assert replayed.is_equal
