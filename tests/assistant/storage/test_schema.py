"""Tables of every earlier version, in SQLite and PostgreSQL, and several processes that meet them at once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Timer

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.database import POSTGRESQL
from assistant.storage.libraries import LibraryStore
from assistant.storage.reading import ReadingStore
from assistant.storage.schema import METADATA, MIGRATIONS, REVISION
from tests.assistant.storage.earlier_schemas import STATEMENTS, statements_until
from tests.assistant.storage.test_conversations import make_turn


@pytest.fixture
def engine(url, backend):
    """Return a way to the database that passes all stores by."""
    if backend == "sqlite":
        url.parent.mkdir()
        made = sa.create_engine(sa.URL.create("sqlite", database=str(url)))
    else:
        made = sa.create_engine(sa.make_url(url).set(drivername=POSTGRESQL))
    yield made
    made.dispose()


def run(engine, *statements):
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def differences(engine):
    """Return in what the tables differ from those that this version would make."""
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection), METADATA)


def revisions(engine):
    with engine.connect() as connection:
        return [found for (found,) in connection.exec_driver_sql("SELECT version_num FROM alembic_version")]


def test_new_tables_are_as_the_steps_would_have_made_them(engine, url):
    ConversationStore(url).close()
    assert differences(engine) == []
    assert revisions(engine) == [REVISION]


def test_the_last_step_is_the_one_that_is_written_down():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


@pytest.mark.parametrize("version", list(STATEMENTS))
def test_tables_of_an_earlier_version_are_gone_on_with(engine, url, backend, version):
    run(engine, *statements_until(version, backend))
    with closing(ConversationStore(url)) as store:
        assert [summary.title for summary in store.list("me")] == ["Fusion"]
        store.add_turn("kept", make_turn())
        assert store.list("me")[0].turns == 1
    with closing(ReadingStore(url)) as store:
        assert store.list("me") == ()
    identities = set()
    for _ in range(2):
        with closing(LibraryStore(url)) as store:
            identities.add(store.database)
    assert len(identities) == 1 and "" not in identities
    assert differences(engine) == []
    assert revisions(engine) == [REVISION]
    if "CREATE TABLE spending" in " ".join(statements_until(version, backend)):
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT dollars FROM spending").scalar() == 0.5


@pytest.mark.parametrize("version", ["", "imports"])
def test_of_many_that_meet_them_at_once_one_brings_the_tables_up_to_date(engine, url, backend, version):
    if version:
        run(engine, *statements_until(version, backend))
    stores = (ConversationStore, ReadingStore, LibraryStore)
    with ThreadPoolExecutor(12) as threads:
        for store in threads.map(lambda number: stores[number % 3](url), range(12)):
            store.close()
    assert differences(engine) == []
    assert revisions(engine) == [REVISION]


def test_a_file_that_another_switches_to_a_log_is_waited_for(tmp_path, monkeypatch):
    """SQLite says at once that it is locked where two switch it at the same time, and does not wait."""
    monkeypatch.setattr(ConversationStore, "_options", lambda _store: {"connect_args": {"timeout": 0.0}})
    path = tmp_path / "conversations.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE kept (id)")
        other.execute("BEGIN EXCLUSIVE")
        end = Timer(0.3, other.execute, ("COMMIT",))
        end.start()
        with closing(ConversationStore(path)) as store:
            assert store.list("me") == ()
        end.join()


def test_tables_of_a_later_version_are_left_alone(engine, url):
    ConversationStore(url).close()
    run(engine, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConversationError, match="are of version 9999; this Paper Trail reads version 0"):
        ConversationStore(url)
    run(engine, f"UPDATE alembic_version SET version_num = '{REVISION}'")
    run(engine, "UPDATE paper_trail_schema SET version = 7")
    with pytest.raises(ConversationError, match="are of version 7; this Paper Trail reads version 1"):
        ConversationStore(url)
    assert revisions(engine) == [REVISION]


def test_a_step_that_is_cut_off_leaves_the_tables_as_they_were(engine, url, backend, monkeypatch):
    run(engine, *statements_until("imports", backend))
    before = set(sa.inspect(engine).get_table_names())
    monkeypatch.setattr("alembic.op.create_index", None)
    with pytest.raises(TypeError):
        ConversationStore(url)
    assert set(sa.inspect(engine).get_table_names()) == before
    monkeypatch.undo()
    ConversationStore(url).close()
    assert differences(engine) == []
