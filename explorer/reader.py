"""One visitor's state, under one key of the session: nothing here lives only in a widget."""

import uuid
from dataclasses import dataclass, field
from typing import cast

import streamlit as st

from assistant.records import Conversation, Turn
from corpus.records import Scope


@dataclass(frozen=True, slots=True)
class Focus:
    """The citation being looked at: turn from 1 (one more than there are: being written), number from 1."""

    turn: int
    number: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that was not answered, why, and what had been written when it was stopped."""

    question: str
    message: str
    partial: str = ""
    can_retry: bool = True


@dataclass
class Reader:
    """A visitor: complete turns only, the question on its way, and where they are looking."""

    conversation_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    turns: tuple[Turn, ...] = ()
    job_id: str = ""
    failure: Failure | None = None
    waiting_question: str = ""
    focus: Focus | None = None
    drawer_open: bool = False
    narrow: bool = False
    picked: tuple[str, ...] = ()
    asked_about: tuple[str, ...] = ()
    asked_within: Scope = field(default_factory=Scope)

    def conversation(self) -> Conversation:
        title = self.turns[0].question if self.turns else "Conversation"
        return Conversation(self.conversation_id, " ".join(title.split())[:120], self.turns)

    def pick(self, paper_id: str, *, picked: bool) -> None:
        others = tuple(one for one in self.picked if one != paper_id)
        self.picked = (*others, paper_id) if picked else others

    def clear_conversation(self) -> None:
        self.conversation_id = uuid.uuid4().hex
        self.turns, self.job_id, self.failure = (), "", None
        self.focus, self.drawer_open = None, False


def current_reader() -> Reader:
    """Return the state of the visitor whose screen is being drawn."""
    if "reader" not in st.session_state:
        st.session_state["reader"] = Reader()
    return cast(Reader, st.session_state["reader"])
