"""The reader's feedback on an answer: a verdict, and wrong citations."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from assistant.records import Citation, Turn
from assistant.storage.feedback import mark_of, with_verdict, with_wrong_citation, without_wrong_citation
from assistant.verdicts import Verdict
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value
from explorer.ask.conversations import change_turn
from explorer.presenters.citations import sources

# In the order of Streamlit's thumbs.
THUMBS: tuple[Verdict, ...] = ("bad", "good")


@dataclass(frozen=True, slots=True)
class Marks:
    """The reader's marks of wrong citations in turn `number`, counted from 1."""

    library: Library
    visitor: Visitor
    number: int

    @property
    def turn(self) -> Turn:
        return self.visitor.now.turns[self.number - 1]

    def add(self, citation: Citation, note: str) -> None:
        change_turn(self.library, self.visitor, self.turn, with_wrong_citation(self.turn, citation, note))

    def take_back(self, citation: Citation) -> None:
        change_turn(self.library, self.visitor, self.turn, without_wrong_citation(self.turn, citation))


def marks_of(library: Library, visitor: Visitor) -> Marks | None:
    """Return the marks of the turn in focus; None if it is not complete or is another visitor's."""
    focus = visitor.now.focus
    if focus is None or visitor.now.is_anothers or not 1 <= focus.turn <= len(visitor.now.turns):
        return None
    return Marks(library, visitor, focus.turn)


def wrong_numbers(turn: Turn) -> tuple[int, ...]:
    """Return the numbers of the citations that were marked as wrong."""
    return tuple(source.number for source in sources(turn) if mark_of(turn, source.citation))


def draw_verdict(library: Library, visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw the two thumbs; a second click takes a verdict back."""
    key = f"verdict_{visitor.now.opened}_{number}_{_mark(turn)}"
    thumb = THUMBS.index(turn.feedback.verdict) if turn.feedback.verdict else None
    with st.container(key=f"verdict_of_{number}", width="content"):
        st.feedback(
            "thumbs", key=key, default=thumb, on_change=partial(_give_verdict, library, visitor, number, key)
        )


def _give_verdict(library: Library, visitor: Visitor, number: int, key: str) -> None:
    chosen = field_value(key)
    turn = visitor.now.turns[number - 1]
    change_turn(library, visitor, turn, with_verdict(turn, None if chosen is None else THUMBS[chosen]))


def _mark(turn: Turn) -> str:
    """Return a widget key part from the turn's time, so that a replacing turn inherits no widget state."""
    return "".join(letter for letter in turn.asked[:40] if letter.isascii() and letter.isalnum())
