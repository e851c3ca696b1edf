"""The evidence panel of a comparison: where a citation of its summary leads."""

import streamlit as st

from assistant.comparing.records import Comparison
from explorer.comparing.desk import Desk
from explorer.evidence import draw_source, open_drawer
from explorer.parts.citations import Source, parse_cite, sources
from explorer.parts.listener import listen
from explorer.reader import Reader
from explorer.resources import Library

# The number that links of a summary carry: there is one text on the screen.
TEXT = 1


@st.fragment
def render_comparison_evidence(library: Library, reader: Reader, desk: Desk, comparison: Comparison) -> None:
    """Draw the panel for the citation in focus, and listen for clicks on citations."""
    heard = listen("comparison_citations", narrow=reader.narrow, hears="clicks")
    reader.narrow = heard.narrow
    if (cite := parse_cite(heard.cite)) and cite[0] == TEXT and cite[1] <= len(sources(comparison)):
        desk.look_at(cite[1])
    source = source_in_focus(desk, comparison)
    if reader.narrow:
        if source and desk.drawer_open:
            open_drawer(library, lambda: source_in_focus(desk, comparison), desk.look_at, desk.close_drawer)
        return
    with st.container(key="evidence_panel", gap="xsmall"):
        if source:
            draw_source(library, source, "side", desk.look_at)
        elif sources(comparison):
            st.caption("Click a number in the summary to read the passage that carries it.")


def source_in_focus(desk: Desk, comparison: Comparison) -> Source | None:
    found = sources(comparison)
    return found[desk.focus - 1] if 1 <= desk.focus <= len(found) else None
