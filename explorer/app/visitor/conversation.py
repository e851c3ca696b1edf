"""The conversation a visitor has open, complete turns only, and the question on its way to it."""

import uuid
from dataclasses import dataclass, field, replace
from typing import Self

from assistant.records import Conversation, Turn
from corpus.records import Scope
from explorer.app.visitor.stored_item import StoredItem

# Of a long conversation the latest turns are drawn; each takes its time, on the server and in the browser.
TURNS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class TakenOff:
    """The turn that was taken off the conversation last, or in whose place another came."""

    turn: Turn
    was_replaced: bool = False


@dataclass(frozen=True, slots=True)
class FollowUps:
    """The suggested questions after the turn number `count`."""

    turn: Turn
    count: int
    questions: tuple[str, ...]


def new_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True)
class OpenConversation(StoredItem):
    """The turns of a conversation; `unkept` are those that are in no store.

    `is_private` says that the visitor's own documents are asked, in a conversation that no store has;
    `library_id` that one of the libraries is that they keep, or have the link to.
    """

    conversation_id: str = field(default_factory=new_id)
    turns: tuple[Turn, ...] = ()
    unkept: tuple[Turn, ...] = ()
    is_private: bool = False
    library_id: str = ""
    taken_off: TakenOff | None = None
    follow_ups: FollowUps | None = None
    turns_shown: int = TURNS_SHOWN

    @property
    def asks_own(self) -> bool:
        """Return True if what is asked is not the collection."""
        return self.is_private or bool(self.library_id)

    def conversation(self) -> Conversation:
        return Conversation(self.conversation_id, self.title or self.named_after(), self.turns)

    def named_after(self, question: str = "") -> str:
        """Return the title of a conversation that was given none: its first question."""
        first = self.turns[0].question if self.turns else question or "Conversation"
        return " ".join(first.split())[:120]

    def begin_storing(self, identifier: str, title: str) -> Self:
        """Have the conversation in the store, under the id and the title that it has there."""
        visited = self.visited | {identifier}
        return replace(self, conversation_id=identifier, title=title, is_kept=True, visited=visited)

    def store(self, unkept: tuple[Turn, ...], problem: str) -> Self:
        """Have these turns in no store still, for that reason."""
        return replace(self, unkept=unkept, notes=(problem,) if problem else ())

    def add_turns(self, turns: tuple[Turn, ...]) -> Self:
        """Add turns at the end, but for those that are there already."""
        new = (one for one in turns if not holds(self.turns, one))
        return replace(self, turns=(*self.turns, *new))

    def change(self, before: Turn, after: Turn) -> Self:
        """Have a turn in the place of another."""
        turns, unkept = (
            tuple(after if one.is_same_as(before) else one for one in turns)
            for turns in (self.turns, self.unkept)
        )
        return replace(self, turns=turns, unkept=unkept)

    def put_back(self, turn: Turn) -> Self:
        return replace(self, turns=(*self.turns, turn), taken_off=None)

    def suggest(self, follow_ups: FollowUps) -> Self:
        return replace(self, follow_ups=follow_ups)

    def show_earlier(self) -> Self:
        return replace(self, turns_shown=self.turns_shown + TURNS_SHOWN)


def holds(turns: tuple[Turn, ...], turn: Turn) -> bool:
    return any(one.is_same_as(turn) for one in turns)


def without(turns: tuple[Turn, ...], turn: Turn | None) -> tuple[Turn, ...]:
    return tuple(one for one in turns if turn is None or not one.is_same_as(turn))


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that was not answered, why, and what had been written when it was stopped.

    `search_query` is the visitor's own, where there was one, `replaces` the turn that it was to replace.
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


@dataclass(frozen=True)
class PendingQuestion:
    """A question that waits, or the job that answers it, or why it failed.

    `replaced` is the turn whose place it is to take: it is back when that fails.
    """

    waiting: Waiting | None = None
    job_id: str = ""
    replaced: Turn | None = None
    failure: Failure | None = None

    def ask(
        self, question: str, search_query: str = "", scope: Scope | None = None, replaces: Turn | None = None
    ) -> Self:
        """Have a question asked when the Ask screen is drawn and no other is being answered any more."""
        return replace(self, failure=None, waiting=Waiting(question, search_query, scope, replaces))

    def refuse(self, failure: Failure) -> Self:
        """Have a question that could not be given to a worker."""
        return replace(self, failure=failure)

    def dismiss(self) -> Self:
        return replace(self, failure=None)
