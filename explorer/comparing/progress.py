"""A comparison on its way, or stopped: what is read, how the tree grows, and what it has taken."""

from collections.abc import Iterator

import streamlit as st

from assistant.comparing.records import DESCRIPTION, Planned, Round
from assistant.wording import spent
from explorer.comparing.choices import choose_again
from explorer.comparing.desk import Desk
from explorer.comparing.jobs import ComparisonView
from explorer.comparing.kept import ANOTHERS, shelf_of
from explorer.comparing.runs import stop
from explorer.comparing.tree_rows import elements_row, growing_row, round_row
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.shelf import draw_deletion
from explorer.parts.wording import counted, seconds
from explorer.reader import Reader
from explorer.resources import Library

STATES = {"waiting": "Waiting for a free worker", "stopping": "Stopping"}


def draw_progress(view: ComparisonView, desk: Desk | None = None) -> None:
    """Draw a comparison as it stands: a dot per text that is read, and a row per round.

    With a desk it can be stopped; the button stands before what grows, so that it stays in its place.
    """
    now = step_now(view)
    said = f":shimmer[{now}]" if not view.is_over else now
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        if desk:
            st.button(
                "Stop",
                key="stop_comparison",
                icon=":material/stop_circle:",
                disabled=view.state == "stopping",
                on_click=stop,
                args=(desk,),
            )
        st.markdown(" · ".join((said, *(escaped(one) for one in taken(view)))), width="content")
    if view.problem:
        st.caption(escaped(view.problem))
    if view.planned:
        _draw_elements(view, view.planned)
        _draw_tree(view, view.planned)


def step_now(view: ComparisonView) -> str:
    """Return what is being done for a comparison."""
    if view.state != "running":
        return STATES.get(view.state, "As far as it has come")
    if view.planned is None:
        return "Reading the papers"
    total = len(view.planned.papers)
    if len(view.rounds) >= total:
        return "Checking the text"
    if not (view.rounds or view.candidates) and len(view.elements) < total + 1:
        return f"Reading key elements: {len(view.elements)} of {counted(total + 1, 'text')}"
    return f"Round {len(view.rounds) + 1} of {total}"


def taken(view: ComparisonView) -> Iterator[str]:
    """Yield what a comparison has taken so far: calls of those planned, tokens, price, time."""
    planned = view.planned.budget.calls if view.planned else 0
    if view.working and planned:
        found = f", {view.working.recorded:,} from before" if view.working.recorded else ""
        yield f"{view.working.calls:,} of {counted(planned, 'call')}{found}"
        usage = view.working.usage
        yield from spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    yield seconds(view.seconds)


def _draw_elements(view: ComparisonView, planned: Planned) -> None:
    labels = [DESCRIPTION, *(one.label for one in planned.papers)]
    failed = [one.label for one in view.elements if one.problem]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="elements_read"):
        st.caption("Key elements", width="content")
        st.html(elements_row(labels, [one.label for one in view.elements], failed), width="content")


def _draw_tree(view: ComparisonView, planned: Planned) -> None:
    titles = {one.label: one.paper.title for one in planned.papers}
    with st.container(key="tree", gap="xsmall"):
        for one in view.rounds:
            draw_round_row(one, titles)
        if not view.is_over and (view.candidates or view.rounds) and len(view.rounds) < len(planned.papers):
            number = len(view.rounds) + 1
            st.markdown(round_title(number, planned.papers[number - 1].label, titles))
            st.html(growing_row(view.candidates, view.votes))


def draw_round_row(one: Round, titles: dict[int, str]) -> None:
    """Draw a round with its candidates, and what is kept of them."""
    st.markdown(round_title(one.number, one.labels[-1] if one.labels else 0, titles))
    st.html(round_row(one))


def round_title(number: int, label: int, titles: dict[int, str]) -> str:
    """Return, as Markdown, a round's number and the paper that is new in it."""
    paper = f" · \\[{label}\\] {escaped(shortened(titles[label], 90))}" if label in titles else ""
    return f"**Round {number}**{paper}"


def draw_stopped(library: Library, reader: Reader, desk: Desk) -> bool:
    """Draw a comparison that does not run: why, and what there is of it; tell whether it is to go on."""
    with st.container(border=True, key="stopped_comparison"):
        st.markdown(escaped(desk.failure or "This comparison is unfinished."))
        if desk.recorded and desk.view is None:
            st.caption(
                f"{counted(desk.recorded, 'call')} of it {'is' if desk.recorded == 1 else 'are'} kept, "
                "and will not be made again."
            )
        for note in desk.notes:
            st.caption(escaped(note))
        if desk.is_anothers:
            st.caption(ANOTHERS)
        with st.container(horizontal=True, vertical_alignment="center"):
            goes_on = desk.can_go_on and st.button(
                "Go on", type="primary", key="go_on", icon=":material/play_arrow:"
            )
            st.button(
                "Change it",
                type="secondary" if desk.can_go_on else "primary",
                key="change_comparison",
                help="Go back to the choice of papers; this one stays in the list",
                on_click=choose_again,
                args=(library, desk),
            )
            if not desk.is_anothers:
                with st.popover("Delete", type="tertiary", icon=":material/delete:", key="delete_menu"):
                    draw_deletion(shelf_of(library, reader, desk), "stopped")
    if desk.view and desk.view.has_begun:
        draw_progress(desk.view)
    return goes_on
