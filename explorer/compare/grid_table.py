"""The table of key elements as a Streamlit component, which reports the chosen cell."""

import re
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from assistant.bounds import MOST_COLUMNS
from assistant.comparing.grid import Grid, GridCell, GridRow, question_name
from assistant.comparing.records import ELEMENT_NAMES, TextKind
from explorer.app.session import field_value
from explorer.components.score_bar import format_score
from explorer.presenters.safe_text import one_line, shortened

# Longest texts in the table, in characters; the chosen cell is shown whole below it.
LONGEST_CELL = 190
LONGEST_TITLE = 90
# Noted below a paper's title where not its whole text was read.
_SOURCES: dict[TextKind, str] = {"abstract": "its abstract alone", "title": "its title alone"}

_KEY = "grid_table"
_CELL = re.compile(r"(\d{1,3})-([a-z_]{1,40}[1-9]?)")

Data = dict[str, object]
# The label of a text, and the name of a key element or of a reader's question.
Cell = tuple[int, str]
_NAMES = {*ELEMENT_NAMES, *(question_name(number) for number in range(1, MOST_COLUMNS + 1))}

_component = st.components.v2.component(
    "paper_trail_grid",
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    css=Path(__file__).with_suffix(".css").read_text("utf-8"),
)


def draw_table(grid: Grid, chosen: Cell | None, on_choice: Callable[[Cell], None]) -> None:
    """Draw a grid with the chosen cell marked; `on_choice` is called with another chosen cell."""

    def report_choice() -> None:
        reported = field_value(_KEY) or {}
        if cell := parse_cell(reported.get("cell")):
            on_choice(cell)

    _component(key=_KEY, data=table_data(grid, chosen), on_cell_change=report_choice)


def row_title(row: GridRow, length: int = 110) -> str:
    """Return the title of a row; not yet safe for Markdown or HTML."""
    return row.title if row.is_description else f"[{row.label}] {shortened(row.title, length)}"


def table_data(grid: Grid, chosen: Cell | None) -> Data:
    """Return the data of the table, plain texts that its script never reads as HTML."""
    return {
        "name": "Key elements of the description and of each paper",
        "head": ["Paper", *grid.titles.values()],
        "rows": [_row(row) for row in grid.rows],
        "chosen": cell_id(*chosen) if chosen else "",
    }


def cell_id(label: int, name: str) -> str:
    """Return the id by which the table reports a cell."""
    return f"{label}-{name}"


def parse_cell(identifier: object) -> Cell | None:
    """Return the label and the name of a cell's id, None for anything else."""
    found = _CELL.fullmatch(identifier) if isinstance(identifier, str) else None
    return (int(found[1]), found[2]) if found and found[2] in _NAMES else None


def _row(row: GridRow) -> Data:
    facts = [str(row.year or ""), _SOURCES.get(row.source, ""), f"{row.stated} of {len(row.cells)} elements"]
    return {
        "title": one_line(row_title(row, LONGEST_TITLE)),
        "facts": " · ".join(filter(None, facts)),
        "cells": [_cell(row.label, cell) for cell in row.every_cell],
    }


def _cell(label: int, cell: GridCell) -> Data:
    """Return the data of a cell: its text, mark and score, or the reason why it is empty."""
    if not cell.text:
        return {"absence": cell.absence}
    is_scored = not cell.is_weak and cell.support is not None
    return {
        "id": cell_id(label, cell.name),
        "text": shortened(cell.text, LONGEST_CELL),
        "mark": cell.mark,
        "score": format_score(cell.support) if is_scored and cell.support is not None else "",
        "word": cell.word if is_scored else "",
    }
