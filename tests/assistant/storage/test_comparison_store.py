"""Comparisons that are kept: real SQLite files, several processes, a kill in the middle of a write."""

import re
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from assistant.comparing.records import ComparisonError, ComparisonRequest
from assistant.records import Parameters, TableVersion
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.owned import Quota
from assistant.trail.comparison_file import call_to_json
from tests.assistant.storage.test_conversations import change
from tests.assistant.trail.test_comparison_file import make_call, make_comparison

STORE = ComparisonStore
REQUEST = ComparisonRequest(("c/p1", "c/p2"), "How lists are fused")
CORPUS = (TableVersion("papers", 3), TableVersion("passages", 4))


def start(store, owner="me", request=REQUEST, parameters=None):
    return store.start(owner, request, "model", parameters, CORPUS)


def test_a_comparison_that_was_begun_survives_a_restart(store, reopened):
    parameters = Parameters(temperature=0.7)
    started = start(store, parameters=parameters)
    calls = tuple(make_call(work) for work in ("elements 1", "round 1 sample 1", "round 1 vote 1"))
    for call in calls:
        store.add_call(started.id, call)
    store.close()
    again = reopened()
    found = again.get(started.id)
    assert replace(found, updated="") == replace(started, updated="")
    assert (found.request, found.generator, found.parameters) == (REQUEST, "model", parameters)
    assert (found.corpus, found.title, found.state, found.error) == (CORPUS, REQUEST.about, "unfinished", "")
    assert found.comparison is None
    assert again.calls(started.id) == calls


def test_a_finished_comparison_holds_its_calls_once(store, path):
    started = start(store)
    calls = tuple(make_call(f"round {number} sample 1", "A canary reply.") for number in (1, 2))
    for call in calls:
        store.add_call(started.id, call)
    store.fail(started.id, "The server did not answer.")
    assert store.get(started.id).error == "The server did not answer."
    store.finish(started.id, make_comparison("another-id", calls))
    found = store.get(started.id)
    assert (found.state, found.error) == ("finished", "")
    assert found.comparison == make_comparison(started.id, calls)
    assert store.calls(started.id) == calls
    assert connected(path, "SELECT count(*) FROM comparison_calls") == [(0,)]


def connected(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_comparison_from_a_file_gets_an_id_that_nobody_knows(store):
    brought = make_comparison("A" * 22, [make_call()])
    put = store.put("me", brought)
    assert re.fullmatch(r"[\w-]{22}", put.id)
    assert put.id != brought.id
    assert store.get(brought.id) is None
    assert store.get(put.id) == put
    assert put.comparison == replace(brought, id=put.id)
    assert (put.generator, put.corpus) == ("model", brought.provenance.corpus)
    assert put.request == ComparisonRequest(brought.paper_ids, brought.about, brought.options)


def test_the_list_begins_with_what_changed_last_and_comes_in_pages(store, path):
    started = [start(store, request=replace(REQUEST, about=f"About {number}")) for number in range(5)]
    for number, comparison in enumerate(started):
        change(
            path, "UPDATE comparisons SET updated = ? WHERE id = ?", f"2026-01-0{number + 1}", comparison.id
        )
    store.add_call(started[1].id, make_call())
    start(store, owner="you")
    assert [comparison.title for comparison in store.list("me", limit=3)] == ["About 1", "About 4", "About 3"]
    assert [comparison.title for comparison in store.list("me", limit=3, offset=3)] == ["About 2", "About 0"]
    assert [(comparison.papers, comparison.state) for comparison in store.list("me", limit=1)] == [
        (2, "unfinished")
    ]
    assert store.list("nobody") == ()


def test_a_comparison_gets_another_title_and_stays_in_its_place(store):
    started = start(store)
    store.rename(started.id, "  Fusion\nof\x1b lists ")
    assert store.get(started.id) == replace(started, title="Fusion of lists")


def test_a_description_of_many_words_makes_a_title_that_fits_a_list(store):
    assert start(store, request=replace(REQUEST, about="word " * 4000)).title.endswith("…")
    assert start(store, request=replace(REQUEST, about="\x00\n")).title == "2 papers"


def test_deleting_leaves_nothing_in_the_files(store, path):
    canary = "A prompt that nobody may ever read again"
    started = start(store, request=replace(REQUEST, about=f"{canary} as title"))
    for number in range(20):
        store.add_call(started.id, make_call(f"round {number} vote 1", "x" * 5000, f"{canary} {number}"))
    kept = start(store)
    assert canary.encode() in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert store.delete(started.id)
    assert not store.delete(started.id)
    assert store.get(started.id) is None
    assert store.calls(started.id) == ()
    assert [comparison.id for comparison in store.list("me")] == [kept.id]
    assert canary.encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_the_calls_of_a_round_and_of_later_ones_are_dropped(store):
    started, other = start(store), start(store)
    works = ["elements 12", "round 1 sample 1", "round 2 vote 3", "round 10 sample 2", "round 11 vote 1"]
    for work in works:
        store.add_call(started.id, make_call(work))
    store.add_call(other.id, make_call("round 10 sample 2"))
    store.drop_round(started.id, 10)
    assert [call.work for call in store.calls(started.id)] == works[:3]
    store.drop_round(started.id, 1)
    assert [call.work for call in store.calls(started.id)] == works[:1]
    store.drop_round(started.id, 0)
    assert store.calls(started.id) == ()
    assert len(store.calls(other.id)) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.add_call("no-such", make_call()),
        lambda store: store.finish("no-such", make_comparison()),
        lambda store: store.fail("no-such", "Why"),
        lambda store: store.drop_round("no-such", 1),
        lambda store: store.rename("no-such", "title"),
    ],
    ids=["add_call", "finish", "fail", "drop_round", "rename"],
)
def test_a_missing_comparison_is_reported(store, path, change):
    with pytest.raises(ComparisonError, match="no comparison 'no-such'"):
        change(store)
    assert connected(path, "SELECT count(*) FROM comparison_calls") == [(0,)]


