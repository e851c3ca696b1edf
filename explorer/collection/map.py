"""The Map view: papers by similarity, and beside it the papers that were chosen, or the groups."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import streamlit as st

from corpus.records import library_of
from corpus.store.corpus import Corpus
from corpus.wording import counted
from explorer.app.navigation import PAPER, link_to
from explorer.app.session import Visitor, set_field
from explorer.collection.charts import current_theme, with_data
from explorer.collection.map_chart import HEIGHT, HEIGHT_ON_PHONE, group_dots, map_spec
from explorer.collection.selection import draw_select_all, draw_tick
from explorer.components.rows import action, row
from explorer.presenters.finding import Finding
from explorer.presenters.map_places import (
    Group,
    alternative,
    brief,
    chosen_ids,
    drawn_places,
    extent,
    groups_of,
    members,
    spread,
)
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import authors_and_year

SHOWN_BESIDE = 10
LONGEST_TITLE = 120
GROUP = "group"
# The length of a label on the map, in characters; the list of groups has whole labels.
LABEL, LABEL_ON_PHONE = 36, 20


@dataclass(frozen=True, slots=True)
class MapView:
    """The content of the map: the places in scope, their groups, and the highlighted ids, None for all.

    `group` is the group chosen from the list.
    """

    places: pa.Table
    groups: tuple[Group, ...]
    group: Group | None
    lit: tuple[str, ...] | None

    def is_named(self, group: Group) -> bool:
        """Return True if a group's label is drawn: without a chosen group, all are."""
        return self.group is None or self.group.number == group.number


def draw_map(visitor: Visitor, finding: Finding, found: Sequence[str]) -> None:
    """Draw the places of the papers in scope, with the results of a search (`found`) highlighted."""
    places = finding.corpus.statistics.places(finding.scope)
    if not places.num_rows:
        _draw_no_map(finding.corpus)
        return
    groups = groups_of(places, finding.corpus.statistics.clusters())
    named = st.query_params.get(GROUP, "")
    group = next((group for group in groups if str(group.number) == named), None)
    view = MapView(places, groups, group, _lit(places, group, found if finding.is_search else None))
    picture, beside = (
        (st.container(), st.container()) if visitor.now.narrow else st.columns([0.66, 0.34], gap="medium")
    )
    with picture:
        selection = _draw_chart(view, f"{finding.scope} {finding.query} {group}", narrow=visitor.now.narrow)
    chosen = chosen_ids(selection, places)
    with beside, st.container(key="map_side", gap="xsmall"):
        _draw_beside(visitor, finding.corpus, view, chosen)


def _draw_chart(view: MapView, shown: str, *, narrow: bool) -> object:
    """Draw the chart and return the selection on it; `shown` names the content, with which it is reset."""
    theme = current_theme()
    drawn = drawn_places(view.places, view.lit, {group.number: group.label for group in view.groups})
    length = LABEL_ON_PHONE if narrow else LABEL
    labelled = (
        replace(group, label=brief(group.label, length) if view.is_named(group) else "")
        for group in spread(view.groups, *extent(view.places))
    )
    spec = map_spec(
        tuple(labelled),
        drawn.table.num_rows,
        theme,
        brushed=not narrow,
        height=HEIGHT_ON_PHONE if narrow else HEIGHT,
    )
    papers = view.places.num_rows
    key = hashlib.sha256(f"{shown} {theme} {narrow} {papers}".encode()).hexdigest()[:12]
    _draw_legend(papers, drawn.table.num_rows, is_sample=drawn.is_sample, narrow=narrow)
    with st.container(key="map"):
        event = st.vega_lite_chart(
            spec=with_data(spec, drawn.table),
            key=f"map_{key}",
            on_select="rerun",
            selection_mode=["pick"] if narrow else ["pick", "brush"],
            alt=alternative(view.groups, papers),
        )
    return getattr(event, "selection", None)


