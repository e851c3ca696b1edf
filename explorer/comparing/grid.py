"""The grid of key elements: a table to sort and look into, or on a phone a list; and the differences."""

from typing import Any

import streamlit as st

from assistant.comparing.differences import differences
from assistant.comparing.grid import ELEMENT_TITLES, Grid, GridCell, GridRow, element_grid
from assistant.comparing.records import ELEMENT_NAMES, Comparison, ElementEvidence
from assistant.comparing.wording import (
    DIFFERENCES_NOTE,
    alone_said,
    common_said,
    grid_said,
    stated_said,
)
from corpus.records import parse_passage_id
from explorer.navigation import PAPER
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, one_line, shortened
from explorer.parts.score_bar import support_bar
from explorer.reader import Reader

ROW_PIXELS = 118
MOST_HIGH = 500
# What fits into a row: of the rest a cell that is chosen shows all.
LONGEST_CELL = 140


@st.fragment
def render_grid(reader: Reader, comparison: Comparison) -> None:
    """Draw the papers with their seven key elements, and of the one that is chosen all that is known."""
    grid = element_grid(comparison)
    if grid.is_empty:
        st.caption("No key elements were found, or none were read.")
        return
    st.caption(escaped(grid_said(grid)))
    if reader.narrow:
        _draw_list(grid)
        return
    st.caption("Choose a cell to read it with the sentences that carry it.")
    if chosen := _draw_table(grid):
        row, cell = chosen
        place = f"cell_shown_{row.label}_{cell.name}"
        _draw_cell(row, cell, place)
        listen("cell_listener", narrow=reader.narrow, show=place, to_top=False)


def _draw_table(grid: Grid) -> tuple[GridRow, GridCell] | None:
    """Draw the grid as a table; return the row and the cell that are chosen in it."""
    chosen: Any = st.dataframe(
        [_line(row) for row in grid.rows],
        key="grid",
        hide_index=True,
        placeholder="",
        row_height=ROW_PIXELS,
        height=min(MOST_HIGH, 40 + ROW_PIXELS * len(grid.rows)),
        selection_mode="single-cell",
        on_select="rerun",
        column_config={
            "Paper": st.column_config.TextColumn(width="medium", pinned=True),
            "Year": st.column_config.NumberColumn(width="small", format="%d"),
            "Stated": st.column_config.NumberColumn(width="small", help="How many of the seven are stated"),
            **{title: st.column_config.TextColumn(width="medium") for title in ELEMENT_TITLES.values()},
        },
        alt="The key elements of the description and of each paper",
    )
    return chosen_cell(grid, chosen)


def _line(row: GridRow) -> dict[str, str | int | None]:
    cells = {ELEMENT_TITLES[cell.name]: shortened(cell.shown, LONGEST_CELL) for cell in row.cells}
    return {"Paper": row_title(row), "Year": row.year, **cells, "Stated": row.stated}


def row_title(row: GridRow) -> str:
    """Return what a row is called; not yet safe for Markdown."""
    return row.title if row.is_description else f"[{row.label}] {shortened(row.title, 110)}"


def chosen_cell(grid: Grid, chosen: Any) -> tuple[GridRow, GridCell] | None:
    """Return the row and the cell that a table's selection names, None where it names none."""
    names = {title: name for name, title in ELEMENT_TITLES.items()}
    for row, column in chosen.get("selection", {}).get("cells", []):
        if column in names and 0 <= row < len(grid.rows):
            return grid.rows[row], grid.rows[row].cell(names[column])
    return None


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
    with st.container(key="reading_differences"):
        for title, lines in parts.items():
            st.markdown(f"**{title}**")
            st.markdown("\n".join(f"- {escaped(line)}" for line in lines) or "Nothing was found.")
