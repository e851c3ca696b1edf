"""Conversations that are kept: real SQLite files, several processes, a kill in the middle of a write."""

import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.records import Answer, Conversation, Evidence, Provenance, Rewrite, Turn
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.owned import LONGEST_TITLE, Quota
from assistant.trail.transcript import turn_to_json
from corpus.records import Scope
from corpus.settings import read_settings

STORE = ConversationStore


def make_turn(question="Why?", reply="Because.", **changes):
    """Return a turn without evidence, each change in the place of what it has."""
    turn = Turn(
        question=question,
        asked="2026-11-21T12:00:00+00:00",
        scope=Scope(),
        papers_wanted=10,
        rewrite=Rewrite(question, question),
        hits=(),
        evidence=Evidence(),
        answer=Answer(reply),
        calls=(),
        seconds=(),
        provenance=Provenance("Paper Trail", "extractive", "encoder", "hash", ()),
    )
    return replace(turn, **changes)


def change(path, statement, *values):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_a_conversation_survives_a_restart(store, reopened):
    started = store.start("reader", "Fusion")
    turns = tuple(make_turn(f"Question {number}?") for number in range(3))
    for turn in turns:
        store.add_turn(started.id, turn)
    store.close()
    assert reopened().get(started.id) == Conversation(started.id, "Fusion", turns)


def test_ids_cannot_be_guessed_and_lists_are_of_one_owner(store):
    mine = [store.start("me", f"Mine {number}") for number in range(3)]
    store.start("you", "Yours")
    assert len({conversation.id for conversation in mine}) == 3
    assert all(re.fullmatch(r"[\w-]{22}", conversation.id) for conversation in mine)
    assert {conversation.title for conversation in store.list("me")} == {"Mine 0", "Mine 1", "Mine 2"}
    assert store.list("nobody") == ()


def test_the_list_begins_with_what_changed_last_and_comes_in_pages(store, path):
    started = [store.start("me", str(number)) for number in range(5)]
    for number, conversation in enumerate(started):
        change(
            path,
            "UPDATE conversations SET updated = ? WHERE id = ?",
            f"2026-01-0{number + 1}",
            conversation.id,
        )
    store.add_turn(started[1].id, make_turn())
    assert [conversation.title for conversation in store.list("me", limit=3)] == ["1", "4", "3"]
    assert [conversation.title for conversation in store.list("me", limit=3, offset=3)] == ["2", "0"]
    assert [conversation.turns for conversation in store.list("me", limit=2)] == [1, 0]


def test_a_missing_conversation_is_none_or_reported(store):
    assert store.get("no-such") is None
    assert store.delete("no-such") is False
    with pytest.raises(ConversationError, match="no conversation 'no-such'"):
        store.add_turn("no-such", make_turn())
    with pytest.raises(ConversationError, match="no conversation 'no-such'"):
        store.rename("no-such", "title")


def test_an_import_gets_an_id_that_nobody_knows(store):
    """Whoever knows an id can read on: the one in a file that came from somebody else is not taken."""
    brought = Conversation("A" * 22, "Brought", (make_turn(),))
    put = store.put("me", brought)
    assert put.id != brought.id
    assert store.get(put.id) == replace(brought, id=put.id)
    assert store.get(brought.id) is None


def test_what_is_put_back_keeps_its_id_where_that_is_free(store):
    started = store.start("me", "Fusion")
    store.add_turn(started.id, make_turn())
    whole = store.get(started.id)
    again = store.put("me", whole, keep_id=True)
    assert again == replace(whole, id=again.id) != whole
    assert store.delete(started.id)
    assert store.put("me", whole, keep_id=True) == whole == store.get(started.id)


@pytest.mark.parametrize("identifier", ["", "terminal", "../../etc/passwd", "é" * 22, "x" * 5000, "a b" * 7])
def test_only_an_id_of_ours_is_kept(store, identifier):
    assert re.fullmatch(r"[\w-]{22}", store.put("me", Conversation(identifier, ""), keep_id=True).id)


