"""The papers that a visitor has selected, across pages and views: to ask, compare, export or read later."""

from collections.abc import Callable, Iterable

import streamlit as st

from assistant.comparing.admission import FEWEST_PAPERS
from assistant.exports.registry import PAPER_FORMATS
from corpus.records import Paper, library_of
from corpus.wording import counted
from explorer.app.navigation import ASK, COMPARE
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_comparison, field_value, set_field
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.ask.scope import ask_about
from explorer.components.downloads import draw_downloads
from explorer.components.reading_list import list_papers
from explorer.components.rows import action, row
from explorer.presenters.finding import MOST_FOUND
from explorer.presenters.safe_text import escaped, shortened

MOST_SELECTED = MOST_FOUND


def draw_tick(visitor: Visitor, paper: Paper) -> None:
    """Draw the box that selects a paper."""
    key = f"tick_{paper.id}"
    # The session holds the selection; a box that is not drawn loses its value.
    set_field(key, paper.id in visitor.now.picked)
    st.checkbox(
        escaped(f"Select {shortened(paper.title, 80)}"),
        key=key,
        label_visibility="collapsed",
        on_change=_ticked,
        args=(visitor, paper.id),
    )


def picked_here(visitor: Visitor, library: Library) -> tuple[str, ...]:
    """Return the selected papers that belong to the shown collection or kept library."""
    shown = library.kept.id if library.kept else ""
    return tuple(paper_id for paper_id in visitor.now.picked if library_of(paper_id) == shown)


def draw_selection(library: Library, visitor: Visitor) -> None:
    """Draw the actions on the selected papers at the bottom of the window."""
    picked = picked_here(visitor, library)
    if not picked:
        return
    with st.bottom, row("picked"):
        st.markdown(f"{counted(len(picked), 'paper')} selected", width="content")
        if st.button("Ask these", type="primary", key="ask_these"):
            ask_about(visitor, picked)
            go_to_ask()
        if len(picked) >= FEWEST_PAPERS and st.button("Compare these", key="compare_these"):
            current_comparison().update(ComparisonSession.choose, picked)
            st.switch_page(COMPARE.page, query_params={})
        menu = st.popover("Export", icon=":material/download:", key="export_these")
        with menu, st.container(key="downloads_picked", gap=None):
            draw_downloads(PAPER_FORMATS, lambda: library.corpus.papers_by_id(picked), "export")
        if not library.kept:
            action("Read later", "list_these", _list_picked, library, visitor, icon=":material/bookmark_add:")
        action("Select none", "pick_none", visitor.update, VisitorSession.pick_none)


def select(visitor: Visitor, paper_ids: Iterable[str]) -> None:
    """Select papers in addition to those already selected, at most `MOST_SELECTED` in all."""
    visitor.update(VisitorSession.pick_all, paper_ids, MOST_SELECTED)


def draw_select_all(
    visitor: Visitor, key: str, total: int, ids: Callable[[], Iterable[str]], *, already: bool = False
) -> None:
    """Draw the button that selects all papers of a list, or the first `MOST_SELECTED`."""
    label = f"Select all {total:,}" if total <= MOST_SELECTED else f"Select the first {MOST_SELECTED}"
    action(label, key, lambda: select(visitor, ids()), disabled=already)


def go_to_ask() -> None:
    # Without `query_params` Streamlit refuses to switch while widgets are bound to the address.
    st.switch_page(ASK.page, query_params={})


def _ticked(visitor: Visitor, paper_id: str) -> None:
    visitor.update(VisitorSession.pick, paper_id, picked=bool(field_value(f"tick_{paper_id}")))


def _list_picked(library: Library, visitor: Visitor) -> None:
    list_papers(library, visitor, library.corpus.papers_by_id(visitor.now.picked))
