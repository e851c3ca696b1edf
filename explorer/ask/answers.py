"""The view of a turn: question, steps, answer with citations, references, and actions."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.records import Turn
from assistant.wording import served_by
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor, set_field
from explorer.app.visitor.conversation import Failure
from explorer.app.visitor.session import VisitorSession
from explorer.ask.actions import draw_actions
from explorer.ask.evidence import look_at
from explorer.ask.feedback import wrong_numbers
from explorer.ask.refusals import draw_beside_refusal, draw_refusal, search_again
from explorer.ask.steps import steps_html, steps_of, steps_so_far
from explorer.ask.trail import draw_way_to_calls
from explorer.components.checked_text import CitationFocus, draw_checked, draw_references, show_next
from explorer.components.rows import action, fold, menu, row
from explorer.jobs.question import QuestionView
from explorer.presenters.citations import known_labels, shown_draft
from explorer.presenters.safe_text import answer_markdown, escaped, shortened
from explorer.presenters.wording import format_kind, searched_again, searched_for

QUICK = (
    "Quick answer, without the model. The model is writing its own, which replaces this one once it has been "
    "checked."
)


@st.fragment
def draw_last_turn(
    library: Library, visitor: Visitor, number: int, turn: Turn, drawn: VisitorSession
) -> None:
    """Draw the last turn of the conversation, `number` counted from 1, as a fragment.

    Opening one of its menus redraws this turn alone; the whole screen reruns once the session differs from
    `drawn`.
    """
    if visitor.now != drawn:
        st.rerun()
    _draw_question(turn.question)
    _draw_steps(visitor, number, turn)
    _draw_answer(visitor, number, turn)
    _draw_rest(library, visitor, number, turn, is_last=True)


def draw_earlier_turn(library: Library, visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw an earlier turn; its steps, sources and actions are in a fold.

    No fragment: that would make each rerun slower, and the fold is seldom opened.
    """
    _draw_question(turn.question)
    if turn.rewrite.searched_for != turn.question:
        st.caption(searched_for(turn.rewrite))
    _draw_answer(visitor, number, turn)
    rest = "Nearest passages, trail and more" if turn.answer.refusal else "Sources, trail and more"
    with fold(rest, f"rest_{visitor.now.opened}_{number}") as is_drawn:
        if is_drawn:
            _draw_steps(visitor, number, turn)
            _draw_rest(library, visitor, number, turn, is_last=False)


