"""Actions on an answer: export, ask again, edit, undo, clear and judge."""

import streamlit as st

from assistant.bounds import LONGEST_QUESTION
from assistant.records import Turn
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value
from explorer.app.visitor.conversation import RemovedTurn
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import clear, put_back, undo
from explorer.ask.feedback import draw_verdict
from explorer.ask.trail import draw_trail
from explorer.components.rows import menu
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import answer_with_references


def draw_actions(library: Library, visitor: Visitor, number: int, turn: Turn, *, is_last: bool) -> None:
    """Draw the actions of turn `number`; only the last turn can be edited in place, undone or cleared."""
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
    """Draw a menu with the question in a field, to be edited and asked."""
    with menu("Edit", f"edit_{number}_{visitor.now.menus_closed}", ":material/edit:") as is_drawn:
        if not is_drawn:
            return
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
    """Draw the menu that begins a new conversation, or deletes this one."""
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


def draw_removed_turn(library: Library, visitor: Visitor, removed: RemovedTurn) -> None:
    """Draw which turn was removed or replaced last, with a button that puts it back."""
    question = escaped(shortened(removed.turn.question, 120))
    caption = f"Replaced: the answer to “{question}”" if removed.was_replaced else f"Removed: “{question}”"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="taken_off"):
        st.caption(caption, width="content")
        st.button(
            "Put it back",
            key="put_back",
            type="tertiary",
            icon=":material/redo:",
            on_click=put_back,
            args=(library, visitor),
        )
