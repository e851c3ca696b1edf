"""The remainder of this month's spending limit."""

import streamlit as st

from assistant.records import AssistantError
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import format_spending


def draw_spending(library: Library, visitor: Visitor, writer: str) -> None:
    """Draw what is left to spend on a writer, once most of it is spent; asking reports unreadable stores."""
    try:
        balance = format_spending(library.balances(writer, current_owner(visitor)))
    except AssistantError:
        return
    if balance:
        st.caption(escaped(balance))
