"""The base of all stores: SQLite in a private file, or any database that SQLAlchemy reaches."""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.exc import (
    ArgumentError,
    DisconnectionError,
    IntegrityError,
    NoSuchModuleError,
    SQLAlchemyError,
)

from assistant.records import AssistantError
from assistant.storage.schema import (
    IMPORTED,
    OVER_LIBRARIES,
    NewerSchemaError,
    bring_up_to_date,
)
from assistant.storage.turns import take_turn
from corpus.settings import Settings
from corpus.text import storable

LONGEST_TITLE = 200
BUSY_SECONDS = 10
# A PostgreSQL server that does not reply for so long is taken for gone.
SILENT_SECONDS = 60
# To a server, of one store of one process; there are five.
IDLE_CONNECTIONS, MOST_CONNECTIONS = 2, 5
# The driver that is taken where the URL names none.
POSTGRESQL = "postgresql+pg8000"
DRIVER = "requirements-postgres.txt"

# What went wrong and what to do, by the beginning of SQLite's own name for it or of PostgreSQL's state.
_FAULTS = {
    "SQLITE_FULL": "the disk is full. Free some space; what was stored before is still there",
    "SQLITE_READONLY": "it is read-only. Make it writable, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_BUSY": "another process keeps it locked. Try again",
    "SQLITE_CORRUPT": "it is damaged. Put a copy back, or move it away to begin anew",
    "SQLITE_NOTADB": "it is no database. Move it away, or set PAPER_TRAIL_CONVERSATIONS to another place",
    "SQLITE_CANTOPEN": "it cannot be opened. Check its folder and its permissions",
    "SQLITE_IOERR": "the disk failed or is full. Check it",
    "InterfaceError": "its server cannot be reached or went away. Start it, or try again",
    "TimeoutError": "all connections to its server are in use. Try again",
    "08": "the connection to its server broke. Try again",
    "25006": "it is read-only: the server is a copy of another, perhaps. Use the one that is written to",
    "28": "its server does not let this user in. Check user and password",
    "3D000": "its server has no database of that name. Make it: createdb NAME",
    "40": "another process was in the way. Try again",
    "42501": "its user may not do this. Grant it the database and its schema",
    "53100": "the disk of its server is full. Free some space; what was stored before is still there",
    "53300": "its server takes no more connections. Try again; allow it more if it stays so",
    "55P03": "another process keeps it locked. Try again",
    "57P": "its server is stopping or starting. Try again in a moment",
}

logger = logging.getLogger(__name__)


class TakenError(Exception):
    """What was to be stored has an id that is taken."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How much one owner may have stored: rows, and millions of characters; 0 is no limit."""

    rows: int = 0
    megabytes: int = 0


NO_QUOTA = Quota()


Summary = TypeVar("Summary")


class Database:
    """Tables in a database that is made if need be; for several threads and processes.

    A store derives from it and says what it `keeps`, in which tables, and how its `error` is called: every
    method raises only that.
    """

    keeps: ClassVar[str]
    tables: ClassVar[tuple[sa.Table, ...]]
    error: ClassVar[type[AssistantError]]

    def __init__(self, url: str | Path) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path."""
        self._url = self._parsed(url)
        self._engine = self._opened()
        try:
            with self._as_store_errors():
                self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._engine.dispose()

    def check_connection(self) -> None:
        """Raise the store's error where the database does not answer."""
        self._value(sa.select(sa.literal(1)))

    def _value(self, query: sa.Select[Any]) -> Any:
        with self._reading() as connection:
            return connection.scalar(query)

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def _name(self) -> str:
        return (self._is_sqlite and self._url.database) or self._url.render_as_string(hide_password=True)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._as_store_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """Open a transaction whose first statement must be a change, so that SQLite waits for its turn."""
        with self._as_store_errors(), self._engine.begin() as connection:
            yield connection

    def _empty_log(self) -> None:
        """Write SQLite's log into its database and empty it: what was deleted still stands in the log."""
        if self._is_sqlite:
            with self._reading() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        """Raise the store's error for the database's, whose message may hold what was to be stored."""
        try:
            yield
        except UnicodeEncodeError:
            raise self.error("An id or a name holds characters that cannot be stored.") from None
        # The driver for PostgreSQL passes on what its socket says.
        except (SQLAlchemyError, OSError) as error:
            name = _fault_name(error)
            logger.warning("the %s at %s: %s", self.keeps, self._name, name)
            known = (words for beginning, words in _FAULTS.items() if name.startswith(beginning))
            fault = next(known, f"the database does not answer ({name}). Check it")
            raise self.error(f"The {self.keeps} at {self._name} cannot be used: {fault}.") from None

    def _parsed(self, url: str | Path) -> sa.URL:
        if isinstance(url, Path):
            return sa.URL.create("sqlite", database=str(url))
        try:
            parsed = sa.make_url(url)
        except ArgumentError:
            # The text may hold a password, and so may the error.
            raise self.error(
                "The setting PAPER_TRAIL_CONVERSATIONS is no database URL. Write it as "
                "sqlite:////path/to/file or postgresql://user:password@host/name, or unset it."
            ) from None
        return parsed.set(drivername=POSTGRESQL) if parsed.drivername == "postgresql" else parsed

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
                f"PostgreSQL: pip install -r {DRIVER}), or unset PAPER_TRAIL_CONVERSATIONS."
            ) from error

    def _options(self) -> dict[str, Any]:
        """Return how to connect; what is in memory has one connection, which threads take in turn."""
        if self._url.database not in (None, "", ":memory:"):
            return {"connect_args": {"timeout": float(BUSY_SECONDS)}}
        one = {"poolclass": sa.QueuePool, "pool_size": 1, "max_overflow": 0}
        return {"connect_args": {"check_same_thread": False}, **one}

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
        """Bring the tables up to date; raises the store's error for those of a later version."""
        try:
            bring_up_to_date(self._engine)
        except NewerSchemaError as error:
            raise self.error(
                f"The {self.keeps} at {self._name} are of version {error}. Use that one, or set "
                "PAPER_TRAIL_CONVERSATIONS to another place."
            ) from None