@pytest.mark.parametrize("quota", [Quota(rows=4), Quota(megabytes=1)])
def test_no_owner_fills_the_database(path, quota):
    """Regression: storage by one visitor had no bounds but the disk's."""
    store = ConversationStore(path, quota)
    kept = store.start("me")
    turn = make_turn("x" * 140_000)  # which is stored three times in a turn
    store.add_turn(kept.id, turn)
    store.start("me") if quota.rows else None
    with pytest.raises(ConversationError, match=r"are kept for one visitor\. Delete conversations"):
        store.put("me", Conversation("", "", (turn, turn)))
    while len(store.get(kept.id).turns) < 2:
        store.add_turn(kept.id, turn)
    with pytest.raises(ConversationError, match="cannot be stored"):
        store.add_turn(kept.id, turn)
    assert len(store.get(kept.id).turns) == 2 and not store.has_owner("another")
    store.put("another", Conversation("", "", (turn,)))
    store.delete(kept.id)
    store.put("me", Conversation("", "", (turn,)))
    store.close()


def test_deleting_leaves_nothing_in_the_files(store, path):
    canary = "A question that nobody may ever read again"
    started = store.start("me", f"{canary} as title")
    for number in range(20):
        store.add_turn(started.id, make_turn(f"{canary} {number}", "x" * 5000))
    kept = store.start("me", "kept")
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert canary.encode() in held
    assert store.delete(started.id)
    assert store.get(started.id) is None
    assert [conversation.id for conversation in store.list("me")] == [kept.id]
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert canary.encode() not in held


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("  Two\nlines\tand\x00 control\x1b[31m ", "Two lines and control[31m"),
        ("Robert'); DROP TABLE turns;--", "Robert'); DROP TABLE turns;--"),
        ("half a \ud800 pair", "half a pair"),
        ("é漢字🎉", "é漢字🎉"),
        ("x" * 10_000, "x" * (LONGEST_TITLE - 1) + "…"),
        ("", ""),
    ],
)
def test_hostile_titles(store, title, kept):
    started = store.start("me", title)
    assert started.title == kept
    store.rename(started.id, "other")
    store.rename(started.id, title)
    assert [conversation.title for conversation in store.list("me")] == [kept]
    assert store.get(started.id) == started


@settings(max_examples=30)
@given(owner=st.text(max_size=30), title=st.text(max_size=30), question=st.text(max_size=30))
def test_any_text_is_stored_as_text(tmp_path_factory, owner, title, question):
    owner = owner.encode("utf-8", "replace").decode()
    store = ConversationStore("sqlite://")
    try:
        started = store.start(owner, title)
        store.add_turn(started.id, make_turn(question.encode("utf-8", "replace").decode()))
        assert [(conversation.id, conversation.turns) for conversation in store.list(owner)] == [
            (started.id, 1)
        ]
        assert store.get(started.id).turns[0].question == question.encode("utf-8", "replace").decode()
    finally:
        store.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE turns SET document = '{broken' WHERE number = 1", "not JSON"),
        ("UPDATE turns SET document = '{}' WHERE number = 1", "damaged"),
        ("UPDATE turns SET format = 99 WHERE number = 1", "format version 99"),
    ],
)
def test_an_unreadable_turn_is_left_out_and_reported(store, path, statement, words):
    started = store.start("me")
    turns = tuple(make_turn(f"Question {number}?") for number in range(3))
    for turn in turns:
        store.add_turn(started.id, turn)
    change(path, statement)
    stored = store.read(started.id)
    assert stored.conversation.turns == (turns[0], turns[2]) == store.get(started.id).turns
    (fault,) = stored.faults
    assert fault.startswith("Turn 2 cannot be read and is left out.")
    assert words in fault
    store.add_turn(started.id, turns[1])
    assert store.get(started.id).turns == (turns[0], turns[2], turns[1])


