"""Readers' notes, reading lists and follows, in a real database."""

from contextlib import closing

import pytest
import sqlalchemy as sa

from assistant.annotations import LONGEST_NOTE, Annotation
from assistant.storage.owned import Quota
from assistant.storage.reading import (
    MOST_FOLLOWED,
    MOST_ON_A_PAPER,
    ChangedElsewhereError,
    Followed,
    PaperSet,
    ReadingError,
    ReadingStore,
)
from corpus.records import Scope

STORE = ReadingStore
NOTE = Annotation("", "c/1", "A Paper", "c/1#2", 1, 2, "Two sentences. Of it.", "So what?")
PAPERS = PaperSet.of(["c/1", "c/2"])


def test_a_note_is_there_when_the_store_is_opened_again(store, reopened):
    kept = store.annotate("me", NOTE)
    (found,) = reopened().annotations("me", "c/1")
    assert found == kept
    assert (found.record.quoted, found.record.note) == (NOTE.quoted, NOTE.note)
    assert found.record.made == found.record.changed != ""


def test_notes_are_their_owners_alone(store):
    kept = store.annotate("me", NOTE)
    store.list_paper("me", "c/1", "A Paper")
    store.follow("me", Followed("x", "x"), PAPERS)
    assert store.annotations("you") == () == store.reading_list("you") == store.followed("you")
    with pytest.raises(ChangedElsewhereError):
        store.write_note("you", kept, "mine now")
    with pytest.raises(ChangedElsewhereError):
        store.erase("you", kept)
    store.unfollow("you", store.followed("me")[0].id)
    store.see("you", PaperSet.of(["c/1"]))
    store.unlist_paper("you", "c/1")
    assert store.annotations("me") == (kept,)
    assert store.followed("me")[0].seen == PAPERS.digest
    assert len(store.reading_list("me")) == 1


def test_of_two_tabs_that_write_one_note_the_later_is_told_what_the_other_wrote(store, reopened):
    before = store.annotate("me", NOTE)
    reopened().write_note("me", before, "from the other tab")
    with pytest.raises(ChangedElsewhereError, match="changed in another tab") as told:
        store.write_note("me", before, "from this tab")
    assert told.value.now.record.note == "from the other tab"
    with pytest.raises(ChangedElsewhereError):
        store.erase("me", before)
    store.write_note("me", told.value.now, "both")
    assert [annotation.record.note for annotation in store.annotations("me")] == ["both"]


def test_a_note_that_was_deleted_in_another_tab_is_told_to_be_gone(store, reopened):
    before = store.annotate("me", NOTE)
    reopened().erase("me", before)
    with pytest.raises(ChangedElsewhereError, match="deleted in another tab") as told:
        store.write_note("me", before, "again")
    assert told.value.now is None


def test_what_was_deleted_can_be_put_back_as_it_was(store):
    kept = store.annotate("me", NOTE)
    store.erase("me", kept)
    assert store.annotate("me", kept.record).record == kept.record


def test_of_a_deleted_note_nothing_stays_in_the_file(store, path):
    kept = store.annotate("me", Annotation("", "c/1", "A Paper", note="a secret of mine"))
    assert b"a secret of mine" in path.read_bytes() + path.with_name(f"{path.name}-wal").read_bytes()
    store.erase("me", kept)
    assert b"a secret of mine" not in path.read_bytes() + path.with_name(f"{path.name}-wal").read_bytes()


def test_lengths_and_numbers_are_bounded(store, path):
    long = store.annotate("me", Annotation("", "c/1", "t" * 5000, note="\x00x" * 20_000)).record
    assert (len(long.note), len(long.paper_title)) == (LONGEST_NOTE, 200)
    assert "\x00" not in long.note
    for _ in range(MOST_ON_A_PAPER - 1):
        store.annotate("me", NOTE)
    with pytest.raises(ReadingError, match=f"at most {MOST_ON_A_PAPER} notes"):
        store.annotate("me", NOTE)
    for number in range(MOST_FOLLOWED):
        store.follow("me", Followed(str(number), str(number)), PAPERS)
    with pytest.raises(ReadingError, match="Stop following one"):
        store.follow("me", Followed("more", "more"), PAPERS)


