"""The evidence panel of a comparison: the passage that the citation in focus leads to."""

from functools import partial

import streamlit as st

from assistant.comparing.records import Comparison
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.components.evidence import draw_source, open_drawer
from explorer.components.listener import listen
from explorer.presenters.citations import Source, parse_cite, sources

# The turn number in the links of a summary, which is the only text on the screen.
TEXT = 1


@st.fragment
def render_comparison_evidence(
    library: Library, visitor: Visitor, session: CurrentComparison, comparison: Comparison
) -> None:
    """Draw the panel for the citation in focus, and listen for clicks on citations."""
    report = listen("comparison_citations", narrow=visitor.now.narrow, hears=("clicks",))
    visitor.update(VisitorSession.measure, narrow=report.narrow)
    if (cite := parse_cite(report.cite)) and cite[0] == TEXT and cite[1] <= len(sources(comparison)):
        session.update(ComparisonSession.look_at, cite[1])
    source = source_in_focus(session, comparison)
    look_at = session.updating(ComparisonSession.look_at)
    if visitor.now.narrow:
        if source and session.now.drawer_open:
            open_drawer(
                library,
                partial(source_in_focus, session, comparison),
                look_at,
                session.updating(ComparisonSession.close_drawer),
            )
        return
    # A drawer left open would cover the screen, and make it inert, once it is narrow again.
    session.update(ComparisonSession.close_drawer)
    with st.container(key="evidence_panel", gap="xsmall"):
        if source:
            draw_source(library, source, "side", look_at)
        elif sources(comparison):
            st.caption("Click a number in the summary to read the passage that carries it.")


def source_in_focus(session: CurrentComparison, comparison: Comparison) -> Source | None:
    found = sources(comparison)
    return found[session.now.focus - 1] if 1 <= session.now.focus <= len(found) else None