def _draw_answer(visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw the checked answer with the reader's marks, or the refusal."""
    if turn.answer.refusal:
        draw_refusal(number, turn.answer.refusal)
        return
    focus = _focus_of(visitor, number)
    if served := served_by(turn.calls):
        st.caption(escaped(f"{turn.provenance.generator} was asked{served}."))
    draw_checked(number, turn, focus)
    if turn.quick:
        with st.expander("Quick answer, without the model", type="compact", key=f"quick_{number}"):
            known = known_labels(turn)
            st.markdown(answer_markdown(turn.quick.text, number, known, linked=False))
    _draw_marks(visitor, number, turn, focus)


def _draw_rest(library: Library, visitor: Visitor, number: int, turn: Turn, *, is_last: bool) -> None:
    """Draw the references of an answer or the nearest passages of a refusal, then calls and actions."""
    if turn.answer.refusal:
        draw_beside_refusal(library, visitor, number, turn, turn.answer.refusal)
    draw_way_to_calls(visitor, number, turn)
    if not turn.answer.refusal:
        draw_references(number, turn, _focus_of(visitor, number))
    draw_actions(library, visitor, number, turn, is_last=is_last)


def draw_running(view: QuestionView, number: int, stop: Callable[[], None] | None) -> None:
    """Draw the running question, laid out as its turn will be; `stop` is None if it may not be stopped."""
    _draw_question(view.question)
    with _steps_line(number):
        st.caption(
            searched_for(view.rewrite) if view.rewrite else "Making a search query of the question",
            width="content",
        )
        if stop:
            st.button("Stop", key="stop", icon=":material/stop_circle:", type="tertiary", on_click=stop)
    st.html(steps_html(steps_so_far(view)))
    # A small model's text is not shown before it is checked.
    quick = view.quick if view.quick and (view.quick.careful or not view.text) else None
    if quick:
        st.caption(QUICK)
    with st.container(key=f"reading_answer_{number}"):
        if quick:
            st.markdown(answer_markdown(quick.answer.text, number, known_labels(quick), linked=False))
        elif view.text and view.papers:
            text, known = shown_draft(view.text, view.papers)
            st.markdown(answer_markdown(text, number, known))


def draw_failure(visitor: Visitor, failure: Failure) -> None:
    """Draw a question that failed: the reason, the unchecked partial text, and the next actions."""
    number = len(visitor.now.turns) + 1
    if failure.question:
        # A question refused for its length must not push the reason off the screen.
        _draw_question(failure.question, 160)
    with st.container(border=True, key="failure"):
        st.markdown(escaped(failure.message))
        if failure.partial.strip():
            st.caption("What had been written, not checked:")
            with st.container(key="reading_partial"):
                st.markdown(answer_markdown(failure.partial, number, frozenset(), linked=False))
        with st.container(horizontal=True):
            if failure.question:
                _draw_retry_and_edit(visitor, failure)
            st.button(
                "Dismiss",
                type="tertiary",
                key="dismiss",
                on_click=visitor.update,
                args=(VisitorSession.dismiss,),
            )


def _draw_retry_and_edit(visitor: Visitor, failure: Failure) -> None:
    if failure.can_retry:
        st.button(
            "Retry",
            type="primary",
            key="retry",
            on_click=visitor.update,
            args=(VisitorSession.ask, failure.question, failure.search_query, None, failure.replaces),
        )
    st.button(
        "Edit the question",
        type="secondary" if failure.can_retry else "primary",
        key="edit",
        on_click=_edit,
        args=(visitor, failure.question),
    )


def _draw_question(question: str, longest: int = 600) -> None:
    st.header(escaped(shortened(question, longest)), anchor=False)


def _steps_line(number: int) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"steps_{number}")


def _draw_steps(visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw the search query, with a menu to change it, and the steps."""
    with _steps_line(number):
        st.caption(f"{searched_for(turn.rewrite)} · {format_kind(turn.rewrite)}", width="content")
        key = f"edit_query_{number}_{visitor.now.menus_closed}"
        with menu("change the search", key) as is_drawn:
            if is_drawn:
                _draw_query_field(visitor, number, turn)
    for second in turn.second_searches:
        st.caption(searched_again(second))
    st.html(steps_html(steps_of(turn)))


def _draw_query_field(visitor: Visitor, number: int, turn: Turn) -> None:
    with st.form(f"query_form_{number}", border=False):
        key = f"own_query_{visitor.now.opened}_{number}"
        st.text_input("Search query", value=turn.rewrite.search_query[:2000], key=key, max_chars=2000)
        st.caption("The same question is asked again, of what your own query finds.")
        st.form_submit_button(
            "Search again",
            key=f"search_again_{number}",
            disabled=bool(visitor.now.job_id),
            on_click=_search_again,
            args=(visitor, number, turn),
        )


def _search_again(visitor: Visitor, number: int, turn: Turn) -> None:
    visitor.update(VisitorSession.close_menus)
    search_again(visitor, turn, f"own_query_{visitor.now.opened}_{number}")


def _focus_of(visitor: Visitor, turn: int) -> CitationFocus:
    now = visitor.now.focus.number if visitor.now.focus and visitor.now.focus.turn == turn else 0
    return CitationFocus(now, partial(look_at, visitor, turn))


def _draw_marks(visitor: Visitor, number: int, turn: Turn, focus: CitationFocus) -> None:
    """Draw how many citations were marked as wrong, with a button that steps through them."""
    wrong = wrong_numbers(turn)
    if not wrong:
        return
    reader = "Its reader" if visitor.now.is_anothers or visitor.now.is_imported else "You"
    with row(f"findings_own_{number}", gap="xsmall"):
        st.caption(f"{reader} marked {counted(len(wrong), 'citation')} as wrong.", width="content")
        action("show", f"wrong_{number}", show_next, wrong, focus)


def _edit(visitor: Visitor, question: str) -> None:
    visitor.update(VisitorSession.dismiss)
    set_field("question_box", question)