def test_a_question_that_a_server_left_is_told_until_another_is_asked_there(store):
    conversation = store.start("me").id
    assert store.lost_question(conversation, "new server") == ""
    for number, question in enumerate(("Why?", "How?", "When?")):
        store.begin_question(f"job {number}", conversation, question, "old server")
    store.end_question("job 1")
    assert store.lost_question(conversation, "old server") == ""
    assert store.lost_question(conversation, "new server") in ("Why?", "When?")
    # It was answered, and the server killed before it could note that the question is over.
    store.add_turn(conversation, make_turn("When?"))
    assert store.lost_question(conversation, "new server") == "Why?"
    store.begin_question("job 4", conversation, "Where?", "new server")
    assert store.lost_question(conversation, "a third") == "Where?"
    store.delete(conversation)
    assert store.lost_question(conversation, "a third") == ""
    with pytest.raises(ConversationError, match="There is no conversation"):
        store.begin_question("job 5", conversation, "Who?", "new server")


def test_threads_of_one_store_do_not_lose_turns(store):
    started = store.start("me")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.add_turn(started.id, make_turn(str(number))), range(40)))
    assert {turn.question for turn in store.get(started.id).turns} == {str(number) for number in range(40)}


WRITER = """
import sys
from pathlib import Path
from assistant.storage.conversations import ConversationStore
from assistant.trail.transcript import turn_from_json
path, conversation, count = sys.argv[1:]
store = ConversationStore(Path(path))
turn = turn_from_json(sys.stdin.read())
conversation = conversation or store.start("process", "from a process").id
for _ in range(int(count)):
    store.add_turn(conversation, turn)
    print("added", flush=True)
store.close()
"""


def start_writer(root, path, conversation, count, turn):
    writer = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, str(path), conversation, str(count)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    writer.stdin.write(turn_to_json(turn))
    writer.stdin.close()
    return writer


def test_two_processes_that_begin_and_write_at_once_lose_nothing(root, path, reopened):
    path.parent.mkdir()
    writers = [start_writer(root, path, "", 25, make_turn()) for _ in range(2)]
    for writer in writers:
        assert writer.stdout.read().count("added") == 25
        assert writer.wait(60) == 0
        writer.stdout.close()
    assert [conversation.turns for conversation in reopened().list("process")] == [25, 25]


def test_a_kill_in_the_middle_of_a_write_costs_that_turn_at_most(root, store, path, reopened):
    started = store.start("me")
    before = make_turn("Before?")
    store.add_turn(started.id, before)
    long = make_turn("Long?", "word " * 400_000)
    with start_writer(root, path, started.id, 1000, long) as writer:
        for _ in range(3):
            assert writer.stdout.readline() == "added\n"
        writer.send_signal(signal.SIGKILL)
        told = writer.stdout.read().count("added")
    stored = reopened().read(started.id)
    assert stored.faults == ()
    assert stored.conversation.turns[0] == before
    assert set(stored.conversation.turns[1:]) == {long}
    assert len(stored.conversation.turns) - 1 - 3 - told in (0, 1)
    store.add_turn(started.id, before)
    assert store.get(started.id).turns[-1] == before


def test_a_full_disk_is_said_and_loses_nothing(store, path):
    started = store.start("me")
    store.add_turn(started.id, make_turn())
    store.close()
    full = ConversationStore(path)
    with full._engine.connect() as connection:  # the one connection of this store's pool
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ConversationError, match="the disk is full"):
        full.add_turn(started.id, make_turn(reply="x" * 100_000))
    assert full.get(started.id).turns == (make_turn(),)
    full.close()


