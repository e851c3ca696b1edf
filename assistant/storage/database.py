"""The base of all stores: SQLite in a private file, or any database that SQLAlchemy supports."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.exc import ArgumentError, DisconnectionError, NoSuchModuleError, SQLAlchemyError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from assistant.records import AssistantError
from assistant.storage.schema import METADATA, NewerSchemaError, bring_up_to_date
from corpus.settings import Settings

BUSY_SECONDS = 10
BUSY_LOOK_SECONDS = 0.01
# Seconds to wait for a PostgreSQL server's reply to a statement, and to a connection or its check.
SILENT_SECONDS, CONNECT_SECONDS = 60, 5
# Seconds before a silent server is tried again: each screen uses several stores.
PAUSE_SECONDS = 10
# Connections of one store (of six) of one process to a server.
IDLE_CONNECTIONS, MOST_CONNECTIONS = 2, 5
# The default driver.
POSTGRESQL = "postgresql+pg8000"

# The message by prefix of SQLite's error name or PostgreSQL's state.
_FAULTS = {
    "SQLITE_FULL": "the disk is full. Free some space; what was stored before is still there",
    "SQLITE_READONLY": "it is read-only. Make it writable, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_BUSY": "another process keeps it locked. Try again",
    "SQLITE_CORRUPT": "it is damaged. Put a copy back, or move it away to begin anew",
    "SQLITE_NOTADB": "it is no database. Move it away, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_CANTOPEN": "it cannot be opened. Check its folder and its permissions",
    "SQLITE_IOERR": "the disk failed or is full. Check it",
    "SilentServerError": "its server does not answer. Check it, or try again in a moment",
    "InterfaceError": "its server cannot be reached or went away. Start it, or try again",
    "TimeoutError": "all connections to its server are in use. Try again",
    "08": "the connection to its server broke. Try again",
    "25006": "it is read-only: the server is a copy of another, perhaps. Use the one that is written to",
    "28": "its server does not let this user in. Check user and password",
    "3D000": "its server has no database of that name. Make it: createdb NAME",
    "ArgumentError": (
        "the driver does not take PAPER_TRAIL_CONVERSATIONS as it is written. It is "
        "sqlite:////path/to/file or postgresql://user:password@host/name; check what stands after a ?"
    ),
    "40": "another process was in the way. Try again",
    "42501": "its user may not do this. Grant it the database and its schema",
    "53100": "the disk of its server is full. Free some space; what was stored before is still there",
    "53300": "its server takes no more connections. Try again; allow it more if it stays so",
    "55P03": "another process keeps it locked. Try again",
    "57P": "its server is stopping or starting. Try again in a moment",
}

# The monotonic time at which a silent server is tried again, for all stores of this process.
_asked_again: dict[sa.URL, float] = {}

logger = logging.getLogger(__name__)


class SilentServerError(OSError):
    """A server was silent a moment ago, and is not tried again yet."""


class Database:
    """Tables in a database, created if need be; safe for several threads and processes.

    A store derives from it and names what it `keeps`, its tables, and its `error`, the only one that its
    methods raise.
    """

    keeps: ClassVar[str]
    tables: ClassVar[tuple[sa.Table, ...]]
    error: ClassVar[type[AssistantError]]

    def __init__(self, url: str | Path) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path."""
        self._url = self._parsed(url)
        with self._as_store_errors():
            self._engine = self._opened()
        try:
            with self._as_store_errors():
                self._prepare()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the database of the settings; raises the store's error."""
        return cls(database_of(settings))

    def close(self) -> None:
        self._engine.dispose()

    def check_connection(self) -> None:
        """Raise the store's error if the database does not answer."""
        self._value(sa.select(sa.literal(1)))

    def _value(self, query: sa.Select[Any]) -> Any:
        with self._reading() as connection:
            return connection.scalar(query)

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def _is_in_memory(self) -> bool:
        return self._is_sqlite and self._url.database in (None, "", ":memory:")

    @property
    def _file(self) -> Path | None:
        """Return the file of an SQLite database, None for one in memory or on a server."""
        name = self._url.database if self._is_sqlite else ""
        return None if not name or name == ":memory:" or name.startswith("file:") else Path(name)

    @property
    def _name(self) -> str:
        # Without the query: drivers take passwords there too, under names of their own.
        shown = self._url.set(query={}).render_as_string(hide_password=True)
        return (self._is_sqlite and self._url.database) or shown

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._as_store_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """Open a transaction whose first statement must be a change, so that SQLite takes the write lock."""
        with self._as_store_errors(), self._engine.begin() as connection:
            yield connection

    def _empty_log(self) -> None:
        """Empty SQLite's write-ahead log, which still contains deleted data."""
        if self._is_sqlite:
            with self._reading() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        """Translate database errors into the store's error, without their messages, which may hold data."""
        try:
            if time.monotonic() < _asked_again.get(self._url, 0.0):
                raise SilentServerError
            yield
        except UnicodeEncodeError:
            raise self.error("An id or a name holds characters that cannot be stored.") from None
        # The driver for PostgreSQL passes on errors of its socket.
        except (SQLAlchemyError, OSError) as error:
            name = _fault_name(error)
            if not isinstance(error, SilentServerError):
                logger.warning("the %s at %s: %s", self.keeps, self._name, name)
                if name == SilentServerError.__name__:
                    _asked_again[self._url] = time.monotonic() + PAUSE_SECONDS
            known = (words for beginning, words in _FAULTS.items() if name.startswith(beginning))
            fault = next(known, f"the database does not answer ({name}). Check it")
            # Visitors see this message, so it does not name the server.
            where = f" at {self._name}" if self._is_sqlite else ""
            raise self.error(f"The {self.keeps}{where} cannot be used: {fault}.") from None

    def _parsed(self, url: str | Path) -> sa.URL:
        if isinstance(url, Path):
            return sa.URL.create("sqlite", database=str(url))
        try:
            parsed = sa.make_url(url)
        except (ArgumentError, ValueError):  # ValueError: a port that is no number
            # The text may hold a password, and so may the error.
            raise self.error(
                "The setting PAPER_TRAIL_CONVERSATIONS is no database URL. Write it as "
                "sqlite:////path/to/file or postgresql://user:password@host/name, or unset it."
            ) from None
        is_cut_wrongly = parsed.host and not parsed.username and "@" in (parsed.database or "")
        if "@" in (parsed.host or "") or is_cut_wrongly:
            raise self.error(
                "The setting PAPER_TRAIL_CONVERSATIONS has an @ or a / in its user or password. Write them "
                "as %40 and %2F, and : # and % as %3A, %23 and %25."
            )
        is_usual = parsed.drivername in ("postgresql", "postgres")
        return parsed.set(drivername=POSTGRESQL) if is_usual else parsed

    def _opened(self) -> sa.Engine:
        try:
            if self._is_sqlite:
                self._make_private_file()
                engine = sa.create_engine(self._url, hide_parameters=True, **self._options())
                sa.event.listen(engine, "connect", _set_up_sqlite)
                return engine
            return _engine_of_server(self._url)
        except (ImportError, NoSuchModuleError) as error:
            raise self.error(
                f"No driver is installed for {self._url.drivername} databases: {error}. Install one (for "
                f"PostgreSQL: pip install 'paper-trail[postgres]'), or unset PAPER_TRAIL_CONVERSATIONS."
            ) from error

    def _options(self) -> dict[str, Any]:
        """Return the engine's options; a database in memory has a single connection."""
        if not self._is_in_memory:
            return {"connect_args": {"timeout": float(BUSY_SECONDS)}}
        pool = {"poolclass": sa.QueuePool, "pool_size": 1, "max_overflow": 0}
        return {"connect_args": {"check_same_thread": False}, **pool}

    def _make_private_file(self) -> None:
        """Create the database's file readable for its owner only; SQLite would use the umask."""
        path = self._file
        # A URL with a host is rejected later, and must leave no file.
        if path is None or self._url.host:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            raise self.error(
                f"The {self.keeps} cannot be kept at {path}: {error.strerror}. Check its folder, or set "
                "PAPER_TRAIL_CONVERSATIONS to another place."
            ) from error

    def _prepare(self) -> None:
        """Migrate the tables; raises the store's error for those of a later version."""
        try:
            bring_up_to_date(self._engine)
        except NewerSchemaError as error:
            raise self.error(
                f"The {self.keeps} at {self._name} are of version {error}. Use that one, or set "
                "PAPER_TRAIL_CONVERSATIONS to another place."
            ) from None


