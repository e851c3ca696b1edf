"""The Compare screen: papers chosen, the comparison while it grows, and what it has come to."""

import streamlit as st

from explorer.comparing.choices import draw_choosing
from explorer.comparing.desk import Desk
from explorer.comparing.evidence import render_comparison_evidence
from explorer.comparing.kept import address_of, draw_missing, draw_sidebar, follow_address
from explorer.comparing.progress import draw_progress, draw_stopped
from explorer.comparing.result import draw_head, draw_notes, draw_parts, draw_summary
from explorer.comparing.runs import begin, go_on, may_stop, settle
from explorer.comparing.trail import draw_comparison_calls
from explorer.parts.listener import listen
from explorer.reader import Reader
from explorer.resources import Library, comparison_jobs

POLL_SECONDS = 0.5


def render_compare(library: Library, reader: Reader, desk: Desk) -> None:
    """Draw the Compare screen."""
    follow_address(library, reader, desk)
    settle(desk)
    _measure(reader, desk)
    match desk.state:
        case "missing":
            draw_missing(desk)
        case "running":
            _draw_running(library, reader, desk)
        case "finished":
            _draw_finished(library, reader, desk)
        case "unfinished":
            _draw_unfinished(library, reader, desk)
        case "choosing":
            _draw_choosing(library, reader, desk)
    draw_sidebar(library, reader, desk)


def _measure(reader: Reader, desk: Desk) -> None:
    """Find out whether the screen is narrow, and have the address name what is on it."""
    with st.container(key="measure"):
        heard = listen("compare_listener", narrow=reader.narrow, address=address_of(desk), is_new_entry=False)
    reader.narrow = heard.narrow


def _draw_choosing(library: Library, reader: Reader, desk: Desk) -> None:
    if order := draw_choosing(library, reader, desk):
        begin(library, reader, desk, order)
        st.rerun()


def _draw_running(library: Library, reader: Reader, desk: Desk) -> None:
    draw_head(library, desk)
    st.fragment(_draw_live, run_every=POLL_SECONDS)(reader, desk)


def _draw_live(reader: Reader, desk: Desk) -> None:
    """Draw the comparison on its way; when it is over, draw the whole screen anew."""
    if settle(desk) or not desk.is_running:
        st.rerun()
    if job := comparison_jobs().get(desk.identifier):
        draw_progress(job.view(), desk if may_stop(reader, desk) else None)


def _draw_unfinished(library: Library, reader: Reader, desk: Desk) -> None:
    draw_head(library, desk)
    if draw_stopped(library, reader, desk):
        go_on(library, reader, desk)
        st.rerun()


def _draw_finished(library: Library, reader: Reader, desk: Desk) -> None:
    comparison = desk.comparison
    assert comparison is not None, "the state of the desk says so"
    draw_head(library, desk)
    draw_notes(desk, comparison)
    talk, side = st.columns([0.58, 0.42], gap="large")
    with talk:
        draw_summary(library, reader, desk, comparison)
    with side:
        render_comparison_evidence(library, reader, desk, comparison)
    draw_parts(reader, desk, comparison)
    draw_comparison_calls(desk, comparison)
