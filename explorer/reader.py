"""One visitor's state, under one key of the session: nothing here lives only in a widget."""

import uuid
from dataclasses import dataclass, field
from typing import cast

import streamlit as st

from assistant.database import Database
from assistant.records import AssistantError, Conversation, Turn
from corpus.records import Scope
from explorer.parts.owner import OWNER_COOKIE, owner_of

# Of a long conversation the latest turns are drawn; each takes its time, on the server and in the browser.
TURNS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Focus:
    """The citation being looked at: turn from 1 (one more than there are: being written), number from 1."""

    turn: int
    number: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that was not answered, why, and what had been written when it was stopped.

    `search_query` is the reader's own, where there was one.
    """

    question: str
    message: str
    partial: str = ""
    can_retry: bool = True
    search_query: str = ""


@dataclass
class Reader:
    """A visitor: complete turns only, the question on its way, and where they are looking.

    `is_kept` says that the conversation is in the store, `unkept` holds the turns that are not,
    `is_anothers` that it was begun in another browser, `is_imported` that it came from a file. A waiting
    question is searched with `waiting_query`, and in `waiting_scope`, where there are some. `visited` are
    the conversations that were shown in this visit, `missing_id` is one that is not there,
    `menus_closed` is in the keys of menus, so that raising it closes them: a menu under another key is new,
    `opened` counts conversations: in the keys of fields, so that none shows what was written in another,
    `shown_calls` the turn whose calls are open in the drawer, `stranger` who a visitor without a cookie is.
    """

    conversation_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    title: str = ""
    turns: tuple[Turn, ...] = ()
    is_kept: bool = False
    is_anothers: bool = False
    is_imported: bool = False
    unkept: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    missing_id: str = ""
    visited: set[str] = field(default_factory=set)
    job_id: str = ""
    failure: Failure | None = None
    waiting_question: str = ""
    waiting_query: str = ""
    waiting_scope: Scope | None = None
    focus: Focus | None = None
    drawer_open: bool = False
    shown_calls: int = 0
    turns_shown: int = TURNS_SHOWN
    opened: int = 0
    menus_closed: int = 0
    wants_deletion: bool = False
    import_problem: str = ""
    narrow: bool = False
    picked: tuple[str, ...] = ()
    asked_about: tuple[str, ...] = ()
    asked_within: Scope = field(default_factory=Scope)
    stranger: str = field(default_factory=lambda: f"stranger-{uuid.uuid4().hex}")

    def conversation(self) -> Conversation:
        return Conversation(self.conversation_id, self.title or self.named_after(), self.turns)

    def named_after(self, question: str = "") -> str:
        """Return what a conversation without a title of its own is called: its first question."""
        first = self.turns[0].question if self.turns else question or "Conversation"
        return " ".join(first.split())[:120]

    def pick(self, paper_id: str, *, picked: bool) -> None:
        others = tuple(one for one in self.picked if one != paper_id)
        self.picked = (*others, paper_id) if picked else others

    def close_drawer(self) -> None:
        self.drawer_open = False

    def ask(self, question: str, search_query: str = "", scope: Scope | None = None) -> None:
        """Have a question asked when the Ask screen is drawn and no other is being answered any more."""
        self.failure = None
        self.waiting_question, self.waiting_query, self.waiting_scope = question, search_query, scope

    def turn_to(self, conversation: Conversation | None, *, notes: tuple[str, ...] = ()) -> None:
        """Leave the conversation for a stored one, or for a new one where there is none."""
        self.conversation_id = conversation.id if conversation else uuid.uuid4().hex
        self.visited.add(self.conversation_id)
        self.opened += 1
        self.title = conversation.title if conversation else ""
        self.turns = conversation.turns if conversation else ()
        self.is_kept, self.unkept, self.notes, self.missing_id = conversation is not None, (), notes, ""
        self.job_id, self.failure, self.is_anothers, self.is_imported = "", None, False, False
        self.waiting_question, self.waiting_query, self.waiting_scope = "", "", None
        self.focus, self.drawer_open, self.shown_calls = None, False, 0
        self.turns_shown, self.wants_deletion, self.import_problem = TURNS_SHOWN, False, ""


def current_reader() -> Reader:
    """Return the state of the visitor whose screen is being drawn."""
    if "reader" not in st.session_state:
        st.session_state["reader"] = Reader()
    return cast(Reader, st.session_state["reader"])


def current_owner(reader: Reader) -> str:
    """Return whose conversations are listed: this browser's, or this visit's where it takes no cookie."""
    return owner_of(st.context.cookies.get(OWNER_COOKIE, "")) or reader.stranger


def is_anothers(store: Database, reader: Reader, identifier: str) -> bool:
    """Tell whether something stored was begun by somebody else; what is not there is nobody's."""
    return store.owner_of(identifier) not in (None, current_owner(reader), reader.stranger)


def check_own(store: Database, reader: Reader, identifier: str) -> None:
    """Raise AssistantError where something stored is another's: it can be read and gone on with, no more."""
    if is_anothers(store, reader, identifier):
        one = store.keeps.removesuffix("s")
        raise AssistantError(
            f"This {one} was begun in another browser: only there can it be changed or deleted."
        )
