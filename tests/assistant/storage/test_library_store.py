"""Whose a kept library is: nobody else reads, renames or deletes it, and it takes what is over it along."""

import pytest

from assistant.storage.conversations import ConversationStore
from assistant.storage.libraries import KeptLibrary, LibraryError, LibraryStore, RenamedError
from assistant.storage.owned import new_id
from tests.assistant.storage.test_conversations import make_turn

STORE = LibraryStore


@pytest.fixture
def kept(store):
    identifier = new_id()
    store.keep(identifier, "me", "Whispers")
    return identifier


def test_a_library_is_its_owners_and_of_those_who_have_its_link_now(store, kept):
    assert store.reads(kept, ["me"]).title == "Whispers"
    assert store.reads(kept, ["you"]) is None
    assert store.list("you") == () == store.seen_by(["you"])
    link = store.share(kept)
    assert store.open_by_link(f"{link}x", "you") == "" == store.open_by_link("", "you")
    assert store.reads(kept, ["you"]) is None
    assert store.open_by_link(link, "you") == kept
    assert store.reads(kept, ["you"]).owner == "me"
    assert store.seen_by(["you", "guest"]) == (KeptLibrary(kept, "Whispers", is_own=False),)
    assert store.seen_by(["you", "me"]) == (KeptLibrary(kept, "Whispers", is_own=True),)
    assert store.list("you") == () and store.owner_of(kept) == "me"
    store.unshare(kept)
    assert store.reads(kept, ["you"]) is None and store.seen_by(["you"]) == ()
    assert store.share(kept) != link
    assert store.reads(kept, ["you"]) is None


def test_a_library_takes_what_was_asked_of_it_along_whoever_asked(store, kept, url):
    conversations = ConversationStore(url)
    over, beside = conversations.start("you", library=kept), conversations.start("you")
    conversations.add_turn(over.id, make_turn())
    assert store.over(kept).conversations == (over.id,)
    assert store.delete_with_all(kept).conversations == (over.id,)
    assert conversations.get(over.id) is None and conversations.get(beside.id) is not None
    assert store.get(kept) is None
    with pytest.raises(LibraryError):
        store.touch(kept)
    conversations.close()


def test_of_two_that_rename_it_the_second_is_told(store, kept):
    store.rename_from(kept, "Whispers", "Maps")
    with pytest.raises(RenamedError, match="“Maps”"):
        store.rename_from(kept, "Whispers", "Hills")
    assert store.get(kept).title == "Maps"
