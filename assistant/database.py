"""A database of what is kept: SQLite in a private file, or any that SQLAlchemy reaches; errors in words."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    delete,
    event,
    func,
    insert,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from assistant.records import AssistantError
from corpus.settings import Settings
from corpus.text import storable

# Tables are added without another version: an older Paper Trail leaves those alone that it does not know.
SCHEMA_VERSION = 1
LONGEST_TITLE = 200
BUSY_SECONDS = 10.0

METADATA = MetaData()
_SCHEMA = Table("paper_trail_schema", METADATA, Column("version", Integer, primary_key=True))
# The ids of what came from files: anyone may have written what is in them.
_IMPORTED = Table("imported", METADATA, Column("id", String(64), primary_key=True))

# What went wrong and what to do, by the beginning of SQLite's own name for it.
_FAULTS = {
    "SQLITE_FULL": "the disk is full. Free some space; what was stored before is still there",
    "SQLITE_READONLY": "it is read-only. Make it writable, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_BUSY": "another process keeps it locked. Try again",
    "SQLITE_CORRUPT": "it is damaged. Put a copy back, or move it away to begin anew",
    "SQLITE_NOTADB": "it is no database. Move it away, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_CANTOPEN": "it cannot be opened. Check its folder and its permissions",
    "SQLITE_IOERR": "the disk failed or is full. Check it",
}

logger = logging.getLogger(__name__)


class TakenError(Exception):
    """What was to be stored has an id that is taken."""


class Database:
    """A database with some tables of ours, made if need be; safe for several threads and processes at once.

    A store of something derives from it and says what it keeps, in which tables, and how its errors are
    called: every method raises only these. The first table has a row for each thing, by its id and with a
    title; the second has its parts, with a foreign key to the first.
    """

    keeps: ClassVar[str]
    tables: ClassVar[tuple[Table, Table]]
    error: ClassVar[type[AssistantError]]

    def __init__(self, url: str | Path) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path; it is made if need be."""
        self._url = self._parsed(url)
        self._engine = self._opened()
        with self._in_words():
            self._prepare()

    def close(self) -> None:
        self._engine.dispose()

    def rename(self, identifier: str, title: str) -> None:
        """Give what has that id another title; raises this store's error when there is none."""
        with self._writing() as connection:
            self._change(connection, identifier, title=tidy_title(title))

    def owner_of(self, identifier: str) -> str | None:
        """Return whose it is what has that id, None where there is none."""
        held = self.tables[0].c
        with self._reading() as connection:
            found: str | None = connection.scalar(select(held.owner).where(held.id == identifier))
            return found

    def is_imported(self, identifier: str) -> bool:
        """Tell whether what has that id came from a file."""
        with self._reading() as connection:
            query = select(_IMPORTED.c.id).where(_IMPORTED.c.id == identifier)
            return connection.scalar(query) is not None

    def delete(self, identifier: str) -> bool:
        """Delete what has that id, and tell whether there was any; nothing of it stays in an SQLite file."""
        whole, parts = self.tables
        (whole_id,) = (column for column in parts.columns if column.foreign_keys)
        with self._writing() as connection:
            connection.execute(delete(parts).where(whole_id == identifier))
            connection.execute(delete(_IMPORTED).where(_IMPORTED.c.id == identifier))
            found = connection.execute(delete(whole).where(whole.c.id == identifier))
        self._empty_log()
        return found.rowcount > 0

    def _change(self, connection: Connection, identifier: str, **values: str) -> None:
        """Change the row of a thing, and so lock it; raises this store's error when there is none."""
        whole = self.tables[0]
        if not connection.execute(update(whole).where(whole.c.id == identifier).values(**values)).rowcount:
            name = self.keeps.removesuffix("s")
            raise self.error(f"There is no {name} {identifier!r}. It may have been deleted.")

    def _note_import(self, connection: Connection, identifier: str) -> None:
        connection.execute(insert(_IMPORTED), {"id": identifier})

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def _name(self) -> str:
        return (self._is_sqlite and self._url.database) or self._url.render_as_string(hide_password=True)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._in_words(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Open a transaction whose first statement must be a change, so that SQLite waits for its turn."""
        with self._in_words(), self._engine.begin() as connection:
            yield connection

    def _empty_log(self) -> None:
        """Write SQLite's log into its database and empty it: what was deleted still stands in the log."""
        if self._is_sqlite:
            with self._reading() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say in words what went wrong with the database; its own message may hold what was to be stored."""
        try:
            yield
        except UnicodeEncodeError:
            raise self.error("An id or a name holds characters that cannot be stored.") from None
        except SQLAlchemyError as error:
            original = getattr(error, "orig", None)
            name = getattr(original, "sqlite_errorname", type(original or error).__name__)
            logger.warning("the %s at %s: %s", self.keeps, self._name, name)
            known = (words for beginning, words in _FAULTS.items() if name.startswith(beginning))
            fault = next(known, f"the database does not answer ({name}). Check it")
            raise self.error(f"The {self.keeps} at {self._name} cannot be used: {fault}.") from None

    def _parsed(self, url: str | Path) -> URL:
        if isinstance(url, Path):
            return URL.create("sqlite", database=str(url))
        try:
            return make_url(url)
        except ArgumentError:
            # The text may hold a password, and so may the error.
            raise self.error(
                "The setting PAPER_TRAIL_CONVERSATIONS is no database URL. Write it as "
                "sqlite:////path/to/file or postgresql+psycopg://user:password@host/name, or unset it."
            ) from None

    def _opened(self) -> Engine:
        try:
            if self._is_sqlite:
                self._make_private_file()
            engine = create_engine(
                self._url,
                hide_parameters=True,
                connect_args={"timeout": BUSY_SECONDS} if self._is_sqlite else {},
            )
        except (ImportError, NoSuchModuleError) as error:
            raise self.error(
                f"No driver is installed for {self._url.drivername} databases: {error}. Install one, or "
                "unset PAPER_TRAIL_CONVERSATIONS."
            ) from error
        if self._is_sqlite:
            event.listen(engine, "connect", _set_up_sqlite)
        return engine

    def _make_private_file(self) -> None:
        """Make the database's file readable for its owner alone; SQLite would go by the umask."""
        name = self._url.database
        # One with a host is none that SQLite can open: it is refused later, and shall leave no file.
        if not name or name == ":memory:" or name.startswith("file:") or self._url.host:
            return
        path = Path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            raise self.error(
                f"The {self.keeps} cannot be kept at {path}: {error.strerror}. Check its folder, or set "
                "PAPER_TRAIL_CONVERSATIONS to another place."
            ) from error

    def _prepare(self) -> None:
        """Make the tables that are not there; raises the store's error for those of a later version."""
        version = self._version()
        if version not in (None, SCHEMA_VERSION):
            raise self.error(
                f"The {self.keeps} at {self._name} are of version {version}; this Paper Trail reads version "
                f"{SCHEMA_VERSION}. Use that one, or set PAPER_TRAIL_CONVERSATIONS to another place."
            )
        with self._engine.begin() as connection:
            has = self._engine.dialect.has_table
            for table in (_SCHEMA, _IMPORTED, *self.tables):
                if not has(connection, table.name):
                    _make_table(connection, table)
        if version is None:
            self._note_version()

    def _version(self) -> int | None:
        with self._engine.connect() as connection:
            if not self._engine.dialect.has_table(connection, _SCHEMA.name):
                return None
            found: int | None = connection.scalar(select(func.max(_SCHEMA.c.version)))
            return found

    def _note_version(self) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(_SCHEMA), {"version": SCHEMA_VERSION})
        except IntegrityError:
            logger.info("another process has just made the tables at %s", self._name)


def database_place(settings: Settings) -> str | Path:
    """Return where the settings keep things: a database's URL, or the path of an SQLite file."""
    return settings.conversations.get_secret_value() or settings.conversations_path


def new_id() -> str:
    """Return an id that nobody can guess: whoever knows it can open what is stored under it."""
    # None with a dash first, which a command line would take for an option.
    while (identifier := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return identifier


def is_id(text: str) -> bool:
    return len(text) == len(new_id()) and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def tidy_title(title: str) -> str:
    """Return a title on one line, without control characters and not too long for a list."""
    line = " ".join(storable(title).split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"


def now() -> str:
    """Return the time as it is stored: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # Readers and a writer do not wait for each other; what is deleted is overwritten.
    for pragma in ("journal_mode = WAL", "secure_delete = ON", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _make_table(connection: Connection, table: Table) -> None:
    connection.execute(CreateTable(table, if_not_exists=True))
    for index in table.indexes:
        connection.execute(CreateIndex(index, if_not_exists=True))
