"""A table of a paper as a Streamlit component, with the cited row marked."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import streamlit as st

from corpus.records import Passage, Table
from corpus.tables import label_columns
from corpus.wording import counted
from explorer.presenters.safe_text import one_line

# Rows shown before and after the marked row of a long table beside an answer.
ROWS_BESIDE = 3

Data = dict[str, object]

_component = st.components.v2.component(
    "paper_trail_table",
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    css=Path(__file__).with_suffix(".css").read_text("utf-8"),
)


def draw_passage_table(
    passage: Passage, sentence: int | None = None, place: str = "text", *, in_short: bool = False
) -> None:
    """Draw a passage that is a table: caption, header and rows, `in_short` only those near the marked row.

    `place` is a key, unique among the tables of a screen that show the same passage.
    """
    if passage.table:
        with st.container(key=f"table_{place}_{passage.number}"):
            data = table_data(passage, passage.table, sentence, in_short=in_short)
            _component(key=f"table_cells_{place}_{passage.number}", data=data)


def table_data(passage: Passage, table: Table, sentence: int | None, *, in_short: bool = False) -> Data:
    """Return the data of a table, plain texts that its script never reads as HTML."""
    marked = None if sentence is None or sentence < passage.first_row else sentence - passage.first_row
    count, labels = len(table.rows) - table.header, label_columns(table)
    most, shown = 2 * ROWS_BESIDE + 1, range(count)
    if in_short and count > most:
        first = max(0, (marked or 0) - ROWS_BESIDE)
        shown = range(first, min(count, first + most))
    return {
        "caption": one_line(passage.caption),
        "head": [list(_heads(row)) for row in table.rows[: table.header]],
        "rows": [
            _row(table.rows[table.header + number], labels, is_marked=number == marked) for number in shown
        ],
        "left_out": f"{counted(len(shown), 'row')} of {count}" if len(shown) < count else "",
    }


def _heads(row: Sequence[str]) -> Iterator[Data]:
    """Yield the cells of a header row; a name repeated over adjacent columns is one spanning cell."""
    for name, run in groupby(row):
        width = len(list(run))
        if name:
            yield {"text": one_line(name), "scope": "col", "span": width}
        else:
            yield from ({"text": "", "scope": "", "span": 1} for _ in range(width))


def _row(row: Sequence[str], labels: int, *, is_marked: bool) -> Data:
    if row[0] and not any(row[1:]):
        # A heading of the rows below it.
        cells: list[Data] = [{"text": one_line(row[0]), "scope": "rowgroup", "span": len(row)}]
    else:
        cells = [
            {"text": one_line(cell), "scope": "row" if column < labels else "", "span": 1}
            for column, cell in enumerate(row)
        ]
    return {"marked": is_marked, "cells": cells}
