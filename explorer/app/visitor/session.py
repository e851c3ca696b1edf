"""The whole state of one visitor's session as a frozen value, without Streamlit."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from assistant.records import Conversation, Turn
from corpus.records import Scope
from explorer.app.visitor.conversation import (
    TURNS_SHOWN,
    Failure,
    OpenConversation,
    PendingQuestion,
    RemovedTurn,
    new_id,
    without,
)
from explorer.app.visitor.notes import NoteEditing


@dataclass(frozen=True, slots=True)
class Focus:
    """A citation by turn and number, both from 1; the turn after the last is the one being written."""

    turn: int
    number: int


@dataclass(frozen=True)
class ShownEvidence:
    """The citation in focus; the turn whose calls are shown, 0 for none; the open drawers and dialogs.

    `library_open` is the kept library that the documents dialog shows, "" for the uploads of the visit.
    """

    focus: Focus | None = None
    drawer_open: bool = False
    shown_calls: int = 0
    documents_open: bool = False
    library_open: str = ""

    def look_at(self, turn: int, number: int) -> Self:
        return replace(self, focus=Focus(turn, number), drawer_open=True)

    def look_away(self) -> Self:
        return replace(self, focus=None, drawer_open=False)

    def close_drawer(self) -> Self:
        return replace(self, drawer_open=False)

    def show_calls(self, turn: int) -> Self:
        """Show the calls of a turn, 0 to close them; closes the evidence drawer."""
        return replace(self, shown_calls=turn, drawer_open=False)

    def open_documents(self, library_id: str = "") -> Self:
        return replace(self, documents_open=True, library_open=library_id, drawer_open=False, shown_calls=0)

    def close_documents(self) -> Self:
        return replace(self, documents_open=False)


@dataclass(frozen=True)
class ChosenScope:
    """The papers picked in the collection, and the papers or the filter that questions are restricted to."""

    picked: tuple[str, ...] = ()
    asked_about: tuple[str, ...] = ()
    asked_within: Scope = field(default_factory=Scope)

    def pick(self, paper_id: str, *, picked: bool) -> Self:
        others = tuple(paper for paper in self.picked if paper != paper_id)
        return replace(self, picked=(*others, paper_id) if picked else others)

    def pick_all(self, paper_ids: Iterable[str], most: int) -> Self:
        """Pick papers besides those already picked, at most `most` in all."""
        return replace(self, picked=tuple(dict.fromkeys((*self.picked, *paper_ids)))[:most])

    def pick_none(self) -> Self:
        return replace(self, picked=())

    def look_in(self, papers: tuple[str, ...] = (), within: Scope | None = None) -> Self:
        """Restrict the next questions to papers or to a filter; without both, lift the restriction."""
        return replace(self, asked_about=papers, asked_within=within or Scope())


@dataclass(frozen=True)
class VisitorSession(OpenConversation, PendingQuestion, ShownEvidence, ChosenScope, NoteEditing):
    """A visitor: their conversation, question, evidence panel, scope and notes.

    `narrow` is True for a narrow screen, `comes_from_paper` after a paper was shown since the collection;
    `stranger` is the owner id of a visitor without a cookie.
    """

    narrow: bool = False
    comes_from_paper: bool = False
    stranger: str = field(default_factory=lambda: f"stranger-{uuid.uuid4().hex}")

    def measure(self, *, narrow: bool) -> Self:
        return replace(self, narrow=narrow)

    def read_paper(self, *, read: bool) -> Self:
        return replace(self, comes_from_paper=read)

    def send(self) -> Self:
        """Take the waiting question off the queue, with no failure or focus left from before."""
        return replace(self.look_away(), waiting=None, failure=None)

    def begin(self, job_id: str, replaces: Turn | None) -> Self:
        """Set the running job; the turn that its question replaces is hidden meanwhile."""
        turns = without(self.turns, replaces) if replaces else self.turns
        return replace(self, job_id=job_id, replaced=replaces, removed_turn=None, turns=turns)

    def fail(self, failure: Failure) -> Self:
        """End the running question with a failure; the turn that it was to replace is restored."""
        turns = (*self.turns, self.replaced) if self.replaced else self.turns
        failed = replace(failure, replaces=self.replaced)
        return replace(self, turns=turns, failure=failed, job_id="", replaced=None)

    def take(self, turn: Turn) -> Self:
        """End the running question with its turn, appended unless it is already there."""
        removed_turn = RemovedTurn(self.replaced, was_replaced=True) if self.replaced else None
        return replace(self.add_turns((turn,)), removed_turn=removed_turn, job_id="", replaced=None)

    def remove_last_turn(self) -> Self:
        """Remove the last turn; it can be put back until another question is asked."""
        last = self.turns[-1]
        turns, unkept, removed_turn = self.turns[:-1], without(self.unkept, last), RemovedTurn(last)
        without_it = replace(self.look_away(), turns=turns, unkept=unkept, removed_turn=removed_turn)
        return replace(without_it, failure=None, shown_calls=0)

    def turn_to(self, conversation: Conversation | None = None, *, notes: tuple[str, ...] = ()) -> Self:
        """Leave the conversation for a stored one, or for a new one if it is None."""
        shown = conversation or Conversation(new_id(), "", ())
        nothing = vars(PendingQuestion()) | vars(
            ShownEvidence(documents_open=self.documents_open, library_open=self.library_open)
        )
        return replace(
            self.leave().visit(shown.id),
            **nothing,
            conversation_id=shown.id,
            title=shown.title,
            turns=shown.turns,
            unkept=(),
            notes=notes,
            is_kept=conversation is not None,
            is_private=self.is_private and conversation is None,
            library_id=self.library_id if conversation is None else "",
            removed_turn=None,
            follow_ups=None,
            turns_shown=TURNS_SHOWN,
        )

    def turn_to_own(self, conversation: Conversation | None) -> Self:
        """Ask the uploads of this visit, continuing the conversation about them."""
        return replace(self.turn_to(conversation), is_kept=False, is_private=True, library_id="")

    def turn_to_library(self, library_id: str) -> Self:
        """Ask a kept library, in a new conversation."""
        return replace(self, is_private=False, library_id=library_id).turn_to()

    def set_library(self, library_id: str) -> Self:
        """Set the kept library that the open conversation is about, "" for the collection."""
        return replace(self, library_id=library_id)

    def turn_to_collection(self) -> Self:
        """Ask the collection, in a new conversation."""
        return replace(self, is_private=False, library_id="").turn_to()
