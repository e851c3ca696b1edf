"""The page's script that offers to highlight selected text of the paper."""

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
    """Selected text, the anchor of the section where it begins, and whether a note is to be written."""

    quoted: str
    section: str
    wants_note: bool


def draw_selection_bar(on_marked: Callable[[Selected], None]) -> None:
    """Mount the script; `on_marked` is called with the selection before the screen reruns."""

    def report_selection() -> None:
        reported = field_value(_KEY) or {}
        if selected := parse_selected(reported.get("marked")):
            on_marked(selected)

    _component(key=_KEY, on_marked_change=report_selection)


def parse_selected(reported: object) -> Selected | None:
    """Parse the page's untrusted report of a selection, None if it is not valid."""
    if not isinstance(reported, dict):
        return None
    quoted, section = reported.get("quoted"), reported.get("section")
    if not (isinstance(quoted, str) and quoted.strip() and isinstance(section, str)):
        return None
    return Selected(quoted[:LONGEST_QUOTE], section, reported.get("wantsNote") is True)