class OwnedStore(Database, Generic[Summary]):
    """Things of one kind, each of an owner.

    The first table is one `table_of_wholes`; a second that refers to it has their parts, if they have any.
    `listing` selects what a `summary` is made of.

    Lists are per owner, but whoever knows an id can open what has it and go on with it: the id is the key to
    it, and cannot be guessed. Whether somebody may rename or delete it too, `owner_of` tells.
    """

    listing: ClassVar[sa.Select[Any]]
    summary: type[Summary]
    one: ClassVar[str] = ""  # what one is called, where that is not `keeps` without its "s"

    def __init__(self, url: str | Path, quota: Quota = NO_QUOTA) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path."""
        super().__init__(url)
        self._quota = quota

    @classmethod
    def open(cls, settings: Settings, quota: Quota = NO_QUOTA) -> Self:
        """Open the database that these settings name; raises the store's error."""
        return cls(database_of(settings), quota)

    def list(self, owner: str, limit: int = 50, offset: int = 0) -> tuple[Summary, ...]:
        """Return an owner's things, the one last changed first."""
        wanted = {"owner": owner, "limit": limit, "offset": offset}
        with self._reading() as connection:
            rows = connection.execute(self._owned, wanted).all()
        return tuple(self.summary(*row) for row in rows)

    @cached_property
    def _owned(self) -> sa.Select[Any]:
        # Put together once: every screen asks it, and putting it together takes longer than the answer.
        held = self.tables[0].c
        owned = self.listing.where(held.owner == sa.bindparam("owner"))
        ordered = owned.order_by(held.updated.desc(), held.id)
        return ordered.limit(sa.bindparam("limit")).offset(sa.bindparam("offset"))

    def rename(self, identifier: str, title: str) -> None:
        """Give what has that id another title; raises this store's error when there is none."""
        with self._changing(identifier, title=tidy_title(title)):
            pass

    def owner_of(self, identifier: str) -> str | None:
        """Return whose it is what has that id, None where there is none."""
        held = self.tables[0].c
        owner: str | None = self._value(sa.select(held.owner).where(held.id == identifier))
        return owner

    def has_owner(self, owner: str) -> bool:
        """Return True if something that is stored is this owner's."""
        held = self.tables[0].c
        return self._value(sa.select(held.id).where(held.owner == owner).limit(1)) is not None

    def is_imported(self, identifier: str) -> bool:
        """Return True if what has that id came from a file."""
        return self._value(sa.select(IMPORTED.c.id).where(IMPORTED.c.id == identifier)) is not None

    def delete(self, identifier: str) -> bool:
        """Delete what has that id, if there is any; nothing of it stays in an SQLite file."""
        with self._writing() as connection:
            found = self.remove_from(connection, (identifier,))
        self._empty_log()
        return found > 0

    @classmethod
    def remove_from(cls, connection: sa.Connection, identifiers: Sequence[str]) -> int:
        """Delete what has these ids, in a transaction of whoever deletes more; return how many there were."""
        whole, found = cls.tables[0], 0
        for identifier in identifiers:
            for parts in cls._parts():
                (whole_id,) = (column for column in parts.columns if column.foreign_keys)
                connection.execute(sa.delete(parts).where(whole_id == identifier))
            for marks in (IMPORTED, OVER_LIBRARIES):
                connection.execute(sa.delete(marks).where(marks.c.id == identifier))
            found += connection.execute(sa.delete(whole).where(whole.c.id == identifier)).rowcount
        return found

    def library_of(self, identifier: str) -> str:
        """Return the id of the kept library that something is over, "" for none; it may be deleted by now."""
        held = OVER_LIBRARIES.c
        return self._value(sa.select(held.library_id).where(held.id == identifier)) or ""

    @classmethod
    def _parts(cls) -> tuple[sa.Table, ...]:
        return tuple(table for table in cls.tables if table.foreign_keys)

    def _insert(
        self,
        whole: Mapping[str, Any],
        parts: Sequence[Mapping[str, Any]] = (),
        *,
        from_file: bool,
        note: Callable[[sa.Connection], None] = lambda _: None,
    ) -> None:
        """Store a thing with its parts, and what `note` stores with it; raises TakenError for an id taken."""
        with self._writing() as connection:
            try:
                connection.execute(sa.insert(self.tables[0]), whole)
            except IntegrityError as error:
                raise TakenError from error
            if from_file:
                connection.execute(sa.insert(IMPORTED), {"id": whole["id"]})
            if parts:
                connection.execute(sa.insert(self.tables[1]), parts)
            note(connection)
            self._check_quota(connection, whole["id"])

    @contextmanager
    def _changing(self, identifier: str, **values: str) -> Iterator[sa.Connection]:
        """Change the row of a thing, and so lock it: of two processes that do, one waits for the other.

        Raises this store's error when there is none.
        """
        whole = self.tables[0]
        with self._writing() as connection:
            changed = connection.execute(sa.update(whole).where(whole.c.id == identifier).values(**values))
            if not changed.rowcount:
                name = self.one or self.keeps.removesuffix("s")
                raise self.error(f"There is no {name} {identifier!r}. It may have been deleted.")
            yield connection

    def _check_quota(self, connection: sa.Connection, identifier: str) -> None:
        """Raise this store's error, which takes the transaction back, where an owner has more than they may.

        The owner is the one of the thing with that id, of whom everything is counted as it is now.
        """
        if self._quota == NO_QUOTA:
            return
        whole = self.tables[0]
        owner = connection.scalar(sa.select(whole.c.owner).where(whole.c.id == identifier))
        take_turn(connection, f"{whole.name} of {owner}")
        rows = characters = 0
        for table, joined in ((whole, whole), *((parts, parts.join(whole)) for parts in self._parts())):
            texts = (func.length(one) for one in table.c if isinstance(one.type, sa.Text))
            size = func.coalesce(func.sum(sum(texts, sa.literal(0))), 0)
            query = sa.select(func.count(), size).select_from(joined).where(whole.c.owner == owner)
            counted, summed = connection.execute(query).one()
            rows, characters = rows + counted, characters + summed
        quota = self._quota
        if 0 < quota.rows < rows or 0 < quota.megabytes * 1_000_000 < characters:
            most = [f"{quota.rows:,} entries"] if quota.rows else []
            most += [f"{quota.megabytes} MB"] if quota.megabytes else []
            raise self.error(
                f"This cannot be stored: {' and '.join(most)} of {self.keeps} are kept for one visitor. "
                f"Delete {self.keeps} that are not needed, then store it again."
            )


