"""A table of a paper as a table: its cells as text, the row that is cited marked."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

import streamlit as st

from corpus.records import Passage, Table
from corpus.tables import label_columns
from corpus.wording import counted
from explorer.presenters import one_line

# Beside an answer a long table is shown as far as it is needed to read the row.
ROWS_BESIDE = 3


def draw_passage_table(
    passage: Passage, sentence: int | None = None, place: str = "text", *, in_short: bool = False
) -> None:
    """Draw a passage that is a table: caption, header and rows; `in_short` those beside the marked row.

    `place` tells two of one screen apart that show the same passage.
    """
    if passage.table:
        with st.container(key=f"table_{place}_{passage.number}"):
            st.html(table_html(passage, passage.table, sentence, in_short=in_short))


def table_html(passage: Passage, table: Table, sentence: int | None, *, in_short: bool = False) -> str:
    """Return a table as HTML of which every text is escaped."""
    marked = None if sentence is None or sentence < passage.first_row else sentence - passage.first_row
    count, labels = len(table.rows) - table.header, label_columns(table)
    shown = range(count)
    if in_short and count > 2 * ROWS_BESIDE + 1:
        first = max(0, (marked or 0) - ROWS_BESIDE)
        shown = range(first, min(count, first + 2 * ROWS_BESIDE + 1))
    head = "".join(f"<tr>{''.join(_heads(row))}</tr>" for row in table.rows[: table.header])
    body = "".join(_row(table.rows[table.header + at], labels, is_marked=at == marked) for at in shown)
    left_out = f"<p>{counted(len(shown), 'row')} of {count}</p>" if len(shown) < count else ""
    return (
        f"<table><caption>{_text(passage.caption)}</caption><thead>{head}</thead>"
        f"<tbody>{body}</tbody></table>{left_out}"
    )


def _heads(row: Sequence[str]) -> Iterator[str]:
    """Yield the cells of a header row; one name over several columns is one cell."""
    for name, run in groupby(row):
        width = len(list(run))
        span = f' colspan="{width}"' if name and width > 1 else ""
        repeats = 1 if span else width
        yield f'<th scope="col"{span}>{_text(name)}</th>' * repeats


def _row(row: Sequence[str], labels: int, *, is_marked: bool) -> str:
    mark = ' aria-current="true"' if is_marked else ""
    if row[0] and not any(row[1:]):
        # It heads the rows below it.
        return f'<tr{mark}><th scope="rowgroup" colspan="{len(row)}">{_text(row[0])}</th></tr>'
    cells = [
        f'<th scope="row">{_text(cell)}</th>' if at < labels else f"<td>{_text(cell)}</td>"
        for at, cell in enumerate(row)
    ]
    return f"<tr{mark}>{''.join(cells)}</tr>"


def _text(cell: str) -> str:
    return escape(one_line(cell))