def test_what_a_visitor_keeps_counts_against_their_quota(path):
    with closing(ReadingStore(path, Quota(rows=2))) as store:
        kept = store.annotate("me", NOTE)
        store.list_paper("me", "c/1", "A Paper")
        with pytest.raises(ReadingError, match="2 entries of notes"):
            store.list_paper("me", "c/2", "Another")
        store.annotate("you", NOTE)
        store.write_note("me", kept, "shorter")
    with closing(ReadingStore(path, Quota(megabytes=1))) as store:
        for number in range(60):
            store.annotate("us", Annotation("", f"c/{number}", "", note="x" * 10_000))
        with pytest.raises(ReadingError, match="1 MB"):
            for number in range(60, 120):
                store.annotate("us", Annotation("", f"c/{number}", "", note="x" * 10_000))


def test_a_paper_is_listed_once_and_read_papers_come_last(store):
    for paper in ("c/1", "c/2", "c/1"):
        store.list_paper("me", paper, f"Paper {paper}")
    assert sorted(entry.paper_id for entry in store.reading_list("me")) == ["c/1", "c/2"]
    store.mark_read("me", "c/2", read=True)
    assert [(entry.paper_id, bool(entry.read)) for entry in store.reading_list("me")] == [
        ("c/1", False),
        ("c/2", True),
    ]
    store.mark_read("me", "c/2", read=False)
    assert not any(entry.read for entry in store.reading_list("me"))
    store.unlist_paper("me", "c/1")
    assert [entry.paper_id for entry in store.reading_list("me")] == ["c/2"]


def test_what_is_followed_knows_which_papers_were_there(store):
    followed = Followed("Ana Lin", scope=Scope(authors=("Ana Lin",)))
    store.follow("me", followed, PAPERS)
    store.follow("me", followed, PaperSet.of(["c/1", "c/2", "c/3"]))
    (kept,) = store.followed("me")
    assert kept.record == followed
    assert store.papers_of(kept.seen) == {"c/1", "c/2"}
    store.see("me", PaperSet.of(["c/1", "c/2", "c/3"]))
    (kept,) = store.followed("me")
    assert store.papers_of(kept.seen) == {"c/1", "c/2", "c/3"}
    assert store.papers_of(PAPERS.digest) is None
    store.unfollow("me", kept.id)
    assert store.papers_of(kept.seen) is None


def test_all_who_follow_something_share_one_set_of_papers_which_is_small(store, path):
    ids = [f"{year}.acl-long.{number}" for year in range(1990, 2025) for number in range(1, 2001)]
    there = PaperSet.of(ids)
    for owner in range(20):
        store.follow(f"visitor {owner}", Followed("x", "x"), there)
    with sa.create_engine(f"sqlite:///{path}").connect() as connection:
        sizes = connection.execute(sa.text("SELECT length(ids) FROM paper_sets")).scalars().all()
    assert len(sizes) == 1 and sizes[0] < 300_000
    assert store.papers_of(there.digest) == set(ids)


def test_notes_of_a_file_are_taken_in_once(store):
    store.annotate("me", NOTE)
    new = Annotation("guessed-id", "c/2", "Another", note="mine")
    assert store.take_in("me", (NOTE, new)) == 1
    assert store.take_in("me", (NOTE, new)) == 0
    assert [annotation.record.note for annotation in store.annotations("me", "c/2")] == ["mine"]
    assert store.annotations("me", "c/2")[0].id != "guessed-id"


def test_everything_of_an_owner_can_be_deleted(store):
    store.annotate("me", NOTE)
    store.list_paper("me", "c/1", "A Paper")
    store.follow("me", Followed("x", "x"), PAPERS)
    assert store.delete_all("me") == 3
    assert store.list("me") == () and store.papers_of(PAPERS.digest) is None
