"""One visitor's state, under one key of the session: nothing here lives only in a widget."""

import uuid
from dataclasses import dataclass, field, replace
from typing import cast

import streamlit as st

from assistant.database import Database
from assistant.records import AssistantError, Conversation, Turn
from corpus.records import Scope
from explorer.login import signed_in_owner
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

    `search_query` is the reader's own, where there was one, `replaces` the turn that it was to replace.
    """

    question: str
    message: str
    partial: str = ""
    can_retry: bool = True
    search_query: str = ""
    replaces: Turn | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question that is to be asked: with a search `query` and in a `scope` of its own, where it has them.

    Its turn is to take the place of the turn that it `replaces`.
    """

    question: str
    query: str = ""
    scope: Scope | None = None
    replaces: Turn | None = None


@dataclass(frozen=True, slots=True)
class TakenOff:
    """The turn that was taken off the conversation last, or in whose place another came."""

    turn: Turn
    was_replaced: bool = False


@dataclass(frozen=True, slots=True)
class FollowUps:
    """What could be asked after the turn that is number `count`."""

    turn: Turn
    count: int
    questions: tuple[str, ...]


@dataclass
class Reader:
    """A visitor: complete turns only, the question on its way, and where they are looking.

    `is_kept` says that the conversation is in the store, `unkept` holds the turns that are not,
    `is_anothers` that it was begun in another browser, `is_imported` that it came from a file. `replaced` is
    the turn whose place the question on its way is to take: it is back when that fails. `visited` are
    the conversations that were shown in this visit, `missing_id` is one that is not there,
    `menus_closed` is in the keys of menus, so that raising it closes them: a menu under another key is new,
    `opened` counts conversations: in the keys of fields, so that none shows what was written in another,
    `is_private` says that the visitor's own documents are asked, in a conversation that no store has;
    `documents_open` that the dialog with them is open, `shown_calls` the turn whose calls are open in the
    drawer, `stranger` who a visitor without a cookie is, `comes_from_paper` that
    they have read a paper since the collection was shown.
    """

    conversation_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    title: str = ""
    turns: tuple[Turn, ...] = ()
    is_kept: bool = False
    is_private: bool = False
    documents_open: bool = False
    comes_from_paper: bool = False
    is_anothers: bool = False
    is_imported: bool = False
    unkept: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    missing_id: str = ""
    visited: set[str] = field(default_factory=set)
    job_id: str = ""
    failure: Failure | None = None
    waiting: Waiting | None = None
    replaced: Turn | None = None
    taken_off: TakenOff | None = None
    follow_ups: FollowUps | None = None
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

    def ask(
        self,
        question: str,
        search_query: str = "",
        scope: Scope | None = None,
        replaces: Turn | None = None,
    ) -> None:
        """Have a question asked when the Ask screen is drawn and no other is being answered any more."""
        self.failure = None
        self.waiting = Waiting(question, search_query, scope, replaces)

    def begin(self, job_id: str, replaces: Turn | None) -> None:
        """Have a question on its way; the turn that it replaces is off the screen meanwhile."""
        self.job_id, self.replaced, self.taken_off = job_id, replaces, None
        if replaces:
            self.turns = tuple(turn for turn in self.turns if not turn.is_same_as(replaces))

    def fail(self, failure: Failure) -> None:
        """Have no question on its way any more; what it was to replace is back."""
        if self.replaced:
            self.turns = (*self.turns, self.replaced)
        self.failure = replace(failure, replaces=self.replaced)
        self.job_id, self.replaced = "", None

    def take(self, turn: Turn) -> None:
        """Have the turn of the question that was on its way: at the end, and once only."""
        if not any(turn.is_same_as(one) for one in self.turns):
            self.turns = (*self.turns, turn)
        self.taken_off = TakenOff(self.replaced, was_replaced=True) if self.replaced else None
        self.job_id, self.replaced = "", None

    def change(self, before: Turn, after: Turn) -> None:
        """Have a turn in the place of another."""
        self.turns = tuple(after if one.is_same_as(before) else one for one in self.turns)
        self.unkept = tuple(after if one.is_same_as(before) else one for one in self.unkept)

    def turn_to(self, conversation: Conversation | None, *, notes: tuple[str, ...] = ()) -> None:
        """Leave the conversation for a stored one, or for a new one where there is none."""
        self.conversation_id = conversation.id if conversation else uuid.uuid4().hex
        self.visited.add(self.conversation_id)
        self.opened += 1
        self.title = conversation.title if conversation else ""
        self.turns = conversation.turns if conversation else ()
        self.is_kept, self.unkept, self.notes, self.missing_id = conversation is not None, (), notes, ""
        self.is_private = self.is_private and conversation is None
        self.job_id, self.failure, self.is_anothers, self.is_imported = "", None, False, False
        self.waiting, self.replaced, self.taken_off, self.follow_ups = None, None, None, None
        self.focus, self.drawer_open, self.shown_calls = None, False, 0
        self.turns_shown, self.wants_deletion, self.import_problem = TURNS_SHOWN, False, ""


def current_reader() -> Reader:
    """Return the state of the visitor whose screen is being drawn."""
    if "reader" not in st.session_state:
        st.session_state["reader"] = Reader()
    return cast(Reader, st.session_state["reader"])


def current_owner(reader: Reader) -> str:
    """Return whose conversations are listed: the person's who has signed in, else this browser's.

    A browser that takes no cookie has those of this visit.
    """
    return signed_in_owner() or owner_of(st.context.cookies.get(OWNER_COOKIE, "")) or reader.stranger


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
