"""Conversations that are kept: in SQLite beside the corpus, or in any database that SQLAlchemy reaches."""

import logging
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
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

from assistant.records import AssistantError, Conversation, Turn
from assistant.transcript import FORMAT_VERSION, turn_from_json, turn_to_json
from corpus.settings import Settings
from corpus.text import storable

SCHEMA_VERSION = 1
LONGEST_TITLE = 200
BUSY_SECONDS = 10.0

_METADATA = MetaData()
_SCHEMA = Table("paper_trail_schema", _METADATA, Column("version", Integer, primary_key=True))
_CONVERSATIONS = Table(
    "conversations",
    _METADATA,
    Column("id", String(64), primary_key=True),
    Column("owner", String(255), nullable=False),
    Column("title", Text, nullable=False),
    Column("updated", String(40), nullable=False),
    Index("conversations_of_an_owner", "owner", "updated"),
)
_TURNS = Table(
    "turns",
    _METADATA,
    Column("conversation_id", ForeignKey(_CONVERSATIONS.c.id), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("document", Text, nullable=False),
)

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


class ConversationError(AssistantError):
    """Conversations could not be stored or read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A stored conversation in a list; `updated` is ISO 8601 in UTC."""

    id: str
    title: str
    turns: int
    updated: str


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it was read back; `faults` says of each turn that could not be read why."""

    conversation: Conversation
    faults: tuple[str, ...] = ()


def open_conversations(settings: Settings) -> "ConversationStore":
    """Return the store that these settings name; raises ConversationError."""
    url = settings.conversations.get_secret_value()
    return ConversationStore(url or settings.conversations_path)


class ConversationStore:
    """Stored conversations; safe for several threads and processes at once.

    Lists are per owner, but whoever knows an id can open, continue and delete its conversation: the id is
    the key to it, and cannot be guessed. Every method raises ConversationError.
    """

    def __init__(self, url: str | Path) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path; it is made if need be."""
        self._url = _parsed(url)
        self._engine = _engine(self._url)
        with self._in_words():
            self._prepare()

    def start(self, owner: str, title: str = "") -> Conversation:
        """Return a new conversation without turns."""
        return self._insert(owner, Conversation(_new_id(), _tidy(title)))

    def put(self, owner: str, conversation: Conversation, *, keep_id: bool = False) -> Conversation:
        """Store a conversation from a file and return it as stored, under a new id.

        With `keep_id` it keeps its own where that is free. Others may know it, so that is for whoever puts
        back what was their own.
        """
        conversation = replace(conversation, title=_tidy(conversation.title))
        if keep_id and _is_id(conversation.id):
            try:
                return self._insert(owner, conversation)
            except _TakenError:
                pass
        return self._insert(owner, replace(conversation, id=_new_id()))

    def add_turn(self, conversation_id: str, turn: Turn) -> None:
        """Add a turn to the end of a conversation; raises ConversationError when there is none of that id."""
        document = turn_to_json(turn)
        with self._writing() as connection:
            # The row is locked by its change: of two processes that add a turn, one waits for the other.
            self._change(connection, conversation_id, updated=_now())
            last = select(func.max(_TURNS.c.number)).where(_TURNS.c.conversation_id == conversation_id)
            number = connection.scalar(last)
            number = 0 if number is None else number + 1
            connection.execute(insert(_TURNS), _row(conversation_id, number, document))

    def get(self, conversation_id: str) -> Conversation | None:
        """Return a conversation with all turns that can be read, None when there is none of that id."""
        stored = self.read(conversation_id)
        return stored.conversation if stored else None

    def read(self, conversation_id: str) -> StoredConversation | None:
        """Return a conversation, and what of it could not be read, None when there is none of that id."""
        turns = select(_TURNS.c.number, _TURNS.c.format, _TURNS.c.document)
        turns = turns.where(_TURNS.c.conversation_id == conversation_id).order_by(_TURNS.c.number)
        with self._in_words(), self._engine.connect() as connection:
            title = connection.scalar(
                select(_CONVERSATIONS.c.title).where(_CONVERSATIONS.c.id == conversation_id)
            )
            rows = connection.execute(turns).all()
        return None if title is None else _stored(conversation_id, title, rows)

    def list(self, owner: str, limit: int = 50, offset: int = 0) -> tuple[ConversationSummary, ...]:
        """Return an owner's conversations, the one last changed first."""
        held = _CONVERSATIONS.c
        query = (
            select(held.id, held.title, func.count(_TURNS.c.number), held.updated)
            .select_from(_CONVERSATIONS.outerjoin(_TURNS))
            .where(held.owner == owner)
            .group_by(held.id, held.title, held.updated)
            .order_by(held.updated.desc(), held.id)
        )
        with self._in_words(), self._engine.connect() as connection:
            rows = connection.execute(query.limit(limit).offset(offset)).all()
        return tuple(ConversationSummary(*row) for row in rows)

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; raises ConversationError when there is none of that id."""
        with self._writing() as connection:
            self._change(connection, conversation_id, title=_tidy(title))

    def delete(self, conversation_id: str) -> bool:
        """Delete a conversation, and tell whether there was one; nothing of it stays in an SQLite file."""
        with self._writing() as connection:
            connection.execute(delete(_TURNS).where(_TURNS.c.conversation_id == conversation_id))
            found = connection.execute(delete(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation_id))
        if self._is_sqlite:
            self._empty_log()
        return found.rowcount > 0

    def close(self) -> None:
        self._engine.dispose()

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    def _insert(self, owner: str, conversation: Conversation) -> Conversation:
        documents = [turn_to_json(turn) for turn in conversation.turns]
        values = {"id": conversation.id, "owner": owner, "title": conversation.title, "updated": _now()}
        with self._writing() as connection:
            try:
                connection.execute(insert(_CONVERSATIONS), values)
            except IntegrityError as error:
                raise _TakenError from error
            if documents:
                rows = [_row(conversation.id, number, text) for number, text in enumerate(documents)]
                connection.execute(insert(_TURNS), rows)
        return conversation

    def _change(self, connection: Connection, conversation_id: str, **values: str) -> None:
        changed = connection.execute(
            update(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation_id).values(**values)
        )
        if not changed.rowcount:
            raise ConversationError(
                f"There is no conversation {conversation_id!r}. It may have been deleted."
            )

    def _prepare(self) -> None:
        """Make the tables where there are none; raises ConversationError for those of a later version."""
        with self._engine.begin() as connection:
            if not self._engine.dialect.has_table(connection, _SCHEMA.name):
                _make_tables(connection)
        with self._engine.connect() as connection:
            version = connection.scalar(select(func.max(_SCHEMA.c.version)))
        if version is None:
            self._note_version()
        elif version != SCHEMA_VERSION:
            raise ConversationError(
                f"The conversations at {self._name} are of version {version}; this Paper Trail reads version "
                f"{SCHEMA_VERSION}. Use that one, or set PAPER_TRAIL_CONVERSATIONS to another place."
            )

    def _note_version(self) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(_SCHEMA), {"version": SCHEMA_VERSION})
        except IntegrityError:
            logger.info("another process has just made the tables at %s", self._name)

    def _empty_log(self) -> None:
        """Write SQLite's log into its database and empty it: what was deleted still stands in the log."""
        with self._in_words(), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Open a transaction whose first statement must be a change, so that SQLite waits for its turn."""
        with self._in_words(), self._engine.begin() as connection:
            yield connection

    @property
    def _name(self) -> str:
        return (self._is_sqlite and self._url.database) or self._url.render_as_string(hide_password=True)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say in words what went wrong with the database; its own message may hold what was to be stored."""
        try:
            yield
        except UnicodeEncodeError:
            raise ConversationError("An id or a name holds characters that cannot be stored.") from None
        except SQLAlchemyError as error:
            original = getattr(error, "orig", None)
            name = getattr(original, "sqlite_errorname", type(original or error).__name__)
            logger.warning("the conversations at %s: %s", self._name, name)
            known = (words for beginning, words in _FAULTS.items() if name.startswith(beginning))
            fault = next(known, f"the database does not answer ({name}). Check it")
            raise ConversationError(f"The conversations at {self._name} cannot be used: {fault}.") from None


class _TakenError(Exception):
    """A conversation of that id is already stored."""


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        return make_url(url)
    except ArgumentError:
        # The text may hold a password, and so may the error.
        raise ConversationError(
            "The setting PAPER_TRAIL_CONVERSATIONS is no database URL. Write it as sqlite:////path/to/file "
            "or postgresql+psycopg://user:password@host/name, or unset it."
        ) from None


def _engine(url: URL) -> Engine:
    is_sqlite = url.get_backend_name() == "sqlite"
    try:
        if is_sqlite:
            _make_private_file(url)
        engine = create_engine(
            url, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS} if is_sqlite else {}
        )
    except (ImportError, NoSuchModuleError) as error:
        raise ConversationError(
            f"No driver is installed for {url.drivername} databases: {error}. Install one, or unset "
            "PAPER_TRAIL_CONVERSATIONS."
        ) from error
    if is_sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _make_private_file(url: URL) -> None:
    """Make the database's file readable for its owner alone; SQLite would go by the umask."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        return
    path = Path(url.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        raise ConversationError(
            f"The conversations cannot be kept at {path}: {error.strerror}. Check its folder, or set "
            "PAPER_TRAIL_CONVERSATIONS to another place."
        ) from error


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # Readers and a writer do not wait for each other; what is deleted is overwritten.
    for pragma in ("journal_mode = WAL", "secure_delete = ON", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _make_tables(connection: Connection) -> None:
    for table in _METADATA.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))


def _stored(conversation_id: str, title: str, rows: Iterable[Sequence[Any]]) -> StoredConversation:
    turns: list[Turn] = []
    faults: list[str] = []
    for number, written, document in rows:
        try:
            turns.append(_turn(written, document))
        except AssistantError as error:
            faults.append(f"Turn {number + 1} cannot be read and is left out. {error}")
    return StoredConversation(Conversation(conversation_id, title, tuple(turns)), tuple(faults))


def _turn(written: int, document: str) -> Turn:
    if written != FORMAT_VERSION:
        raise ConversationError(
            f"It has format version {written}; this version of Paper Trail reads version {FORMAT_VERSION}."
        )
    return turn_from_json(document)


def _row(conversation_id: str, number: int, document: str) -> dict[str, Any]:
    return {
        "conversation_id": conversation_id,
        "number": number,
        "format": FORMAT_VERSION,
        "document": document,
    }


def _new_id() -> str:
    # None with a dash first, which a command line would take for an option.
    while (identifier := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return identifier


def _is_id(text: str) -> bool:
    return len(text) == len(_new_id()) and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def _tidy(title: str) -> str:
    """Return a title on one line, without control characters and not too long for a list."""
    line = " ".join(storable(title).split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
