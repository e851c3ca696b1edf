"""Conversations that are kept, turn by turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import func

from assistant.records import AssistantError, Conversation, Turn
from assistant.storage.library_links import check_library, noting
from assistant.storage.owned import OwnedStore, TakenError, is_id, new_id, now, tidy_title
from assistant.storage.schema import METADATA, table_of_wholes
from assistant.trail.papers_named import library_named
from assistant.trail.transcript import TRANSCRIPT_VERSION, turn_from_json, turn_to_json
from corpus.text import storable

_CONVERSATIONS = table_of_wholes("conversations")
_TURNS = sa.Table(
    "turns",
    METADATA,
    sa.Column("conversation_id", sa.ForeignKey(_CONVERSATIONS.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("format", sa.Integer, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
)
_UNDER_WAY = sa.Table(
    "questions_under_way",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("conversation_id", sa.ForeignKey(_CONVERSATIONS.c.id), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("server", sa.String(64), nullable=False),  # the process that answers it
    sa.Column("begun", sa.String(40), nullable=False),
    sa.Index("questions_of_a_conversation", "conversation_id"),
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
    """A conversation as read from the store; `faults` are the reasons of unreadable turns."""

    conversation: Conversation
    faults: tuple[str, ...] = ()


class ConversationStore(OwnedStore[ConversationSummary]):
    """Stored conversations; every method raises ConversationError."""

    keeps = "conversations"
    tables = (_CONVERSATIONS, _TURNS, _UNDER_WAY)
    error = ConversationError
    summary = ConversationSummary
    listing = (
        sa.select(
            _CONVERSATIONS.c.id,
            _CONVERSATIONS.c.title,
            func.count(_TURNS.c.number),
            _CONVERSATIONS.c.updated,
        )
        .select_from(_CONVERSATIONS.outerjoin(_TURNS))
        .group_by(_CONVERSATIONS.c.id, _CONVERSATIONS.c.title, _CONVERSATIONS.c.updated)
    )

    def start(self, owner: str, title: str = "", library: str = "") -> Conversation:
        """Store a new conversation without turns, maybe over a kept library, and return it."""
        return self._stored(owner, Conversation(new_id(), tidy_title(title)), library, from_file=False)

    def put(
        self,
        owner: str,
        conversation: Conversation,
        library: str = "",
        *,
        keep_id: bool = False,
        from_file: bool = True,
    ) -> Conversation:
        """Store a whole conversation, maybe over a kept library, and return it under a new id.

        `keep_id` keeps its id if that is free; since others may know the id, this is for restoring one's own
        conversations. Raises AssistantError for a file that is over another library.
        """
        if from_file:
            check_library(library_named(conversation), library)
        conversation = replace(conversation, title=tidy_title(conversation.title))
        if keep_id and is_id(conversation.id):
            try:
                return self._stored(owner, conversation, library, from_file=from_file)
            except TakenError:
                pass
        return self._stored(owner, replace(conversation, id=new_id()), library, from_file=from_file)

    def add_turn(self, conversation_id: str, turn: Turn, by: Sequence[str] = ()) -> None:
        """Append a turn to a conversation; raises ConversationError if there is no such conversation.

        `by` are all names of the one who asked, none if that is the owner.
        """
        document = turn_to_json(turn)
        with self._changing(conversation_id, by=by, updated=now()) as connection:
            following = sa.select(func.coalesce(func.max(_TURNS.c.number) + 1, 0))
            number = connection.scalar(following.where(_TURNS.c.conversation_id == conversation_id)) or 0
            connection.execute(sa.insert(_TURNS), _row(conversation_id, number, document))
            connection.execute(_answered(conversation_id, turn))

    def change_turn(self, conversation_id: str, before: Turn, after: Turn, by: Sequence[str] = ()) -> None:
        """Replace a turn; raises ConversationError if the conversation or the turn does not exist."""
        document = turn_to_json(after)
        with self._changing(conversation_id, by=by, updated=now()) as connection:
            where = self._place_of(connection, conversation_id, before)
            connection.execute(
                sa.update(_TURNS).where(where).values(format=TRANSCRIPT_VERSION, document=document)
            )
            connection.execute(_answered(conversation_id, after))

    def begin_question(self, identifier: str, conversation_id: str, question: str, server: str) -> None:
        """Record that a server begins to answer a question, and drop questions left by other servers."""
        row = {"id": identifier, "conversation_id": conversation_id, "question": storable(question)}
        held = _UNDER_WAY.c
        left = (held.conversation_id == conversation_id) & (held.server != server)
        with self._changing(conversation_id, id=conversation_id) as connection:
            connection.execute(sa.delete(_UNDER_WAY).where(left))
            connection.execute(sa.insert(_UNDER_WAY), {**row, "server": server, "begun": now()})

    def end_question(self, identifier: str) -> None:
        """Record that a question is no longer being answered."""
        with self._writing() as connection:
            connection.execute(sa.delete(_UNDER_WAY).where(_UNDER_WAY.c.id == identifier))

    def lost_question(self, conversation_id: str, server: str) -> str:
        """Return the last question that another server began and did not finish, "" if there is none."""
        held = _UNDER_WAY.c
        left = (held.conversation_id == conversation_id) & (held.server != server)
        return self._value(sa.select(held.question).where(left).order_by(held.begun.desc()).limit(1)) or ""

    def remove_turn(self, conversation_id: str, turn: Turn) -> None:
        """Remove a turn; raises ConversationError if it does not exist."""
        with self._changing(conversation_id, grows=False, updated=now()) as connection:
            connection.execute(sa.delete(_TURNS).where(self._place_of(connection, conversation_id, turn)))
        self._empty_log()

    def _place_of(self, connection: sa.Connection, identifier: str, turn: Turn) -> sa.ColumnElement[bool]:
        """Return the condition that selects a turn's row; raises ConversationError if there is none."""
        is_in = _TURNS.c.conversation_id == identifier
        rows = sa.select(_TURNS.c.number, _TURNS.c.document).where(is_in)
        # Mostly the last turn is changed.
        for number, document in connection.execute(rows.order_by(_TURNS.c.number.desc())):
            if _is_of(document, turn):
                return sa.and_(is_in, _TURNS.c.number == number)
        raise ConversationError(
            "This question is no longer in the stored conversation. Reload the page to see what is."
        )

    def get(self, conversation_id: str) -> Conversation | None:
        """Return a conversation with its readable turns, None if there is no such conversation."""
        stored = self.read(conversation_id)
        return stored.conversation if stored else None

    def read(self, conversation_id: str) -> StoredConversation | None:
        """Return a conversation with the faults of unreadable turns, None if it does not exist."""
        turns = sa.select(_TURNS.c.number, _TURNS.c.format, _TURNS.c.document)
        turns = turns.where(_TURNS.c.conversation_id == conversation_id).order_by(_TURNS.c.number)
        with self._reading() as connection:
            held = _CONVERSATIONS.c
            title = connection.scalar(sa.select(held.title).where(held.id == conversation_id))
            rows = connection.execute(turns).all()
        return None if title is None else _read_back(conversation_id, title, rows)

    def _stored(
        self, owner: str, conversation: Conversation, library: str, *, from_file: bool
    ) -> Conversation:
        values = {"id": conversation.id, "owner": owner, "title": conversation.title, "updated": now()}
        documents = map(turn_to_json, conversation.turns)
        rows = [_row(conversation.id, number, document) for number, document in enumerate(documents)]
        note = noting(conversation.id, library, ConversationError)
        self._insert(values, rows, from_file=from_file, note=note)
        return conversation