def database_of(settings: Settings) -> str | Path:
    """Return the database URL of the settings, or the path of the SQLite file."""
    return settings.conversations.get_secret_value() or settings.conversations_path


def stored_bytes(connection: sa.Connection, limit: int) -> int:
    """Return the approximate bytes of all tables, including this transaction, without free pages.

    PostgreSQL's figure includes deleted rows, so beyond the `limit` the sizes of the live rows are summed.
    """
    if connection.dialect.name == "sqlite":
        pages, free, size = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar() or 0)
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size
    tables = METADATA.sorted_tables
    sizes = (func.pg_total_relation_size(table.name) for table in tables)
    total = int(connection.scalar(sa.select(sum(sizes, sa.literal(0)))) or 0)
    if total <= limit:
        return total
    return sum(_live_bytes(connection, table) for table in tables)


def _live_bytes(connection: sa.Connection, table: sa.Table) -> int:
    """Return the stored, compressed bytes of a table's values, without reading them."""
    sizes = (func.coalesce(func.pg_column_size(column), 0) for column in table.c)
    query = sa.select(func.coalesce(func.sum(sum(sizes, sa.literal(0))), 0))
    return int(connection.scalar(query.select_from(table)) or 0)


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # With a write-ahead log, readers and a writer do not block each other. SQLite itself does not wait if
    # another connection is just switching to it.
    for attempt in Retrying(
        retry=retry_if_exception(_is_busy),
        stop=stop_after_delay(BUSY_SECONDS),
        wait=wait_fixed(BUSY_LOOK_SECONDS),
        reraise=True,
    ):
        with attempt:
            cursor.execute("PRAGMA journal_mode = WAL")
    # Deleted data is overwritten.
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _is_busy(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _engine_of_server(url: sa.URL) -> sa.Engine:
    """Return the engine of one store for a server."""
    options: dict[str, Any] = {}
    if url.drivername == POSTGRESQL:
        options = {"connect_args": {"timeout": CONNECT_SECONDS, "application_name": "paper-trail"}}
    pool = {
        "pool_size": IDLE_CONNECTIONS,
        "max_overflow": MOST_CONNECTIONS - IDLE_CONNECTIONS,
        "pool_timeout": BUSY_SECONDS,
    }
    engine = sa.create_engine(url, hide_parameters=True, **pool, **options)
    sa.event.listen(engine, "checkout", partial(_check_alive, engine.dialect))
    sa.event.listen(engine, "do_connect", _connect)
    if url.get_backend_name() == "postgresql":
        sa.event.listen(engine, "connect", _set_up_postgresql)
    return engine


def _connect(dialect: sa.Dialect, _record: Any, args: Any, options: Any) -> Any:
    """Connect; raises ArgumentError without the options, which may include a password."""
    try:
        return dialect.connect(*args, **options)
    except (TypeError, ValueError, AttributeError) as error:
        raise ArgumentError(type(error).__name__) from None


def _check_alive(dialect: sa.Dialect, connection: Any, *_: Any) -> None:
    """Have a dead connection replaced; SQLAlchemy's own check recognises fewer errors."""
    try:
        _wait_at_most(connection, CONNECT_SECONDS)
        dialect.do_ping(connection)
        _wait_at_most(connection, SILENT_SECONDS)
    except Exception as error:
        raise DisconnectionError from error


def _wait_at_most(connection: Any, seconds: float) -> None:
    """Set the timeout of each reply of a pg8000 connection, which has only one for connecting and queries."""
    if socket := getattr(connection, "_usock", None):
        socket.settimeout(seconds)


def _set_up_postgresql(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    cursor.close()
    connection.commit()


def _fault_name(error: Exception) -> str:
    """Return SQLite's error name, PostgreSQL's state, or the type of the error."""
    if isinstance(error, SilentServerError) or any(
        isinstance(cause, TimeoutError) for cause in _causes(error)
    ):
        return SilentServerError.__name__
    if isinstance(error, OSError):
        return "InterfaceError"
    original = getattr(error, "orig", None)
    details = original.args[0] if original is not None and original.args else None
    state = getattr(original, "sqlstate", None) or (details.get("C") if isinstance(details, dict) else None)
    return str(getattr(original, "sqlite_errorname", state or type(original or error).__name__))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
