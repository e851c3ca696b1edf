"""The result of a comparison: its head, the checked summary, grid, differences and tree."""

from functools import partial

import streamlit as st

from assistant.comparing.records import Comparison
from assistant.comparing.wording import ORDERS, describe_method, describe_options
from assistant.wording import served_by
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.compare.choices import choose_again
from explorer.compare.evidence import TEXT
from explorer.compare.grid import draw_differences, render_grid
from explorer.compare.kept import ANOTHERS, sidebar_list_of
from explorer.compare.trail import draw_comparison_trail
from explorer.compare.tree import render_tree
from explorer.components.checked_text import CitationFocus, draw_bars, draw_checked, draw_references
from explorer.components.rows import action, row
from explorer.components.sidebar_list import draw_deletion, draw_imported
from explorer.presenters.coverage import listed
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.wording import day, seconds, short_reference, text_with_references

GRID, DIFFERENCES, TREE = "Key elements", "Differences", "How it was written"


def draw_head(library: Library, session: CurrentComparison) -> None:
    """Draw the description of the work, the papers, the writer and the date of a comparison."""
    if session.now.order is None:
        return
    request = session.now.order.request
    with st.container(key="question_compared"):
        st.markdown(escaped(shortened(request.about, 400)))
    with row("steps_compared", gap="xsmall"):
        st.caption(" · ".join(_facts(library, session, session.now.order)), width="content")
        if not session.now.comparison:
            with st.popover("papers", type="tertiary", key="papers_compared"):
                papers = library.corpus.papers_by_id(request.papers)
                st.markdown(listed([one_line(short_reference(paper)) for paper in papers]))


def _facts(library: Library, session: CurrentComparison, order: Order) -> list[str]:
    names = {writer.name: writer.label for writer in library.writers()}
    facts = [counted(len(order.request.papers), "paper"), escaped(names.get(order.writer, order.writer))]
    if comparison := session.now.comparison:
        facts[1] += escaped(served_by(work_call.call for work_call in comparison.calls))
        facts.append(escaped(describe_method(comparison)))
        facts += [seconds(sum(step.seconds for step in comparison.seconds)), day(comparison.asked)]
        return facts
    options = order.request.options
    asks_a_model = library.usual_parameters(order.writer) is not None
    return [*facts, escaped(describe_options(options) if asks_a_model else f"papers {ORDERS[options.order]}")]


def draw_notes(session: CurrentComparison, comparison: Comparison) -> None:
    """Draw the notes above the summary: its origin, remarks on its papers, and failures to store it."""
    if session.now.is_imported:
        draw_imported("comparison", "comparison.json")
    if session.now.is_anothers:
        st.caption(ANOTHERS)
    if notes := (*session.now.notes, *comparison.remarks):
        with st.container(key="comparison_notes", gap="xxsmall"):
            for note in notes:
                st.markdown(f":material/info: {escaped(note)}")


def draw_summary(
    library: Library, visitor: Visitor, session: CurrentComparison, comparison: Comparison
) -> None:
    """Draw the summary with its citations, references and actions."""
    focus = CitationFocus(session.now.focus, session.updating(ComparisonSession.look_at))
    if comparison.answer.refusal:
        with st.container(border=True, key="reading_refusal"):
            st.markdown("**No summary**")
            st.markdown(escaped(comparison.answer.refusal.message))
    elif not comparison.answer.text.strip():
        st.markdown("Nothing was written. What was sent is under “Trail”.")
    else:
        draw_bars({TEXT: comparison})
        draw_checked(TEXT, comparison, focus)
        draw_references(TEXT, comparison, focus)
    _draw_actions(library, visitor, session, comparison)


def _draw_actions(
    library: Library, visitor: Visitor, session: CurrentComparison, comparison: Comparison
) -> None:
    with row("actions_comparison"):
        draw_comparison_trail(library, visitor, session, comparison)
        if comparison.answer.text:
            with st.popover("Copy", type="tertiary", icon=":material/content_copy:", key="copy_summary"):
                st.caption("The summary with its references; the button at the corner copies it.")
                text = text_with_references(comparison.about, comparison.answer, comparison.evidence)
                st.code(text, language=None, wrap_lines=True)
        again = partial(choose_again, library, session)
        action("Change and compare again", "compare_again", again, icon=":material/refresh:")
        if not session.now.is_anothers:
            with st.popover("Delete", type="tertiary", icon=":material/delete:", key="delete_menu"):
                draw_deletion(sidebar_list_of(library, visitor, session), "finished")


def draw_parts(visitor: Visitor, session: CurrentComparison, comparison: Comparison) -> None:
    """Draw the chosen part below the summary: the grid, the differences, or the tree of rounds."""
    with st.container(key="comparison_parts"):
        chosen = st.segmented_control(
            "Show",
            [GRID, DIFFERENCES, *([TREE] if comparison.rounds else ())],
            default=GRID,
            required=True,
            key="comparison_part",
            label_visibility="collapsed",
        )
        if chosen == DIFFERENCES:
            draw_differences(comparison)
        elif chosen == TREE:
            render_tree(comparison)
        else:
            render_grid(visitor, session, comparison)
