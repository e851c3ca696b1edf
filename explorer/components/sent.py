"""The drawer that shows what was sent to models, and what came back."""

from collections.abc import Callable

import streamlit as st

from assistant.records import Call, Step
from assistant.wording import call_facts
from explorer.presenters.safe_text import escaped

STEP_NAMES: dict[Step, str] = {
    "rewrite": "Search query",
    "retrieve": "Search",
    "search_again": "Second search query",
    "rerank": "Papers that bear on it",
    "write": "Answer",
    "revise": "Answer revised",
    "check": "Check",
    "elements": "Key elements",
    "compare": "Summary",
    "vote": "Vote",
}
LONG_TEXT = 1200
HIGHEST_TEXT = 340


def draw_sent_drawer(draw: Callable[[], None], on_dismiss: Callable[[], None]) -> None:
    """Open the drawer of calls, whose content `draw` draws."""

    @st.dialog("What was sent", position="right", width="large", on_dismiss=on_dismiss)
    def drawer() -> None:
        with st.container(key="calls_drawer"):
            draw()

    drawer()


def draw_sent(call: Call) -> None:
    """Draw everything that was sent and received in a call."""
    st.caption(escaped(" · ".join(call_facts(call))))
    if not call.messages:
        st.caption("No model was asked: this was done by rule.")
    for message in call.messages:
        _draw_text(f"Sent as {message.role}", message.content)
    _draw_text("Received", call.reply)


def _draw_text(label: str, text: str) -> None:
    """Draw a prompt or a reply verbatim, as plain text."""
    st.markdown(f"**{label}**")
    is_long = len(text) > LONG_TEXT
    with st.container(border=True, height=HIGHEST_TEXT if is_long else "content"):
        st.text(text or "nothing")
