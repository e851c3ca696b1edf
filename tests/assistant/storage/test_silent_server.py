"""A database server that never answers, or stops to: nobody waits long for it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from assistant.storage import database
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.libraries import LibraryError, LibraryStore
from tests.postgres_server import PostgresServer
from tests.silent_server import (
    OPEN_SOCKETS,
    SAID,
    SHORT_SECONDS,
    no_word_of_sockets,  # noqa: F401 - a fixture of every test here
    silent_server,
    within,
)

pytestmark = OPEN_SOCKETS


def test_fault_every_store_waited_a_minute_for_a_server_that_never_answers() -> None:
    with silent_server() as url:
        with within(SHORT_SECONDS), pytest.raises(ConversationError, match=SAID) as told:
            ConversationStore(url)
        assert "secret" not in str(told.value)
        for _ in range(20):
            with within(1), pytest.raises(LibraryError, match=SAID):
                LibraryStore(url)


def test_fault_a_server_that_froze_was_waited_for_a_minute_by_each_who_came(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PAUSE_SECONDS", 1)
    with closing(ConversationStore(postgres.new_database())) as store:
        kept = store.start("me", "Fusion")
        with frozen(postgres), within(SHORT_SECONDS), pytest.raises(ConversationError, match=SAID):
            store.list("me")
        time.sleep(1.5)
        assert [summary.id for summary in store.list("me")] == [kept.id]


@contextmanager
def frozen(server: PostgresServer) -> Iterator[None]:
    """Have no process of the server run for a while; its system goes on accepting connections."""
    first = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    others = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    processes = [first, *map(int, others)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
