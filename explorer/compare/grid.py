"""The grid of key elements, a table or on a phone a list, and the differences between the papers."""

import streamlit as st

from assistant.checking.overlap import score_digits
from assistant.comparing.differences import differences
from assistant.comparing.grid import Grid, GridCell, GridOrder, GridRow, element_grid
from assistant.comparing.records import ELEMENT_NAMES, Comparison, ElementEvidence, QuotedSentence
from assistant.comparing.wording import (
    DIFFERENCES_NOTE,
    describe_answers,
    describe_common,
    describe_distinct,
    describe_grid,
    describe_stated,
)
from corpus.records import parse_passage_id
from explorer.app.navigation import PAPER, link_to
from explorer.app.session import CurrentComparison, Visitor
from explorer.app.visitor.comparison import ComparisonSession
from explorer.compare.grid_table import draw_table, row_title
from explorer.components.listener import listen
from explorer.components.rows import row
from explorer.components.score_bar import support_bar
from explorer.presenters.safe_text import escaped, one_line, shortened

SORTED_BY: dict[GridOrder, str] = {
    "label": "As compared",
    "year": "Newest first",
    "stated": "Most stated first",
    "title": "Title",
}


@st.fragment
def render_grid(visitor: Visitor, session: CurrentComparison, comparison: Comparison) -> None:
    """Draw the grid of the papers' key elements and answers, and the chosen cell with its sentences."""
    grid = element_grid(comparison)
    if grid.is_empty:
        st.caption("No key elements were found, or none were read.")
        return
    if visitor.now.narrow:
        st.caption(escaped(_filled(grid)))
        _draw_list(grid)
        return
    _draw_table(grid, session)
    label, name = session.now.cell or (-1, "")
    paper_row = next((line for line in grid.rows if line.label == label), None)
    if paper_row and name in grid.titles:
        place = f"cell_shown_{label}_{name}"
        _draw_cell(grid.titles[name], paper_row, paper_row.cell(name), place)
        listen("cell_listener", narrow=False, show=place, to_top=False)


def _draw_table(grid: Grid, session: CurrentComparison) -> None:
    """Draw the grid as a table, with the choice of its order above it."""
    with row("grid_head", align="bottom"):
        caption = f"{_filled(grid)} Choose a cell to read it with the sentences that carry it."
        st.caption(escaped(caption), width="content")
        orders = list(SORTED_BY)
        order = st.selectbox(
            "Sort by", orders, format_func=lambda order: SORTED_BY[order], key="grid_order", width=200
        )
    order = order if order in SORTED_BY else orders[0]
    choose = session.updating(ComparisonSession.choose_cell)
    draw_table(grid.sorted(order, descending=order in ("year", "stated")), session.now.cell, choose)


def _filled(grid: Grid) -> str:
    return " ".join(filter(None, (describe_grid(grid), describe_answers(grid))))


def _draw_cell(title: str, paper_row: GridRow, cell: GridCell, place: str) -> None:
    with st.container(border=True, key=place, gap="xsmall"):
        st.markdown(f"**{escaped(title)}** · {escaped(row_title(paper_row))}")
        if not cell.quotes:  # quotes are drawn below
            with st.container(key="reading_cell"):
                st.text(one_line(cell.shown))
        if paper_row.problem:
            st.caption(escaped(paper_row.problem))
        _draw_carried(paper_row, cell, "cell")


def _draw_carried(paper_row: GridRow, cell: GridCell, place: str) -> None:
    """Draw the support of a cell and its sentences, each with a link to its place in the paper."""
    if cell.support is not None:
        st.html(support_bar(cell.support))
    for number, evidence in enumerate(cell.evidence, start=1):
        with st.container(key=f"marked_sentence_{place}_{number}"):
            st.text(shortened(evidence.text, 1200))
        with row(f"says_so_{place}_{number}"):
            st.caption(f"Support {score_digits(evidence.support)}", width="content")
            if not paper_row.is_description and (query := place_in_paper(evidence)):
                link_to(PAPER, "Show it in the paper", query_params=query)
    for number, quote in enumerate(cell.quotes, start=1):
        with st.container(key=f"marked_sentence_{place}_{number}"):
            st.text(shortened(quote.text, 1200))
        if query := place_in_paper(quote):
            with row(f"says_so_{place}_{number}"):
                link_to(PAPER, "Show it in the paper", query_params=query)


def place_in_paper(sentence: ElementEvidence | QuotedSentence) -> dict[str, str]:
    """Return the query parameters of a sentence on the Paper screen, empty if its passage id is not valid."""
    try:
        paper, passage = parse_passage_id(sentence.passage_id)
    except ValueError:
        return {}
    return {"id": paper, "passage": str(passage), "sentence": str(max(0, sentence.sentence))}


def _draw_list(grid: Grid) -> None:
    """Draw one chosen column as a list of papers, for screens too narrow for a table."""
    # Quotation marks tell a reader's question from a key element.
    titles = {name: title if name in ELEMENT_NAMES else f"“{title}”" for name, title in grid.titles.items()}
    label = "Key element or question" if grid.questions else "Key element"
    chosen = st.selectbox(label, list(titles), format_func=lambda name: titles[name], key="element_shown")
    name = chosen if chosen in titles else ELEMENT_NAMES[0]
    for paper_row in grid.rows:
        cell = paper_row.cell(name)
        with st.container(key=f"row_element_{paper_row.label}", gap="xsmall"):
            st.markdown(f"**{escaped(row_title(paper_row))}**")
            st.text(one_line(cell.shown))
            if cell.evidence or cell.quotes:
                key = f"because_{paper_row.label}"
                with st.expander("The sentences that carry it", type="compact", key=key):
                    _draw_carried(paper_row, cell, f"list_{paper_row.label}")


def draw_differences(comparison: Comparison) -> None:
    """Draw the terms that the papers share, and those that only one of them has."""
    found = differences(comparison)
    st.caption(DIFFERENCES_NOTE)
    parts = {
        "In common": tuple(describe_common(found)),
        "Only in one": tuple(describe_distinct(found)),
        "Who states what": tuple(describe_stated(found)),
    }
    with st.container(key="reading_differences", gap="xsmall"):
        for title, lines in parts.items():
            st.markdown(f"**{title}**")
            st.markdown("\n".join(f"- {escaped(line)}" for line in lines) or "Nothing was found.")
