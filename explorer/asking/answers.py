"""How a turn is drawn: question, steps, answer with citations, references, and what can be done with it."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.records import Turn
from explorer.asking.actions import draw_actions
from explorer.asking.feedback import wrong_numbers
from explorer.asking.refusals import draw_refusal, search_again
from explorer.checked import Looking, draw_checked, draw_references, show_next
from explorer.evidence import look_at
from explorer.parts.citations import shown_draft
from explorer.parts.jobs import JobView
from explorer.parts.safe_text import answer_markdown, escaped, shortened
from explorer.parts.steps import steps_html, steps_of, steps_so_far
from explorer.parts.wording import counted, kind_said, searched_for
from explorer.reader import Failure, Reader
from explorer.resources import Library


def draw_turn(library: Library, reader: Reader, number: int, turn: Turn, *, is_last: bool) -> None:
    """Draw turn `number` of the conversation, counted from 1."""
    _draw_question(number, turn.question)
    _draw_steps(reader, number, turn)
    if turn.answer.refusal:
        draw_refusal(library, reader, number, turn, turn.answer.refusal)
    else:
        looking = _looking(reader, number)
        draw_checked(number, turn, looking)
        _draw_marks(reader, number, turn, looking)
        draw_references(number, turn, looking)
    draw_actions(library, reader, number, turn, is_last=is_last)


def draw_running(view: JobView, number: int, stop: Callable[[], None] | None) -> None:
    """Draw the question on its way, laid out as its turn will be; `stop` is None for who may not stop it."""
    _draw_question(number, view.question)
    with _steps_line(number):
        st.caption(
            searched_for(view.rewrite) if view.rewrite else "Making a search query of the question",
            width="content",
        )
        if stop:
            st.button("Stop", key="stop", icon=":material/stop_circle:", type="tertiary", on_click=stop)
    st.html(steps_html(steps_so_far(view)))
    with st.container(key=f"reading_answer_{number}"):
        if view.text and view.papers:
            text, known = shown_draft(view.text, view.papers)
            st.markdown(answer_markdown(text, number, known))


def draw_failure(reader: Reader, failure: Failure) -> None:
    """Draw a question that was not answered: why, what had been written, and how to go on."""
    number = len(reader.turns) + 1
    if failure.question:
        # Of one refused for its length the reason is to be seen too; whole it is under "Edit the question".
        _draw_question(number, failure.question, 160)
    with st.container(border=True, key="failure"):
        st.markdown(escaped(failure.message))
        if failure.partial.strip():
            st.caption("What had been written, not checked:")
            with st.container(key="reading_partial"):
                st.markdown(answer_markdown(failure.partial, number, frozenset(), linked=False))
        with st.container(horizontal=True):
            if failure.question:
                _draw_ways_on(reader, failure)
            st.button("Dismiss", type="tertiary", key="dismiss", on_click=_dismiss, args=(reader,))


def _draw_ways_on(reader: Reader, failure: Failure) -> None:
    """Offer to ask again, where that may help, and to edit the question."""
    if failure.can_retry:
        st.button(
            "Retry",
            type="primary",
            key="retry",
            on_click=reader.ask,
            args=(failure.question, failure.search_query, None, failure.replaces),
        )
    st.button(
        "Edit the question",
        type="secondary" if failure.can_retry else "primary",
        key="edit",
        on_click=_edit,
        args=(reader, failure.question),
    )


def _draw_question(number: int, question: str, longest: int = 600) -> None:
    with st.container(key=f"question_{number}"):
        st.markdown(escaped(shortened(question, longest)))


def _steps_line(number: int) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"steps_{number}")


def _draw_steps(reader: Reader, number: int, turn: Turn) -> None:
    """Draw what was searched for, with the field to search for something else, and the steps."""
    with _steps_line(number):
        st.caption(f"{searched_for(turn.rewrite)} · {kind_said(turn.rewrite)}", width="content")
        with (
            st.popover(
                "change the search", type="tertiary", key=f"edit_query_{number}_{reader.menus_closed}"
            ),
            st.form(f"query_form_{number}", border=False),
        ):
            key = f"own_query_{reader.opened}_{number}"
            st.text_input("Search query", value=turn.rewrite.search_query[:2000], key=key, max_chars=2000)
            st.caption("The same question is asked again, of what your own query finds.")
            st.form_submit_button(
                "Search again",
                key=f"search_again_{number}",
                disabled=bool(reader.job_id),
                on_click=_search_again,
                args=(reader, number, turn),
            )
    st.html(steps_html(steps_of(turn)))


def _search_again(reader: Reader, number: int, turn: Turn) -> None:
    reader.menus_closed += 1
    search_again(reader, turn, f"own_query_{reader.opened}_{number}")


def _looking(reader: Reader, turn: int) -> Looking:
    now = reader.focus.number if reader.focus and reader.focus.turn == turn else 0
    return Looking(now, partial(look_at, reader, turn))


def _draw_marks(reader: Reader, number: int, turn: Turn, looking: Looking) -> None:
    """Say how many citations were marked as wrong, with the way to them."""
    wrong = wrong_numbers(turn)
    if not wrong:
        return
    who = "Its reader" if reader.is_anothers or reader.is_imported else "You"
    said = f"{who} marked {counted(len(wrong), 'citation')} as wrong."
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key=f"findings_own_{number}"
    ):
        st.caption(said, width="content")
        st.button("show", key=f"wrong_{number}", type="tertiary", on_click=show_next, args=(wrong, looking))


def _edit(reader: Reader, question: str) -> None:
    reader.failure = None
    st.session_state["question_box"] = question


def _dismiss(reader: Reader) -> None:
    reader.failure = None
