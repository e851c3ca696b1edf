"""Tables as parsers find them: which rows name the columns, and the paragraph that a table becomes."""

import re
from collections.abc import Sequence

from corpus.records import Box, Table
from corpus.tables import is_nothing, is_number, row_texts
from indexer.parsers.document import Paragraph, Piece

FEWEST_ROWS, MOST_COLUMNS = 2, 40
_COLUMN_NUMBER = re.compile(r"\(\d{1,2}\)")


def header_rows(rows: Sequence[Sequence[str]], most: int = 6) -> int:
    """Count the first rows that name the columns: those above the first row of figures."""
    for index, row in enumerate(rows[: most + 1]):
        values = [cell for cell in row[1:] if not is_nothing(cell)]
        figures = [cell for cell in values if is_number(cell) and not _COLUMN_NUMBER.fullmatch(cell)]
        if figures and 2 * len(figures) >= len(values):
            return index - _is_group(rows, index)
    return 1 if len(rows) > 1 and sum(map(bool, rows[0])) > 1 else 0


def _is_group(rows: Sequence[Sequence[str]], header: int) -> bool:
    """Return True if the last of these header rows heads the rows below it, not a column."""
    return header > 1 and sum(map(bool, rows[header - 1])) == 1 and sum(map(bool, rows[header - 2])) > 2


def table_paragraph(
    caption: Sequence[Piece], table: Table, boxes: Sequence[tuple[Box, ...]] = (), area: Box | None = None
) -> Paragraph:
    """Return a table as a paragraph: its caption's sentences, then one for each row below the header.

    `boxes` run parallel to these rows, where it is known where they stand.
    """
    texts = row_texts(table)
    places = boxes or [()] * len(texts)
    rows = tuple(Piece(text, place) for text, place in zip(texts, places, strict=True))
    return Paragraph((*caption, *rows), "table", table, area)
