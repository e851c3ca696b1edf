"""What a comparison has come to: its head, the checked summary, and the parts behind it."""

import streamlit as st

from assistant.comparing.records import Comparison
from assistant.comparing.wording import ORDERS, options_said, written_said
from explorer.checked import Looking, draw_checked, draw_references
from explorer.comparing.choices import choose_again
from explorer.comparing.desk import Desk, Order
from explorer.comparing.evidence import TEXT
from explorer.comparing.grid import draw_differences, render_grid
from explorer.comparing.kept import ANOTHERS, shelf_of
from explorer.comparing.trail import draw_comparison_trail
from explorer.comparing.tree import render_tree
from explorer.parts.coverage import listed
from explorer.parts.imported import draw_imported
from explorer.parts.safe_text import escaped, one_line, shortened
from explorer.parts.shelf import draw_deletion
from explorer.parts.wording import counted, day, seconds, short_reference, text_with_references
from explorer.reader import Reader
from explorer.resources import Library

GRID, DIFFERENCES, TREE = "Key elements", "Differences", "How it was written"


def draw_head(library: Library, desk: Desk) -> None:
    """Draw what is compared and for what, who writes, and when."""
    if desk.order is None:
        return
    request = desk.order.request
    with st.container(key="question_compared"):
        st.markdown(escaped(shortened(request.about, 400)))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="steps_compared"):
        st.caption(" · ".join(_facts(library, desk, desk.order)), width="content")
        if not desk.comparison:
            with st.popover("papers", type="tertiary", key="papers_compared"):
                papers = library.corpus.papers_by_id(request.papers)
                st.markdown(listed([one_line(short_reference(paper)) for paper in papers]))


def _facts(library: Library, desk: Desk, order: Order) -> list[str]:
    names = {one.name: one.label for one in library.writers()}
    facts = [counted(len(order.request.papers), "paper"), escaped(names.get(order.writer, order.writer))]
    if comparison := desk.comparison:
        facts.append(escaped(written_said(comparison)))
        facts += [seconds(sum(step.seconds for step in comparison.seconds)), day(comparison.asked)]
        return facts
    options = order.request.options
    asks_a_model = library.usual_parameters(order.writer) is not None
    return [*facts, escaped(options_said(options) if asks_a_model else f"papers {ORDERS[options.order]}")]


def draw_notes(desk: Desk, comparison: Comparison) -> None:
    """Say above the summary what readers should know: where it is from, of its papers, what is not stored."""
    if desk.is_imported:
        draw_imported("comparison", "comparison.json")
    if desk.is_anothers:
        st.caption(ANOTHERS)
    if said := (*desk.notes, *comparison.remarks):
        with st.container(key="comparison_notes", gap="xxsmall"):
            for note in said:
                st.markdown(f":material/info: {escaped(note)}")


def draw_summary(library: Library, reader: Reader, desk: Desk, comparison: Comparison) -> None:
    """Draw the summary with its citations, its references, and what can be done with it."""
    looking = Looking(desk.focus, desk.look_at)
    if comparison.answer.refusal:
        with st.container(border=True, key="reading_refusal"):
            st.markdown("**No summary**")
            st.markdown(escaped(comparison.answer.refusal.message))
    elif not comparison.answer.text.strip():
        st.markdown("Nothing was written. What was sent is under “Trail”.")
    else:
        draw_checked(TEXT, comparison, looking)
        draw_references(TEXT, comparison, looking)
    _draw_actions(library, reader, desk, comparison)


def _draw_actions(library: Library, reader: Reader, desk: Desk, comparison: Comparison) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="actions_comparison"):
        draw_comparison_trail(desk, comparison)
        if comparison.answer.text:
            with st.popover("Copy", type="tertiary", icon=":material/content_copy:", key="copy_summary"):
                st.caption("The summary with its references; the button at the corner copies it.")
                text = text_with_references(comparison.about, comparison.answer, comparison.evidence)
                st.code(text, language=None, wrap_lines=True)
        st.button(
            "Change and compare again",
            key="compare_again",
            type="tertiary",
            icon=":material/refresh:",
            on_click=choose_again,
            args=(library, desk),
        )
        if not desk.is_anothers:
            with st.popover("Delete", type="tertiary", icon=":material/delete:", key="delete_menu"):
                draw_deletion(shelf_of(library, reader, desk), "finished")


def draw_parts(reader: Reader, desk: Desk, comparison: Comparison) -> None:
    """Draw one of the parts behind the summary: the grid, the differences, or the tree."""
    with st.container(key="comparison_parts"):
        chosen = st.segmented_control(
            "Show",
            [GRID, DIFFERENCES, TREE],
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
            render_grid(reader, desk, comparison)