def _read_back(conversation_id: str, title: str, rows: Iterable[Sequence[Any]]) -> StoredConversation:
    turns: list[Turn] = []
    faults: list[str] = []
    for number, written, document in rows:
        try:
            turns.append(_turn(written, document))
        except AssistantError as error:
            faults.append(f"Turn {number + 1} cannot be read and is left out. {error}")
    return StoredConversation(Conversation(conversation_id, title, tuple(turns)), tuple(faults))


def _answered(conversation_id: str, turn: Turn) -> sa.Delete:
    """Return the statement that removes an answered question from those under way."""
    held = _UNDER_WAY.c
    is_it = (held.conversation_id == conversation_id) & (held.question == storable(turn.question))
    return sa.delete(_UNDER_WAY).where(is_it)


def _is_of(document: str, turn: Turn) -> bool:
    """Return True if a stored document is that turn, whatever its feedback."""
    try:
        return turn_from_json(document).is_same_as(turn)
    except AssistantError:
        return False


def _turn(written: int, document: str) -> Turn:
    if written != TRANSCRIPT_VERSION:
        raise ConversationError(
            f"It has format version {written}; this version of Paper Trail reads version "
            f"{TRANSCRIPT_VERSION}."
        )
    return turn_from_json(document)


def _row(conversation_id: str, number: int, document: str) -> dict[str, Any]:
    return {
        "conversation_id": conversation_id,
        "number": number,
        "format": TRANSCRIPT_VERSION,
        "document": document,
    }
