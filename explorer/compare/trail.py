"""The trail of a comparison: its downloads, and the drawer that shows what was sent."""

from functools import partial

import streamlit as st

from assistant.comparing.records import Comparison, WorkCall
from assistant.comparing.wording import comparison_facts
from assistant.exports.registry import COMPARISON_FORMATS
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor
from explorer.app.visitor.comparison import ComparisonSession
from explorer.components.downloads import draw_downloads, exporting
from explorer.components.sent import STEP_NAMES, draw_sent, draw_sent_drawer
from explorer.presenters.safe_text import escaped, shortened


def draw_comparison_trail(
    library: Library, visitor: Visitor, session: CurrentComparison, comparison: Comparison
) -> None:
    """Draw the menu of downloads of a comparison, each made on its click."""
    key = f"comparison_trail_{session.now.menus_closed}"
    with st.popover("Trail", type="tertiary", icon=":material/download:", key=key):
        with st.container(key="downloads_comparison", gap=None):
            draw_downloads(COMPARISON_FORMATS, exporting(library, visitor, comparison), "comparison")
        st.button(
            "What was sent",
            icon=":material/receipt_long:",
            key="comparison_calls",
            width="stretch",
            on_click=session.update,
            args=(ComparisonSession.show_sent,),
        )


def draw_comparison_calls(session: CurrentComparison, comparison: Comparison) -> None:
    """Draw the drawer with the calls of the comparison, if it is open."""
    if session.now.shows_calls:
        draw_sent_drawer(partial(_draw_calls, comparison), session.updating(ComparisonSession.close_calls))


def _draw_calls(comparison: Comparison) -> None:
    """Draw a menu of the calls and the chosen call; a hundred prompts at once are too much for a browser."""
    st.markdown(escaped(shortened(comparison.about, 300)))
    st.caption(escaped(" · ".join(comparison_facts(comparison))))
    if not comparison.calls:
        st.caption("No model was asked: everything was done by rule, and is in the trail.")
        return
    chosen = st.selectbox(
        "Call",
        range(len(comparison.calls)),
        format_func=lambda place: call_title(place + 1, comparison.calls[place]),
        key="call_shown",
    )
    if chosen is not None and 0 <= chosen < len(comparison.calls):
        draw_sent(comparison.calls[chosen].call)


def call_title(number: int, work_call: WorkCall) -> str:
    """Return the label of a call in the menu, as plain text."""
    reused = ", of an earlier comparison" if work_call.reused else ""
    return f"{number}. {STEP_NAMES[work_call.call.step]}: {shortened(work_call.work, 60)}{reused}"