def _draw_legend(papers: int, drawn: int, *, is_sample: bool, narrow: bool) -> None:
    how = "Tap a point." if narrow else "Click a point, or draw a rectangle round several."
    sample_note = (
        f" {drawn:,} of {papers:,} papers are drawn, evenly chosen; a rectangle lists all that lie in it."
        if is_sample
        else ""
    )
    st.caption(
        f"Papers of similar content lie close to each other; directions have no meaning. {how}{sample_note}"
    )


def _draw_beside(visitor: Visitor, corpus: Corpus, view: MapView, chosen: Sequence[str]) -> None:
    """Draw the papers chosen on the map, else those of the group or of a search, and the list of groups."""
    if view.group:
        action("All groups", "all_groups", _show_group, None, icon=":material/arrow_back:")
    if chosen:
        _draw_list(visitor, corpus, f"{counted(len(chosen), 'paper')} chosen on the map", chosen)
    elif view.lit:
        found = counted(len(view.lit), "paper")
        title = f"{view.group.label} · {found}" if view.group else f"{found} found, best first"
        _draw_list(visitor, corpus, title, view.lit)
    if not chosen and not view.group:
        # A button per group, as the map cannot be used with the keyboard.
        st.html(group_dots([group.number for group in view.groups], current_theme()))
        with st.container(key="map_groups", gap=None):
            st.markdown("**Groups of similar papers**")
            for group in view.groups:
                label = f"{escaped(group.label)} :gray[{group.papers:,}]"
                action(label, f"group_{group.number}", _show_group, group.number)


def _draw_list(visitor: Visitor, corpus: Corpus, title: str, ids: Sequence[str]) -> None:
    """Draw papers as links with boxes to select them, a page at a time."""
    with row("map_list_head"):
        st.markdown(f"**{escaped(title)}**", width="content")
        if len(ids) > 1:
            draw_select_all(visitor, "select_on_map", len(ids), lambda: ids)
    pages = -(-len(ids) // SHOWN_BESIDE)
    place = st.container(key="map_papers", gap="xsmall")
    page = 1
    if pages > 1:
        key = f"map_page_{hashlib.sha256(repr(ids[:50]).encode()).hexdigest()[:8]}"
        page = st.pagination(pages, key=key, max_visible_pages=5)
    with place:
        shown = ids[(page - 1) * SHOWN_BESIDE : page * SHOWN_BESIDE]
        for paper in corpus.papers_by_id(shown):
            about = shortened(authors_and_year(paper, " · "), 60)
            label = f"{escaped(shortened(paper.title, LONGEST_TITLE))} :gray[{escaped(about)}]"
            with row(f"map_row_{paper.id}", gap="xsmall", align="top"):
                draw_tick(visitor, paper)
                link_to(PAPER, label, query_params={"id": paper.id})


def _draw_no_map(corpus: Corpus) -> None:
    reason = "None of these papers has a place on the map yet: they came with no text to compare."
    if any(map(library_of, corpus.collection_ids())):
        reason = "A library of one's own has no map."
    elif not corpus.statistics.clusters():
        reason = (
            "This corpus has no map: it was built before there was one, or with too few papers. The next "
            "build that brings papers draws it."
        )
    with st.container(border=True, key="no_map"):
        st.markdown(reason)
        st.button(
            "Show the table", key="leave_map", type="primary", on_click=set_field, args=("view", "Table")
        )


def _lit(places: pa.Table, group: Group | None, found: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the highlighted ids, None for all: those of a group, of a search, or of both."""
    if group is None:
        return None if found is None else tuple(found)
    in_group = members(places, group.number)
    if found is None:
        return in_group
    known = frozenset(in_group)
    return tuple(paper_id for paper_id in found if paper_id in known)


def _show_group(number: int | None) -> None:
    if number is None:
        st.query_params.pop(GROUP, None)
    else:
        st.query_params[GROUP] = str(number)
