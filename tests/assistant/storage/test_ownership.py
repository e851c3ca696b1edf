"""Whose a stored conversation or comparison is, and whether it came from a file: of the real stores."""

import pytest

from assistant.records import Conversation
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationError, ConversationStore
from tests.assistant.storage.test_comparison_store import CORPUS, REQUEST
from tests.assistant.storage.test_conversations import change
from tests.assistant.trail.test_comparison_file import make_comparison


@pytest.fixture
def stores(path):
    opened = ConversationStore(path), ComparisonStore(path)
    yield opened
    for store in opened:
        store.close()


def begun(stores, owner):
    conversations, comparisons = stores
    return (
        (conversations, conversations.start(owner, "title").id),
        (comparisons, comparisons.start(owner, REQUEST, "model", None, CORPUS).id),
    )


def imported(stores, owner):
    conversations, comparisons = stores
    return (
        (conversations, conversations.put(owner, Conversation("", "title", ())).id),
        (comparisons, comparisons.put(owner, make_comparison()).id),
    )


def test_what_is_stored_belongs_to_who_began_it_or_took_it_in(stores):
    for store, identifier in (*begun(stores, "me"), *imported(stores, "me")):
        assert store.owner_of(identifier) == "me"
        assert store.owner_of("no such id") is None


def test_what_came_from_a_file_says_so_until_it_is_deleted(stores):
    assert [store.is_imported(identifier) for store, identifier in imported(stores, "me")] == [True, True]
    assert [store.is_imported(identifier) for store, identifier in begun(stores, "me")] == [False, False]
    for store, identifier in imported(stores, "me"):
        store.delete(identifier)
        assert not store.is_imported(identifier)


def test_a_conversation_of_the_screen_that_is_stored_again_did_not_come_from_a_file(stores):
    conversations, _ = stores
    kept = conversations.put("me", Conversation("", "title", ()), from_file=False)
    assert not conversations.is_imported(kept.id)


def test_a_database_that_fails_says_so_in_words_when_it_is_asked_whose_something_is(stores, path):
    (conversations, identifier), _ = begun(stores, "me")
    change(path, "DROP TABLE imported")
    with pytest.raises(ConversationError, match="cannot be used"):
        conversations.is_imported(identifier)