def test_a_damaged_call_costs_itself(store, path, caplog):
    started = start(store)
    for number in range(3):
        store.add_call(started.id, make_call(f"round {number + 1} sample 1", "a canary"))
    change(path, "UPDATE comparison_calls SET document = '{broken' WHERE round = 2")
    assert [call.work for call in store.calls(started.id)] == ["round 1 sample 1", "round 3 sample 1"]
    assert "will be made again" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE comparisons SET plan = '{}'", "cannot be read. The comparison is damaged: request"),
        ("UPDATE comparisons SET document = '{broken'", "cannot be read. The file is not JSON"),
        ("UPDATE comparisons SET format = 99", "has format version 99"),
    ],
)
def test_a_damaged_comparison_is_said_and_can_be_deleted(store, path, statement, words):
    put = store.put("me", make_comparison())
    change(path, statement)
    with pytest.raises(ComparisonError) as caught:
        store.get(put.id)
    assert words in str(caught.value)
    assert [comparison.id for comparison in store.list("me")] == [put.id]
    assert store.delete(put.id)


def test_faults_of_the_database_are_said_of_comparisons(store, path):
    started = start(store)
    read_only = ComparisonStore(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert read_only.get(started.id) == started
    with pytest.raises(ComparisonError, match=r"^The comparisons at .* cannot be used: it is read-only"):
        read_only.add_call(started.id, make_call())
    read_only.close()
    change(path, "UPDATE paper_trail_schema SET version = 7")
    with pytest.raises(ComparisonError, match="are of version 7; this Paper Trail reads version 1"):
        ComparisonStore(path)


def test_threads_of_one_store_do_not_lose_calls(store):
    started = start(store)
    calls = [make_call(f"round 1 vote {number}") for number in range(64)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda call: store.add_call(started.id, call), calls))
    assert {call.work for call in store.calls(started.id)} == {call.work for call in calls}


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from assistant.storage.comparisons import ComparisonStore
from assistant.trail.comparison_file import call_from_json
store, call = ComparisonStore(Path(sys.argv[1])), call_from_json(sys.stdin.read())
for number in range(1000):
    store.add_call(sys.argv[2], replace(call, work=f"round {number} sample 1"))
    print("added", flush=True)
"""


def test_every_call_that_was_said_to_be_stored_survives_a_kill(root, store, path, reopened):
    started = start(store)
    call = make_call(reply="word " * 20_000)
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, str(path), started.id],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        writer.stdin.write(call_to_json(call))
        writer.stdin.close()
        for _ in range(5):
            assert writer.stdout.readline() == "added\n"
        writer.send_signal(signal.SIGKILL)
        told = 5 + writer.stdout.read().count("added")
    calls = reopened().calls(started.id)
    assert len(calls) - told in (0, 1)
    assert {call.call for call in calls} == {call.call}


def test_two_who_go_on_with_one_comparison_do_not_both_pay_for_it(store):
    begun = start(store)
    first = store.take(begun.id)
    store.add_call(begun.id, make_call("elements 1"), first)
    second = store.take(begun.id)
    with pytest.raises(ComparisonError, match="has been taken up elsewhere"):
        store.add_call(begun.id, make_call("elements 2"), first)
    store.add_call(begun.id, make_call("elements 2"), second)
    with pytest.raises(ComparisonError, match="has been taken up elsewhere"):
        store.finish(begun.id, make_comparison("another-id", ()), first)
    assert store.get(begun.id).state == "unfinished"
    assert [call.work for call in store.calls(begun.id)] == ["elements 1", "elements 2"]


def test_no_owner_fills_the_database_with_comparisons(path):
    store = ComparisonStore(path, Quota(rows=3))
    first = start(store)
    for _ in range(2):
        store.add_call(first.id, make_call("elements 1"))
    with pytest.raises(ComparisonError, match=r"are kept for one visitor\. Delete comparisons"):
        start(store)
    start(store, owner="another")
    store.delete(first.id)
    start(store)
    store.close()
