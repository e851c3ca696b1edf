"""Actions on an answer: export, ask again, edit, undo, clear and judge."""

import streamlit as st

from assistant.bounds import LONGEST_QUESTION
from assistant.records import Turn
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value
from explorer.app.visitor.conversation import TakenOff
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import clear, put_back, undo
from explorer.ask.feedback import draw_verdict
from explorer.ask.trail import draw_trail
from explorer.components.rows import menu
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import answer_with_references


def draw_actions(library: Library, visitor: Visitor, number: int, turn: Turn, *, is_last: bool) -> None:
    """Draw what can be done with turn `number`; only the last one can be edited in its place, or undone."""
    is_own = not visitor.now.is_anothers
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions_{number}"):
        draw_trail(library, visitor, number)
        if not turn.answer.refusal:
            _draw_copy(number, turn)
        st.button(
            "Ask again",
            key=f"again_{number}",
            type="tertiary",
            icon=":material/refresh:",
            on_click=visitor.update,
            args=(VisitorSession.ask, turn.question),
        )
        _draw_edit(visitor, number, turn, replaces=is_last and is_own)
        if is_last and is_own:
            _draw_undo(library, visitor)
        if is_last:
            _draw_clear(library, visitor, is_own=is_own)
        if is_own:
            draw_verdict(library, visitor, number, turn)


def _draw_copy(number: int, turn: Turn) -> None:
    with menu("Copy", f"copy_{number}", ":material/content_copy:") as is_drawn:
        if is_drawn:
            st.caption("The answer with its references; the button at the corner copies it.")
            st.code(answer_with_references(turn), language=None, wrap_lines=True)


def _draw_edit(visitor: Visitor, number: int, turn: Turn, *, replaces: bool) -> None:
    """Draw the way to the question in a field, to be asked as it is then."""
    key = f"edit_{number}_{visitor.now.menus_closed}"
    with menu("Edit", key, ":material/edit:") as is_drawn:
        if is_drawn:
            _draw_question_field(visitor, number, turn, replaces=replaces)


def _draw_question_field(visitor: Visitor, number: int, turn: Turn, *, replaces: bool) -> None:
    with st.form(f"edit_form_{number}", border=False):
        key = f"own_question_{visitor.now.opened}_{number}_{visitor.now.menus_closed}"
        question = turn.question[:LONGEST_QUESTION]
        st.text_area("Question", value=question, key=key, max_chars=LONGEST_QUESTION)
        st.caption(
            "The new answer takes the place of this one."
            if replaces
            else "It is asked as a new question, at the end of the conversation."
        )
        st.form_submit_button(
            "Ask",
            key=f"ask_edited_{number}",
            disabled=bool(visitor.now.job_id),
            on_click=_ask_edited,
            args=(visitor, key, turn if replaces else None),
        )


def _ask_edited(visitor: Visitor, key: str, replaces: Turn | None) -> None:
    if question := str(field_value(key) or "").strip():
        visitor.update(VisitorSession.close_menus)
        visitor.update(VisitorSession.ask, question, replaces=replaces)


def _draw_undo(library: Library, visitor: Visitor) -> None:
    st.button(
        "Undo",
        key="undo",
        type="tertiary",
        icon=":material/undo:",
        help="Takes this question and its answer off the conversation. They can be put back.",
        on_click=undo,
        args=(library, visitor),
    )


def _draw_clear(library: Library, visitor: Visitor, *, is_own: bool) -> None:
    """Draw the two ways to an empty screen: one keeps the conversation, the other does not."""
    with menu("Clear", "clear_menu", ":material/clear_all:") as is_drawn:
        if not is_drawn:
            return
        st.button(
            "Begin a new conversation",
            key="clear_new",
            on_click=visitor.update,
            args=(VisitorSession.turn_to,),
        )
        if visitor.now.is_kept:
            st.caption("This one stays in the list of conversations, at the left.")
        if is_own:
            st.button("Delete this conversation", key="clear", on_click=clear, args=(library, visitor))
            st.caption(f"Its {counted(len(visitor.now.turns), 'answer')} cannot be had back.")


def draw_taken_off(library: Library, visitor: Visitor, taken: TakenOff) -> None:
    """Say what was taken off the conversation last, with the way back."""
    question = escaped(shortened(taken.turn.question, 120))
    said = f"Replaced: the answer to “{question}”" if taken.was_replaced else f"Removed: “{question}”"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="taken_off"):
        st.caption(said, width="content")
        st.button(
            "Put it back",
            key="put_back",
            type="tertiary",
            icon=":material/redo:",
            on_click=put_back,
            args=(library, visitor),
        )
