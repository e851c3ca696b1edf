"""The conversation that a visitor has open, with complete turns only, and its waiting or running question."""

import uuid
from dataclasses import dataclass, field, replace
from typing import Self

from assistant.records import Conversation, Turn
from corpus.records import Scope
from explorer.app.visitor.stored_item import StoredItem

# Only the latest turns of a long conversation are drawn, as each takes time.
TURNS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RemovedTurn:
    """The turn that was last removed from the conversation, or replaced by another."""

    turn: Turn
    was_replaced: bool = False


@dataclass(frozen=True, slots=True)
class FollowUps:
    """The suggested questions after turn number `count`."""

    turn: Turn
    count: int
    questions: tuple[str, ...]


def new_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True)
class OpenConversation(StoredItem):
    """The turns of a conversation; `unkept` are those that are not stored.

    `is_private` is True while the uploads of this visit are asked, in a conversation that is not stored;
    `library_id` is the kept library that is asked, "" for the collection.
    """

    conversation_id: str = field(default_factory=new_id)
    turns: tuple[Turn, ...] = ()
    unkept: tuple[Turn, ...] = ()
    is_private: bool = False
    library_id: str = ""
    removed_turn: RemovedTurn | None = None
    follow_ups: FollowUps | None = None
    turns_shown: int = TURNS_SHOWN

    @property
    def asks_own(self) -> bool:
        """Return True if uploads or a kept library are asked, not the collection."""
        return self.is_private or bool(self.library_id)

    def conversation(self) -> Conversation:
        return Conversation(self.conversation_id, self.title or self.named_after(), self.turns)

    def named_after(self, question: str = "") -> str:
        """Return the title of an untitled conversation: its first question."""
        first = self.turns[0].question if self.turns else question or "Conversation"
        return " ".join(first.split())[:120]

    def begin_storing(self, identifier: str, title: str) -> Self:
        """Mark the conversation as stored, with its id and title in the store."""
        visited = self.visited | {identifier}
        return replace(self, conversation_id=identifier, title=title, is_kept=True, visited=visited)

    def store(self, unkept: tuple[Turn, ...], problem: str) -> Self:
        """Set the turns that are not stored, and the reason as a note."""
        return replace(self, unkept=unkept, notes=(problem,) if problem else ())

    def add_turns(self, turns: tuple[Turn, ...]) -> Self:
        """Append the turns that the conversation does not have yet."""
        new = (turn for turn in turns if not holds(self.turns, turn))
        return replace(self, turns=(*self.turns, *new))

    def change(self, before: Turn, after: Turn) -> Self:
        """Replace turn `before` by `after`."""
        turns, unkept = (
            tuple(after if turn.is_same_as(before) else turn for turn in turns)
            for turns in (self.turns, self.unkept)
        )
        return replace(self, turns=turns, unkept=unkept)

    def put_back(self, turn: Turn) -> Self:
        return replace(self, turns=(*self.turns, turn), removed_turn=None)

    def suggest(self, follow_ups: FollowUps) -> Self:
        return replace(self, follow_ups=follow_ups)

    def show_earlier(self) -> Self:
        return replace(self, turns_shown=self.turns_shown + TURNS_SHOWN)


def holds(turns: tuple[Turn, ...], turn: Turn) -> bool:
    return any(other.is_same_as(turn) for other in turns)


def without(turns: tuple[Turn, ...], turn: Turn | None) -> tuple[Turn, ...]:
    return tuple(other for other in turns if turn is None or not other.is_same_as(turn))


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that was not answered, the reason, and the partial text.

    `search_query` is the visitor's own query, "" for none, `replaces` the turn that it was to replace.
    """

    question: str
    message: str
    partial: str = ""
    can_retry: bool = True
    search_query: str = ""
    replaces: Turn | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question to be asked, with a `query` and a `scope` of its own if set.

    Its turn takes the place of the turn that it `replaces`.
    """

    question: str
    query: str = ""
    scope: Scope | None = None
    replaces: Turn | None = None


@dataclass(frozen=True)
class PendingQuestion:
    """The waiting question, or the job that answers it, or its failure.

    `replaced` is the turn that it replaces, restored if the question fails.
    """

    waiting: Waiting | None = None
    job_id: str = ""
    replaced: Turn | None = None
    failure: Failure | None = None

    def ask(
        self, question: str, search_query: str = "", scope: Scope | None = None, replaces: Turn | None = None
    ) -> Self:
        """Queue a question; the Ask screen starts it once no other is running."""
        return replace(self, failure=None, waiting=Waiting(question, search_query, scope, replaces))

    def refuse(self, failure: Failure) -> Self:
        """Set the failure of a question whose job could not be started."""
        return replace(self, failure=failure)

    def dismiss(self) -> Self:
        return replace(self, failure=None)
