"""The Compare screen: the choice of papers, the running comparison, and its result."""

import streamlit as st

from corpus.records import library_of
from explorer.app.navigation import COMPARE
from explorer.app.resources import Library, comparison_jobs
from explorer.app.session import CurrentComparison, Visitor, may_stop
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.compare.choices import draw_choosing
from explorer.compare.evidence import render_comparison_evidence
from explorer.compare.kept import ADDRESS, address_of, draw_sidebar, follow_address
from explorer.compare.progress import draw_progress, draw_stopped
from explorer.compare.result import draw_head, draw_notes, draw_parts, draw_summary
from explorer.compare.runs import begin, go_on, settle
from explorer.compare.trail import draw_comparison_calls
from explorer.components.listener import Address, listen
from explorer.components.sidebar_list import draw_missing
from explorer.presenters.safe_text import escaped, shortened
from explorer.uploads.kept import GONE, library_of_papers

POLL_SECONDS = 0.5


def render_compare(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Draw the Compare screen."""
    follow_address(library, visitor, session)
    settle(session)
    library = library_of_papers(library, visitor, session.now.compared)
    _measure(visitor, session)
    _draw_place(library, session)
    match session.now.state:
        case "missing":
            draw_missing(ADDRESS, session.updating(ComparisonSession.choose_anew))
        case "running":
            draw_head(library, session)
            st.fragment(_draw_live, run_every=POLL_SECONDS)(visitor, session)
        case "finished":
            _draw_finished(library, visitor, session)
        case "unfinished":
            draw_head(library, session)
            if draw_stopped(library, visitor, session):
                go_on(library, visitor, session)
                st.rerun()
        case "choosing":
            if order := draw_choosing(library, visitor, session):
                begin(library, visitor, session, order)
                st.rerun()
    draw_sidebar(library, visitor, session)


def _draw_place(library: Library, session: CurrentComparison) -> None:
    """Draw which kept library the papers are in, or that it no longer exists."""
    if library.kept:
        st.caption(f"In the library “{escaped(shortened(library.kept.title, 80))}”")
    elif any(map(library_of, session.now.compared)):
        with st.container(border=True, key="library_gone"):
            st.markdown(GONE)


def _measure(visitor: Visitor, session: CurrentComparison) -> None:
    """Store whether the screen is narrow, and write the session's address parameters."""
    with st.container(key="measure"):
        address = Address(COMPARE, address_of(session), is_new_entry=False)
        report = listen("compare_listener", narrow=visitor.now.narrow, address=address)
    visitor.update(VisitorSession.measure, narrow=report.narrow)


def _draw_live(visitor: Visitor, session: CurrentComparison) -> None:
    """Draw the running comparison; rerun the whole screen once it is over."""
    if settle(session) or not session.now.is_running:
        st.rerun()
    if job := comparison_jobs().get(session.now.identifier):
        draw_progress(job.view(), session if may_stop(visitor, session.now, job) else None)


def _draw_finished(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    comparison = session.now.comparison
    assert comparison is not None, "the state says so"
    draw_head(library, session)
    draw_notes(session, comparison)
    talk, side = st.columns([0.58, 0.42], gap="large")
    with talk:
        draw_summary(library, visitor, session, comparison)
    with side:
        render_comparison_evidence(library, visitor, session, comparison)
    draw_parts(visitor, session, comparison)
    draw_comparison_calls(session, comparison)
