"""All that is known of one visitor: what they have picked, where they look, and what they ask."""

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
    TakenOff,
    new_id,
    without,
)
from explorer.app.visitor.notes import NotesInHand


@dataclass(frozen=True, slots=True)
class Focus:
    """The citation being looked at: turn from 1 (one more than there are: being written), number from 1."""

    turn: int
    number: int


@dataclass(frozen=True)
class ShownEvidence:
    """The citation in focus; the turn whose calls are shown, 0 for none; what is open over the screen.

    `library_open` is the kept library that the dialog of documents shows, "" for those of the visit.
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
        """Have the calls of a turn shown, 0 for none; one drawer at a time."""
        return replace(self, shown_calls=turn, drawer_open=False)

    def open_documents(self, library_id: str = "") -> Self:
        return replace(self, documents_open=True, library_open=library_id, drawer_open=False, shown_calls=0)

    def close_documents(self) -> Self:
        return replace(self, documents_open=False)


@dataclass(frozen=True)
class ChosenScope:
    """The papers picked in the collection; the papers asked about, or the filter asked within."""

    picked: tuple[str, ...] = ()
    asked_about: tuple[str, ...] = ()
    asked_within: Scope = field(default_factory=Scope)

    def pick(self, paper_id: str, *, picked: bool) -> Self:
        others = tuple(one for one in self.picked if one != paper_id)
        return replace(self, picked=(*others, paper_id) if picked else others)

    def pick_all(self, paper_ids: Iterable[str], most: int) -> Self:
        """Pick papers besides those that are, at most that many of all."""
        return replace(self, picked=tuple(dict.fromkeys((*self.picked, *paper_ids)))[:most])

    def pick_none(self) -> Self:
        return replace(self, picked=())

    def look_in(self, papers: tuple[str, ...] = (), within: Scope | None = None) -> Self:
        """Have the next questions asked about some papers, or within a filter, or of all there is."""
        return replace(self, asked_about=papers, asked_within=within or Scope())


@dataclass(frozen=True)
class VisitorSession(OpenConversation, PendingQuestion, ShownEvidence, ChosenScope, NotesInHand):
    """A visitor: their conversation, the question on its way, where they look, and what they have picked.

    `narrow` says that their screen is, `comes_from_paper` that they have read a paper since the collection
    was shown; `stranger` is who a visitor without a cookie is.
    """

    narrow: bool = False
    comes_from_paper: bool = False
    stranger: str = field(default_factory=lambda: f"stranger-{uuid.uuid4().hex}")

    def measure(self, *, narrow: bool) -> Self:
        return replace(self, narrow=narrow)

    def read_paper(self, *, read: bool) -> Self:
        return replace(self, comes_from_paper=read)

    def send(self) -> Self:
        """Have the question that waits on its way to a worker; nothing of before is in the way of it."""
        return replace(self.look_away(), waiting=None, failure=None)

    def begin(self, job_id: str, replaces: Turn | None) -> Self:
        """Have a question being answered; the turn that it replaces is off the screen meanwhile."""
        turns = without(self.turns, replaces) if replaces else self.turns
        return replace(self, job_id=job_id, replaced=replaces, taken_off=None, turns=turns)

    def fail(self, failure: Failure) -> Self:
        """Have no question on its way any more; what it was to replace is back."""
        turns = (*self.turns, self.replaced) if self.replaced else self.turns
        failed = replace(failure, replaces=self.replaced)
        return replace(self, turns=turns, failure=failed, job_id="", replaced=None)

    def take(self, turn: Turn) -> Self:
        """Have the turn of the question that was on its way: at the end, and once only."""
        taken_off = TakenOff(self.replaced, was_replaced=True) if self.replaced else None
        return replace(self.add_turns((turn,)), taken_off=taken_off, job_id="", replaced=None)

    def take_off(self) -> Self:
        """Take the last turn off the conversation; it can be put back until another question is asked."""
        last = self.turns[-1]
        turns, unkept, taken_off = self.turns[:-1], without(self.unkept, last), TakenOff(last)
        without_it = replace(self.look_away(), turns=turns, unkept=unkept, taken_off=taken_off)
        return replace(without_it, failure=None, shown_calls=0)

    def turn_to(self, conversation: Conversation | None = None, *, notes: tuple[str, ...] = ()) -> Self:
        """Leave the conversation for a stored one, or for a new one where there is none."""
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
            taken_off=None,
            follow_ups=None,
            turns_shown=TURNS_SHOWN,
        )

    def turn_to_own(self, conversation: Conversation | None) -> Self:
        """Have questions go to the visitor's own documents, on with what was asked of them before."""
        return replace(self.turn_to(conversation), is_kept=False, is_private=True, library_id="")

    def turn_to_library(self, library_id: str) -> Self:
        """Have questions go to a kept library, in a new conversation."""
        return replace(self, is_private=False, library_id=library_id).turn_to()

    def be_over(self, library_id: str) -> Self:
        """Have the stored conversation that is open be over a kept library, "" for the collection."""
        return replace(self, library_id=library_id)

    def turn_to_collection(self) -> Self:
        """Have questions go to the collection, in a new conversation."""
        return replace(self, is_private=False, library_id="").turn_to()
