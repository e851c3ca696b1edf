"""The rest of this month's spending limit, shown before it is reached."""

import streamlit as st

from assistant.records import AssistantError
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import format_spending


def draw_spending(library: Library, visitor: Visitor, writer: str) -> None:
    """Say what is left for a writer, once most of it is spent; what cannot be read is said to who asks."""
    try:
        said = format_spending(library.balances(writer, current_owner(visitor)))
    except AssistantError:
        return
    if said:
        st.caption(escaped(said))
