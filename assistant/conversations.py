"""Conversations that are kept: in SQLite beside the corpus, or in any database that SQLAlchemy reaches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from assistant.database import (
    METADATA,
    Database,
    TakenError,
    database_place,
    is_id,
    new_id,
    now,
    tidy_title,
)
from assistant.records import AssistantError, Conversation, Turn
from assistant.transcript import FORMAT_VERSION, turn_from_json, turn_to_json
from corpus.settings import Settings

_CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("owner", String(255), nullable=False),
    Column("title", Text, nullable=False),
    Column("updated", String(40), nullable=False),
    Index("conversations_of_an_owner", "owner", "updated"),
)
_TURNS = Table(
    "turns",
    METADATA,
    Column("conversation_id", ForeignKey(_CONVERSATIONS.c.id), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("document", Text, nullable=False),
)


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
    return ConversationStore(database_place(settings))


class ConversationStore(Database):
    """Stored conversations; safe for several threads and processes at once.

    Lists are per owner, but whoever knows an id can open and continue its conversation: the id is the key to
    it, and cannot be guessed. Whether somebody may rename or delete it too, `owner_of` tells. Every method
    raises ConversationError.
    """

    keeps = "conversations"
    tables = (_CONVERSATIONS, _TURNS)
    error = ConversationError

    def start(self, owner: str, title: str = "") -> Conversation:
        """Return a new conversation without turns."""
        return self._insert(owner, Conversation(new_id(), tidy_title(title)))

    def put(
        self, owner: str, conversation: Conversation, *, keep_id: bool = False, from_file: bool = True
    ) -> Conversation:
        """Store a whole conversation and return it as stored, under a new id.

        With `keep_id` it keeps its own where that is free. Others may know it, so that is for whoever puts
        back what was their own.
        """
        conversation = replace(conversation, title=tidy_title(conversation.title))
        if keep_id and is_id(conversation.id):
            try:
                return self._insert(owner, conversation, from_file=from_file)
            except TakenError:
                pass
        return self._insert(owner, replace(conversation, id=new_id()), from_file=from_file)

    def add_turn(self, conversation_id: str, turn: Turn) -> None:
        """Add a turn to the end of a conversation; raises ConversationError when there is none of that id."""
        document = turn_to_json(turn)
        with self._writing() as connection:
            # The row is locked by its change: of two processes that add a turn, one waits for the other.
            self._change(connection, conversation_id, updated=now())
            last = select(func.max(_TURNS.c.number)).where(_TURNS.c.conversation_id == conversation_id)
            number = connection.scalar(last)
            number = 0 if number is None else number + 1
            connection.execute(insert(_TURNS), _row(conversation_id, number, document))

    def change_turn(self, conversation_id: str, before: Turn, after: Turn) -> None:
        """Put a turn in the place of another; nothing else of the conversation is written.

        Raises ConversationError when the conversation is not there, or has no such turn.
        """
        document = turn_to_json(after)
        with self._writing() as connection:
            self._change(connection, conversation_id, updated=now())
            where = self._place_of(connection, conversation_id, before)
            connection.execute(update(_TURNS).where(where).values(format=FORMAT_VERSION, document=document))

    def remove_turn(self, conversation_id: str, turn: Turn) -> None:
        """Take a turn off a conversation; raises ConversationError where it is not there."""
        with self._writing() as connection:
            self._change(connection, conversation_id, updated=now())
            connection.execute(delete(_TURNS).where(self._place_of(connection, conversation_id, turn)))
        self._empty_log()

    def _place_of(self, connection: Connection, conversation_id: str, turn: Turn) -> ColumnElement[bool]:
        """Return what selects a turn's row; raises ConversationError when there is none."""
        rows = select(_TURNS.c.number, _TURNS.c.document).where(_TURNS.c.conversation_id == conversation_id)
        # The one that is changed is nearly always the last.
        for number, document in connection.execute(rows.order_by(_TURNS.c.number.desc())):
            if _is_of(document, turn):
                return and_(_TURNS.c.conversation_id == conversation_id, _TURNS.c.number == number)
        raise ConversationError(
            "This question is no longer in the stored conversation. Reload the page to see what is."
        )

    def get(self, conversation_id: str) -> Conversation | None:
        """Return a conversation with all turns that can be read, None when there is none of that id."""
        stored = self.read(conversation_id)
        return stored.conversation if stored else None

    def read(self, conversation_id: str) -> StoredConversation | None:
        """Return a conversation, and what of it could not be read, None when there is none of that id."""
        turns = select(_TURNS.c.number, _TURNS.c.format, _TURNS.c.document)
        turns = turns.where(_TURNS.c.conversation_id == conversation_id).order_by(_TURNS.c.number)
        with self._reading() as connection:
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
        with self._reading() as connection:
            rows = connection.execute(query.limit(limit).offset(offset)).all()
        return tuple(ConversationSummary(*row) for row in rows)

    def _insert(self, owner: str, conversation: Conversation, *, from_file: bool = False) -> Conversation:
        documents = [turn_to_json(turn) for turn in conversation.turns]
        values = {"id": conversation.id, "owner": owner, "title": conversation.title, "updated": now()}
        with self._writing() as connection:
            try:
                connection.execute(insert(_CONVERSATIONS), values)
            except IntegrityError as error:
                raise TakenError from error
            if from_file:
                self._note_import(connection, conversation.id)
            if documents:
                rows = [_row(conversation.id, number, text) for number, text in enumerate(documents)]
                connection.execute(insert(_TURNS), rows)
        return conversation


def _stored(conversation_id: str, title: str, rows: Iterable[Sequence[Any]]) -> StoredConversation:
    turns: list[Turn] = []
    faults: list[str] = []
    for number, written, document in rows:
        try:
            turns.append(_turn(written, document))
        except AssistantError as error:
            faults.append(f"Turn {number + 1} cannot be read and is left out. {error}")
    return StoredConversation(Conversation(conversation_id, title, tuple(turns)), tuple(faults))


def _is_of(document: str, turn: Turn) -> bool:
    """Tell whether a stored document is that turn, as it is now or was before."""
    try:
        return turn_from_json(document).is_same_as(turn)
    except AssistantError:
        return False


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
