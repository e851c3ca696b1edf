"""How a turn is drawn: question, steps, answer with citations, references, and what can be done with it."""

from functools import partial

import streamlit as st

from assistant.records import Turn
from explorer.asking.conversations import clear
from explorer.asking.refusals import draw_refusal, search_again
from explorer.asking.trail import draw_trail
from explorer.checked import Looking, draw_checked, draw_references
from explorer.evidence import look_at
from explorer.parts.citations import shown_draft
from explorer.parts.jobs import JobView
from explorer.parts.safe_text import answer_markdown, escaped, shortened
from explorer.parts.wording import answer_with_references, counted, searched_for, seconds, steps_taken
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
        draw_references(number, turn, looking)
    _draw_actions(library, reader, number, turn, is_last=is_last)


def draw_running(view: JobView, number: int) -> None:
    """Draw the question on its way, laid out as its turn will be."""
    _draw_question(number, view.question)
    st.caption(progress(view))
    with st.container(key=f"reading_answer_{number}"):
        if view.text and view.papers:
            text, known = shown_draft(view.text, view.papers)
            st.markdown(answer_markdown(text, number, known))


def progress(view: JobView) -> str:
    """Return, as Markdown, what has been done for a question and what is being done."""
    done = []
    if view.rewrite:
        done.append(searched_for(view.rewrite))
    if view.papers is not None:
        passages = sum(len(found.hits) for found in view.papers)
        done.append(f"{counted(len(view.papers), 'paper')}, {counted(passages, 'passage')}")
    now = _step_now(view)
    return " · ".join([*done, f":shimmer[{now}] {seconds(view.seconds)}"])


def draw_failure(reader: Reader, failure: Failure) -> None:
    """Draw a question that was not answered: why, what had been written, and how to go on."""
    number = len(reader.turns) + 1
    if failure.question:
        _draw_question(number, failure.question)
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
            args=(failure.question, failure.search_query),
        )
    st.button(
        "Edit the question",
        type="secondary" if failure.can_retry else "primary",
        key="edit",
        on_click=_edit,
        args=(reader, failure.question),
    )


def _step_now(view: JobView) -> str:
    if view.state == "waiting":
        return "waiting for a free worker"
    if view.rewrite is None:
        return "reading the question"
    if view.papers is None:
        return "finding passages"
    return "writing" if view.text else "reading"


def _draw_question(number: int, question: str) -> None:
    with st.container(key=f"question_{number}"):
        st.markdown(escaped(shortened(question, 600)))


def _draw_steps(reader: Reader, number: int, turn: Turn) -> None:
    """Draw what was searched for and found, with the field to search for something else."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"steps_{number}"):
        st.caption(f"{searched_for(turn.rewrite)} · {steps_taken(turn)}", width="content")
        with (
            st.popover("edit", type="tertiary", key=f"edit_query_{number}_{reader.menus_closed}"),
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


def _search_again(reader: Reader, number: int, turn: Turn) -> None:
    reader.menus_closed += 1
    search_again(reader, turn, f"own_query_{reader.opened}_{number}")


def _looking(reader: Reader, turn: int) -> Looking:
    now = reader.focus.number if reader.focus and reader.focus.turn == turn else 0
    return Looking(now, partial(look_at, reader, turn))


def _draw_actions(library: Library, reader: Reader, number: int, turn: Turn, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"actions_{number}"):
        draw_trail(reader, number)
        if not turn.answer.refusal:
            with st.popover("Copy", type="tertiary", icon=":material/content_copy:", key=f"copy_{number}"):
                st.caption("The answer with its references; the button at the corner copies it.")
                st.code(answer_with_references(turn), language=None, wrap_lines=True)
        st.button(
            "Ask again",
            key=f"again_{number}",
            type="tertiary",
            icon=":material/refresh:",
            on_click=reader.ask,
            args=(turn.question,),
        )
        if is_last and not reader.is_anothers:
            with st.popover("Delete", type="tertiary", icon=":material/delete:", key="clear_menu"):
                count = len(reader.turns)
                st.caption(f"The conversation has {counted(count, 'answer')}. They cannot be had back.")
                st.button("Delete this conversation", key="clear", on_click=clear, args=(library, reader))


def _edit(reader: Reader, question: str) -> None:
    reader.failure = None
    st.session_state["question_box"] = question


def _dismiss(reader: Reader) -> None:
    reader.failure = None
