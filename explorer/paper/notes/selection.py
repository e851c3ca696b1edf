"""The script that hears which words of the paper's text are selected, and offers to mark them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from assistant.annotations import LONGEST_QUOTE
from explorer.app.session import field_value

_KEY = "selection"

_component = st.components.v2.component(
    "paper_trail_selection",
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    css=Path(__file__).with_suffix(".css").read_text("utf-8"),
)


@dataclass(frozen=True, slots=True)
class Selected:
    """Words that were selected, the section they begin in ("section-3", "abstract"), and what is wanted."""

    quoted: str
    section: str
    wants_note: bool


def draw_selection_bar(on_marked: Callable[[Selected], None]) -> None:
    """Mount the script; `on_marked` hears of words that are to be marked before the screen is drawn."""

    def heard() -> None:
        reported = field_value(_KEY) or {}
        if selected := parse_selected(reported.get("marked")):
            on_marked(selected)

    _component(key=_KEY, on_marked_change=heard)


def parse_selected(reported: object) -> Selected | None:
    """Parse the page's report of a selection, None for anything else: its text is untrusted."""
    if not isinstance(reported, dict):
        return None
    quoted, section = reported.get("quoted"), reported.get("section")
    if not (isinstance(quoted, str) and quoted.strip() and isinstance(section, str)):
        return None
    return Selected(quoted[:LONGEST_QUOTE], section, reported.get("wantsNote") is True)