def test_a_read_only_database_can_be_read_and_says_what_it_is(store, path):
    started = store.start("me", "Fusion")
    read_only = ConversationStore(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert read_only.get(started.id) == started
    with pytest.raises(ConversationError, match="it is read-only"):
        read_only.start("me")
    read_only.close()


def test_a_locked_database_is_reported(store, path, monkeypatch):
    monkeypatch.setattr("assistant.storage.database.BUSY_SECONDS", 0.05)
    impatient = ConversationStore(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ConversationError, match="another process keeps it locked"):
        impatient.start("me")
    other.execute("ROLLBACK")
    assert impatient.start("me").id
    other.close()
    impatient.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"no database at all, " * 100, "it is no database"), (None, "it cannot be opened")],
)
def test_a_file_that_is_no_database_is_reported(tmp_path, content, words):
    path = tmp_path / "conversations.sqlite"
    if content:
        path.write_bytes(content)
    else:
        path.mkdir()
    with pytest.raises(ConversationError, match=words):
        ConversationStore(path)


def test_a_folder_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConversationError, match="cannot be kept at"):
        ConversationStore(tmp_path / "file" / "conversations.sqlite")


@pytest.mark.parametrize(
    "url",
    [
        "no url but canary-password",
        "oracle+nothing://me:canary-password@host/name",
        "postgresql+psycopg2://me:canary-password@127.0.0.1:1/name",
        "postgresql://me:p@canary-password@127.0.0.1:1/name",
    ],
)
def test_a_url_that_leads_nowhere_is_said_without_its_password(monkeypatch, url):
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", url)
    settings = read_settings()
    assert "canary-password" not in repr(settings)
    with pytest.raises(ConversationError) as caught:
        ConversationStore.open(settings)
    assert "canary-password" not in str(caught.value)
    assert "PAPER_TRAIL_CONVERSATIONS" in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me@127.0.0.1:1/name?password=canary-password",
        "postgresql://me@127.0.0.1:1/name?sslpassword=canary-password",
        "postgresql://me@127.0.0.1:1/name?timeout=canary-password",
        "postgresql://me@127.0.0.1:1/name?options=-cpassword%3Dcanary-password",
        "postgresql://me:p@127.0.0.1:canary-password/name",
        "postgresql://m/e:canary-password@127.0.0.1:1/name",
        "sqlite://me:canary-password@host/name?password=canary-password",
    ],
)
def test_fault_a_password_in_the_query_of_the_database_s_address_was_logged(monkeypatch, caplog, url):
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", url)
    with caplog.at_level("DEBUG"), pytest.raises(ConversationError) as caught:
        ConversationStore.open(read_settings())
    shown = "".join(traceback.format_exception(caught.value))
    assert "canary-password" not in shown + caplog.text


def test_the_settings_say_where(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    ConversationStore.open(read_settings()).close()
    file = tmp_path / "home" / "conversations.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'other.sqlite'}")
    ConversationStore.open(read_settings()).close()
    assert (tmp_path / "other.sqlite").exists()


def test_no_error_and_no_log_holds_what_was_to_be_stored(store, path, caplog):
    started = store.start("me")
    change(path, "DROP TABLE turns")
    with caplog.at_level("DEBUG"), pytest.raises(ConversationError) as caught:
        store.add_turn(started.id, make_turn("A canary question?"))
    assert "canary" not in str(caught.value) + caplog.text
    assert "Check it" in str(caught.value)


def test_half_a_surrogate_pair_in_a_reply_does_not_lose_the_turn(store):
    started = store.start("me")
    turn = make_turn("Why?", "half \ud83d a pair, a NUL \x00 and ESC \x1b[31m")
    store.add_turn(started.id, turn)
    assert store.get(started.id).turns == (turn,)
    with pytest.raises(ConversationError, match="cannot be stored"):
        store.read("\udcff")


def test_a_reader_does_not_wait_for_a_writer(store, path):
    started = store.start("me")
    store.add_turn(started.id, make_turn())
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE conversations SET title = 'half written'")
    found = []
    reading = threading.Thread(target=lambda: found.append(store.get(started.id)))
    reading.start()
    reading.join(5)
    writer.execute("ROLLBACK")
    writer.close()
    assert found == [Conversation(started.id, "", (make_turn(),))]
