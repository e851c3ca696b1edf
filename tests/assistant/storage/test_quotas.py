"""Storage limits: each write that can grow, all visitors together, the disk, guests."""

import random
from contextlib import closing
from dataclasses import replace

import pytest

from assistant.annotations import Annotation
from assistant.records import AssistantError, Conversation
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.libraries import LibraryStore
from assistant.storage.owned import Quota
from assistant.storage.reading import ReadingStore
from assistant.verdicts import Feedback
from corpus.settings import Settings
from tests.assistant.storage.test_comparison_store import ComparisonStore, start
from tests.assistant.storage.test_conversations import make_turn
from tests.assistant.trail.test_comparison_file import make_call, make_comparison

LONG = "x" * 140_000  # which is stored three times in a turn
MORE_THAN_ANY_DISK = 10**12


def test_a_changed_turn_outgrew_the_quota(url):
    with closing(ConversationStore(url, Quota(megabytes=1))) as store:
        kept, small = store.start("me"), make_turn("short")
        store.add_turn(kept.id, small)
        store.add_turn(kept.id, make_turn(LONG))
        with pytest.raises(ConversationError, match="1 MB of conversations are kept for one visitor"):
            store.change_turn(kept.id, small, make_turn("short", 5 * LONG))
        assert store.get(kept.id).turns[0] == small
        store.change_turn(kept.id, small, replace(small, feedback=Feedback(verdict="good")))


def test_the_calls_of_a_comparison_outgrew_the_quota(url):
    with closing(ComparisonStore(url, Quota(rows=3))) as store:
        begun = start(store)
        for work in ("elements 1", "elements 2"):
            store.add_call(begun.id, make_call(work))
        with pytest.raises(AssistantError, match="3 entries of comparisons are kept for one visitor"):
            store.add_call(begun.id, make_call("elements 3"))
        # The outcome alone is stored all the same.
        store.fail(begun.id, "It cannot be stored.")
        assert (len(store.calls(begun.id)), store.get(begun.id).error) == (2, "It cannot be stored.")
    with closing(ComparisonStore(url, Quota(megabytes=1))) as store:
        with pytest.raises(AssistantError, match="1 MB of comparisons are kept for one visitor"):
            store.finish(begun.id, make_comparison(begun.id, (make_call("elements 1", "x" * 1_100_000),)))
        assert store.get(begun.id).state == "unfinished"


def test_visitors_without_number_filled_the_database(url):
    """Quotas are of one cookie, and cookies are free."""
    with closing(ConversationStore(url, Quota(rows=100, megabytes=100, megabytes_of_all=2))) as store:
        stored = []
        with pytest.raises(ConversationError, match="2 MB are kept for all visitors together"):
            for number in range(40):
                # Of what repeats itself PostgreSQL stores little.
                turn = make_turn(random.Random(number).randbytes(70_000).hex())
                stored.append(store.put(f"browser-{number}", Conversation("", "", (turn,))).id)
        assert stored and not store.has_owner(f"browser-{len(stored)}")
        with (
            closing(ReadingStore(url, Quota(megabytes_of_all=1))) as notes,
            pytest.raises(AssistantError, match="for all visitors together"),
        ):
            notes.annotate("browser-0", Annotation("", "c/p", "Title", note="mine"))
        # Deletion makes room at once.
        for identifier in stored:
            store.delete(identifier)
        store.put("another", Conversation("", "", (make_turn("short"),)))


def test_visitors_filled_the_disk_to_the_last_byte(path, caplog):
    full = Quota(free_disk_megabytes=MORE_THAN_ANY_DISK)
    with closing(ConversationStore(path)) as before:
        kept, turn = before.start("me"), make_turn()
        before.add_turn(kept.id, turn)
    with closing(ConversationStore(path, full)) as store, closing(ComparisonStore(path, full)) as others:
        changed = replace(turn, feedback=Feedback(verdict="good"))
        for write in (
            lambda: store.start("me"),
            lambda: store.add_turn(kept.id, turn),
            lambda: store.change_turn(kept.id, turn, changed),
            lambda: store.begin_question("id", kept.id, "What?", "server"),
            lambda: store.rename(kept.id, "Another title"),
            lambda: start(others),
        ):
            with pytest.raises(AssistantError, match="disk of this server is nearly full"):
                write()
        assert "PAPER_TRAIL_FREE_DISK_MEGABYTES" in caplog.text
        # Stored conversations can be read and deleted.
        assert store.get(kept.id).turns == (turn,)
        store.remove_turn(kept.id, turn)
        assert store.delete(kept.id)
    with closing(LibraryStore(path, full)) as libraries:
        with pytest.raises(AssistantError, match="nearly full"):
            libraries.keep("library", "me", "Title")
        assert libraries.get("library") is None


def test_a_guest_with_the_link_filled_the_owners_quota(url):
    with closing(ConversationStore(url, Quota(rows=10))) as store:
        shared, turn = store.start("owner"), make_turn()
        for _ in range(4):
            store.add_turn(shared.id, turn, by=("guest", "stranger"))
        with pytest.raises(ConversationError, match="begun by somebody else"):
            store.add_turn(shared.id, turn, by=("guest", "stranger"))
        for _ in range(5):
            store.add_turn(shared.id, turn, by=("stranger", "owner"))
        with pytest.raises(ConversationError, match="10 entries of conversations are kept for one visitor"):
            store.add_turn(shared.id, turn)
    with closing(ComparisonStore(url, Quota(rows=4))) as store:
        begun = start(store, owner="owner")
        store.add_call(begun.id, make_call("elements 1"), by=("guest",))
        with pytest.raises(AssistantError, match="begun by somebody else"):
            store.add_call(begun.id, make_call("elements 2"), by=("guest",))
        store.add_call(begun.id, make_call("elements 2"), by=("owner",))


def test_the_limits_of_all_visitors_are_on_unless_they_are_switched_off():
    quota = Quota.of(Settings())
    assert quota.megabytes_of_all > quota.megabytes > 0 and quota.free_disk_megabytes > 0
    assert Quota.of(Settings(free_disk_megabytes=0)).free_disk_megabytes == 0
