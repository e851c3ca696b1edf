"""A running or stopped comparison: the elements read, the rounds so far, and its cost."""

from collections.abc import Iterator

import streamlit as st

from assistant.comparing.records import DESCRIPTION, Planned
from assistant.wording import spent
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor
from explorer.compare.choices import choose_again
from explorer.compare.kept import ANOTHERS, sidebar_list_of
from explorer.compare.runs import stop
from explorer.compare.tree import draw_round_row, elements_row, growing_row, round_title
from explorer.components.rows import row
from explorer.components.sidebar_list import draw_deletion
from explorer.jobs.comparison import ComparisonView
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import seconds

STATES = {"waiting": "Waiting for a free worker", "stopping": "Stopping"}


def draw_progress(view: ComparisonView, session: CurrentComparison | None = None) -> None:
    """Draw the state of a comparison: a dot per text that is read, and a row per round.

    With a session it can be stopped; the button comes first, so that it does not move as the rows grow.
    """
    now = step_now(view)
    step = f":shimmer[{now}]" if not view.is_over else now
    with row("progress"):
        if session:
            st.button(
                "Stop",
                key="stop_comparison",
                icon=":material/stop_circle:",
                disabled=view.state == "stopping",
                on_click=stop,
                args=(session,),
            )
        st.markdown(" · ".join((step, *(escaped(fact) for fact in taken(view)))), width="content")
    if view.problem:
        st.caption(escaped(view.problem))
    if view.planned:
        _draw_elements(view, view.planned)
        _draw_tree(view, view.planned)


def step_now(view: ComparisonView) -> str:
    """Describe the current step of a comparison."""
    if view.state != "running":
        return STATES.get(view.state, "As far as it has come")
    if view.planned is None:
        return "Reading the papers"
    total = len(view.planned.papers)
    if not (view.rounds or view.candidates) and len(view.elements) < total + 1:
        return f"Reading key elements: {len(view.elements)} of {counted(total + 1, 'text')}"
    rounds = view.planned.rounds
    if len(view.rounds) < rounds:
        return f"Round {len(view.rounds) + 1} of {rounds}"
    return "Checking the text" if rounds else "Writing and checking the text"


def taken(view: ComparisonView) -> Iterator[str]:
    """Yield the cost of a comparison so far: calls out of those planned, tokens, price, time."""
    planned = view.planned.budget.calls if view.planned else 0
    if view.working and planned:
        reused = f", {view.working.recorded:,} from before" if view.working.recorded else ""
        yield f"{view.working.calls:,} of {counted(planned, 'call')}{reused}"
        usage = view.working.usage
        yield from spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    yield seconds(view.seconds)


def _draw_elements(view: ComparisonView, planned: Planned) -> None:
    labels = [DESCRIPTION, *(paper.label for paper in planned.papers)]
    failed = [element.label for element in view.elements if element.problem]
    with row("elements_read"):
        st.caption("Key elements", width="content")
        st.html(elements_row(labels, [element.label for element in view.elements], failed), width="content")


def _draw_tree(view: ComparisonView, planned: Planned) -> None:
    titles = {paper.label: paper.paper.title for paper in planned.papers}
    with st.container(key="tree", gap="xsmall"):
        for finished in view.rounds:
            draw_round_row(finished, titles)
        if not view.is_over and (view.candidates or view.rounds) and len(view.rounds) < planned.rounds:
            number = len(view.rounds) + 1
            st.markdown(round_title(number, planned.papers[number - 1].label, titles))
            st.html(growing_row(view.candidates, view.votes))


def draw_stopped(library: Library, visitor: Visitor, session: CurrentComparison) -> bool:
    """Draw a stopped comparison: the reason and what is done of it; return True if it is to be resumed."""
    with st.container(border=True, key="stopped_comparison"):
        st.markdown(escaped(session.now.failure or "This comparison is unfinished."))
        recorded = session.now.recorded
        if recorded and session.now.view is None:
            st.caption(
                f"{counted(recorded, 'call')} of it {'is' if recorded == 1 else 'are'} kept, "
                "and will not be made again."
            )
        for note in session.now.notes:
            st.caption(escaped(note))
        if session.now.is_anothers:
            st.caption(ANOTHERS)
        with st.container(horizontal=True, vertical_alignment="center"):
            goes_on = session.now.can_go_on and st.button(
                "Go on", type="primary", key="go_on", icon=":material/play_arrow:"
            )
            st.button(
                "Change it",
                type="secondary" if session.now.can_go_on else "primary",
                key="change_comparison",
                help="Go back to the choice of papers; this one stays in the list",
                on_click=choose_again,
                args=(library, session),
            )
            if not session.now.is_anothers:
                with st.popover("Delete", type="tertiary", icon=":material/delete:", key="delete_menu"):
                    draw_deletion(sidebar_list_of(library, visitor, session), "stopped")
    if session.now.view and session.now.view.has_begun:
        draw_progress(session.now.view)
    return goes_on