def database_of(settings: Settings) -> str | Path:
    """Return the URL of the database that these settings name, or the path of its file."""
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


def _engine_of_server(url: sa.URL) -> sa.Engine:
    """Return the connections of one store to a server."""
    options: dict[str, Any] = {}
    if url.drivername == POSTGRESQL:
        options = {"connect_args": {"timeout": SILENT_SECONDS, "application_name": "paper-trail"}}
    pool = {"pool_size": IDLE_CONNECTIONS, "max_overflow": MOST_CONNECTIONS - IDLE_CONNECTIONS}
    engine = sa.create_engine(url, hide_parameters=True, **pool, **options)
    sa.event.listen(engine, "checkout", partial(_check_alive, engine.dialect))
    if url.get_backend_name() == "postgresql":
        sa.event.listen(engine, "connect", _set_up_postgresql)
    return engine


def _check_alive(dialect: sa.Dialect, connection: Any, *_: Any) -> None:
    """Have what its server has closed opened anew; SQLAlchemy's own check knows fewer faults."""
    try:
        dialect.do_ping(connection)
    except Exception as error:
        raise DisconnectionError from error


def _set_up_postgresql(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    cursor.close()
    connection.commit()


def _fault_name(error: Exception) -> str:
    """Return SQLite's name for what went wrong, PostgreSQL's state, or the kind of error."""
    if isinstance(error, OSError):
        return "InterfaceError"
    original = getattr(error, "orig", None)
    told = original.args[0] if original is not None and original.args else None
    state = getattr(original, "sqlstate", None) or (told.get("C") if isinstance(told, dict) else None)
    return str(getattr(original, "sqlite_errorname", state or type(original or error).__name__))
