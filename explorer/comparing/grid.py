"""The grid of key elements: a table to sort and look into, or on a phone a list; and the differences."""

import streamlit as st

from assistant.comparing.differences import differences
from assistant.comparing.grid import ELEMENT_TITLES, Grid, GridCell, GridOrder, GridRow, element_grid
from assistant.comparing.records import ELEMENT_NAMES, Comparison, ElementEvidence
from assistant.comparing.wording import (
    DIFFERENCES_NOTE,
    alone_said,
    common_said,
    grid_said,
    stated_said,
)
from corpus.records import parse_passage_id
from explorer.comparing.desk import Desk
from explorer.comparing.grid_component import draw_table
from explorer.comparing.grid_table import Cell, row_title
from explorer.navigation import PAPER
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, one_line, shortened
from explorer.parts.score_bar import support_bar
from explorer.reader import Reader

SORTED_BY: dict[GridOrder, str] = {
    "label": "As compared",
    "year": "Newest first",
    "stated": "Most stated first",
    "title": "Title",
}


@st.fragment
def render_grid(reader: Reader, desk: Desk, comparison: Comparison) -> None:
    """Draw the papers with their seven key elements, and of the one that is chosen all that is known."""
    grid = element_grid(comparison)
    if grid.is_empty:
        st.caption("No key elements were found, or none were read.")
        return
    if reader.narrow:
        st.caption(escaped(grid_said(grid)))
        _draw_list(grid)
        return
    _draw_table(grid, desk)
    if chosen := chosen_cell(grid, desk.cell):
        row, cell = chosen
        place = f"cell_shown_{row.label}_{cell.name}"
        _draw_cell(row, cell, place)
        listen("cell_listener", narrow=False, show=place, to_top=False)


def _draw_table(grid: Grid, desk: Desk) -> None:
    """Draw the grid as a table, in the order that is chosen above it."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="grid_head"):
        said = f"{grid_said(grid)} Choose a cell to read it with the sentences that carry it."
        st.caption(escaped(said), width="content")
        orders = list(SORTED_BY)
        order = st.selectbox(
            "Sort by", orders, format_func=lambda one: SORTED_BY[one], key="grid_order", width=200
        )
    order = order if order in SORTED_BY else orders[0]

    def choose(cell: Cell) -> None:
        desk.cell = cell

    draw_table(grid.sorted(order, descending=order in ("year", "stated")), desk.cell, choose)


def chosen_cell(grid: Grid, chosen: Cell | None) -> tuple[GridRow, GridCell] | None:
    """Return the row and the cell of a label and an element, None where the grid has none such."""
    row = next((one for one in grid.rows if chosen and one.label == chosen[0]), None)
    return (row, row.cell(chosen[1])) if row and chosen else None


def _draw_cell(row: GridRow, cell: GridCell, place: str) -> None:
    with st.container(border=True, key=place, gap="xsmall"):
        st.markdown(f"**{ELEMENT_TITLES[cell.name]}** · {escaped(row_title(row))}")
        with st.container(key="reading_cell"):
            st.text(one_line(cell.shown))
        if row.problem:
            st.caption(escaped(row.problem))
        if cell.support is not None:
            st.html(support_bar(cell.support))
        for number, one in enumerate(cell.evidence, start=1):
            _draw_evidence(row, one, f"cell_{number}")


def _draw_evidence(row: GridRow, one: ElementEvidence, place: str) -> None:
    """Draw a sentence that carries an element, with the way to its place in the paper."""
    with st.container(key=f"marked_sentence_{place}"):
        st.text(shortened(one.text, 1200))
    with st.container(horizontal=True, vertical_alignment="center", key=f"says_so_{place}"):
        st.caption(f"Support {one.support:.2f}", width="content")
        if not row.is_description and (query := place_in_paper(one)):
            st.page_link(PAPER, label="Show it in the paper", query_params=query)


def place_in_paper(one: ElementEvidence) -> dict[str, str]:
    """Return the address of a sentence on the screen of its paper, nothing where it has none."""
    try:
        paper, passage = parse_passage_id(one.passage_id)
    except ValueError:
        return {}
    return {"id": paper, "passage": str(passage), "sentence": str(max(0, one.sentence))}


def _draw_list(grid: Grid) -> None:
    """Draw one element of every paper below the other, where a table would be too wide."""
    titles = {title: name for name, title in ELEMENT_TITLES.items()}
    chosen = str(st.selectbox("Key element", list(titles), key="element_shown"))
    name = titles.get(chosen, ELEMENT_NAMES[0])
    for row in grid.rows:
        cell = row.cell(name)
        with st.container(key=f"row_element_{row.label}", gap="xsmall"):
            st.markdown(f"**{escaped(row_title(row))}**")
            st.text(one_line(cell.shown))
            if cell.evidence:
                with st.expander("The sentences that carry it", type="compact", key=f"because_{row.label}"):
                    if cell.support is not None:
                        st.html(support_bar(cell.support))
                    for number, one in enumerate(cell.evidence, start=1):
                        _draw_evidence(row, one, f"list_{row.label}_{number}")


def draw_differences(comparison: Comparison) -> None:
    """Draw what the papers have in common, and what only one of them has."""
    found = differences(comparison)
    st.caption(DIFFERENCES_NOTE)
    parts = {
        "In common": tuple(common_said(found)),
        "Only in one": tuple(alone_said(found)),
        "Who states what": tuple(stated_said(found)),
    }
    with st.container(key="reading_differences", gap="xsmall"):
        for title, lines in parts.items():
            st.markdown(f"**{title}**")
            st.markdown("\n".join(f"- {escaped(line)}" for line in lines) or "Nothing was found.")
