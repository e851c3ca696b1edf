"""Turns put into the store as they are completed. No Streamlit."""

from dataclasses import dataclass

from assistant.conversations import ConversationStore
from assistant.records import AssistantError, Turn


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a turn: the turns that are in no store still, and why."""

    unkept: tuple[Turn, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Keeper:
    """Puts the turns of one conversation into the store; those it could not put there before come first.

    A turn that `replaces` another takes its place there, once it is complete and not before.
    """

    store: ConversationStore
    conversation_id: str
    unkept: tuple[Turn, ...] = ()
    replaces: Turn | None = None

    def keep(self, turn: Turn) -> Kept:
        """Store a turn; when that fails the turn is not lost, but handed back with the reason."""
        waiting = (*self.unkept, turn)
        for number, one in enumerate(waiting):
            try:
                self._put(one, replaces=self.replaces if one is turn else None)
            except AssistantError as error:
                return Kept(waiting[number:], str(error))
        return Kept()

    def _put(self, turn: Turn, replaces: Turn | None) -> None:
        if replaces is None:
            self.store.add_turn(self.conversation_id, turn)
        else:
            self.store.change_turn(self.conversation_id, replaces, turn)
