"""A database server that accepts connections and never answers, or stops to: nobody waits long for it."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from assistant.storage import database
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.libraries import LibraryError, LibraryStore
from tests.assistant.storage.test_postgresql import no_word_of_sockets  # noqa: F401 - a fixture
from tests.demo_home import PROJECT
from tests.postgres_server import PostgresServer

# Two checks of connections, and what a busy machine adds.
SHORT_SECONDS = 20
SAID = "its server does not answer"


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Return the address of a server whose system accepts connections, and that reads none of them."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield f"postgresql://tester:secret@127.0.0.1:{server.getsockname()[1]}/name"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def test_fault_every_store_waited_a_minute_for_a_server_that_never_answers(silent_url: str) -> None:
    with within(SHORT_SECONDS), pytest.raises(ConversationError, match=SAID) as told:
        ConversationStore(silent_url)
    assert "secret" not in str(told.value)
    for _ in range(20):
        with within(1), pytest.raises(LibraryError, match=SAID):
            LibraryStore(silent_url)


@pytest.mark.usefixtures("home")
def test_fault_screens_took_minutes_where_the_database_never_answers(
    silent_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", silent_url)
    app = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180)
    for page in ("ask", "compare", "collection", "reading"):
        app.switch_page(f"explorer/pages/{page}.py")
        with within(SHORT_SECONDS):
            app.run()
        assert not app.exception
        shown = " ".join(one.value for one in [*app.markdown, *app.warning, *app.error, *app.caption])
        assert "server does not answer" in shown, page


def test_fault_a_server_that_froze_was_waited_for_a_minute_by_each_who_came(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PAUSE_SECONDS", 1)
    with closing(ConversationStore(postgres.new_database())) as store:
        kept = store.start("me", "Fusion")
        with frozen(postgres), within(SHORT_SECONDS), pytest.raises(ConversationError, match=SAID):
            store.list("me")
        time.sleep(1.5)
        assert [one.id for one in store.list("me")] == [kept.id]


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
