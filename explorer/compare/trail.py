"""The trail of a comparison: its downloads, and the drawer that shows what was sent."""

import streamlit as st

from assistant.comparing.records import Comparison, WorkCall
from assistant.comparing.wording import comparison_facts
from assistant.exports.registry import COMPARISON_FORMATS
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor
from explorer.app.visitor.comparison import ComparisonSession
from explorer.ask.trail import STEP_NAMES, draw_sent
from explorer.components.downloads import draw_downloads, exporting
from explorer.presenters.safe_text import escaped, shortened


def draw_comparison_trail(
    library: Library, visitor: Visitor, session: CurrentComparison, comparison: Comparison
) -> None:
    """Draw the downloads of a comparison; a file is made when it is asked for."""
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
    """Draw the drawer with everything that was sent for the comparison, where it is to be shown."""

    @st.dialog(
        "What was sent",
        position="right",
        width="large",
        on_dismiss=session.updating(ComparisonSession.close_calls),
    )
    def drawer() -> None:
        with st.container(key="calls_drawer"):
            _draw_calls(comparison)

    if session.now.shows_calls:
        drawer()


def _draw_calls(comparison: Comparison) -> None:
    """Draw one call of all: a hundred prompts at once would be too much for a browser, and for a reader."""
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


def call_title(number: int, one: WorkCall) -> str:
    """Return the label of a call by which it is chosen; shown as plain text."""
    reused = ", of an earlier comparison" if one.reused else ""
    return f"{number}. {STEP_NAMES[one.call.step]}: {shortened(one.work, 60)}{reused}"
