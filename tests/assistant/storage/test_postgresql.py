"""Properties of a PostgreSQL server: many writers at once, lost connections, rights, passwords."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.libraries import LibraryError, LibraryStore
from assistant.storage.owned import Quota
from assistant.storage.reading import Followed, PaperSet, ReadingStore
from tests.assistant.storage.test_conversations import make_turn
from tests.demo_home import PROJECT
from tests.silent_server import no_word_of_sockets  # noqa: F401 - a fixture of every test here

WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from assistant.storage.conversations import ConversationStore
from tests.assistant.storage.test_conversations import make_turn
url, identifier, name = sys.argv[1:]
store = ConversationStore(url)
with ThreadPoolExecutor(5) as threads:
    list(threads.map(lambda n: store.add_turn(identifier, make_turn(f"{name} {n}")), range(20)))
"""


@pytest.fixture
def url(postgres):
    return postgres.new_database()


def test_twenty_writers_in_four_processes_lose_and_double_nothing(url):
    with closing(ConversationStore(url)) as store:
        identifier = store.start("me").id
        command = [sys.executable, "-c", WRITER, url, identifier]
        writers = [subprocess.Popen([*command, str(number)], cwd=PROJECT) for number in range(4)]
        assert [writer.wait(120) for writer in writers] == [0] * 4
        asked = [turn.question for turn in store.get(identifier).turns]
    assert sorted(asked) == sorted(f"{name} {number}" for name in range(4) for number in range(20))


def test_limits_hold_for_those_who_come_at_the_same_moment(url):
    """Regression: each counted before it saw what the others were storing."""
    with closing(LibraryStore(url)) as libraries, ThreadPoolExecutor(20) as threads:

        def keep(number):
            try:
                libraries.keep(f"library-{number}", "me", "Papers", 3)
            except LibraryError:
                return False
            return True

        assert sum(threads.map(keep, range(20))) == 3 == len(libraries.list("me"))
    with closing(ConversationStore(url, Quota(rows=5))) as store, ThreadPoolExecutor(20) as threads:

        def start(_):
            try:
                store.start("you")
            except ConversationError:
                return False
            return True

        assert sum(threads.map(start, range(20))) == 5 == len(store.list("you"))


def test_what_is_followed_keeps_its_papers_while_others_come_and_go(url):
    with closing(ReadingStore(url)) as store, ThreadPoolExecutor(10) as threads:

        def follow(number):
            there = PaperSet.of([f"paper-{number % 2}"])
            store.follow(f"reader-{number}", Followed("Fusion", "fusion"), there)
            if number % 3 == 0:
                store.delete_all(f"reader-{number}")

        list(threads.map(follow, range(60)))
        for number in range(60):
            for followed in store.followed(f"reader-{number}"):
                assert store.papers_of(followed.seen) == {f"paper-{number % 2}"}


def test_a_server_that_goes_away_is_told_and_gone_on_with_when_it_is_back(postgres, url):
    with closing(ConversationStore(url)) as store:
        kept = store.start("me", "Fusion")
        postgres.stop()
        try:
            with pytest.raises(ConversationError, match="its server cannot be reached or went away") as told:
                store.list("me")
        finally:
            postgres.start()
        assert "secret" not in str(told.value)
        store.add_turn(kept.id, make_turn())
        assert store.list("me")[0].turns == 1
        # A connection that the server has closed is opened again without a word.
        postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        assert store.list("me")[0].title == "Fusion"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"password": "wrong"}, "does not let this user in"),
        ({"database": "nowhere"}, "has no database of that name"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_password(postgres, change, words):
    with pytest.raises(ConversationError, match=words) as told:
        ConversationStore(postgres.url(**change))
    assert "secret" not in str(told.value) and "wrong" not in str(told.value)


def test_who_may_not_make_tables_uses_those_that_are_there(postgres, url):
    """As where the tables are made by hand, with `paper-trail conversations list`."""
    name = url.rpartition("/")[2]
    role = f"app_{name}"
    postgres.run(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
    with pytest.raises(ConversationError, match="its user may not do this"):
        ConversationStore(postgres.url(name, user=role))
    ConversationStore(url).close()
    rights = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES", "USAGE ON ALL SEQUENCES"
    for right in rights:
        postgres.run(f"GRANT {right} IN SCHEMA public TO {role}", name)
    with closing(ConversationStore(postgres.url(name, user=role))) as store:
        store.start("me", "Fusion")
        assert len(store.list("me")) == 1
