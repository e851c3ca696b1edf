"""Tables of all parsers: the number of header rows, and the paragraph of a table."""

import re
from collections.abc import Sequence

from corpus.records import Box, Table
from corpus.tables import is_nothing, is_number, row_texts
from indexer.parsers.document import Paragraph, Piece

FEWEST_ROWS, MOST_COLUMNS = 2, 40
_COLUMN_NUMBER = re.compile(r"\(\d{1,2}\)")


def header_rows(rows: Sequence[Sequence[str]], most: int = 6) -> int:
    """Count the header rows: those above the first row of figures."""
    for index, row in enumerate(rows[: most + 1]):
        values = [cell for cell in row[1:] if not is_nothing(cell)]
        figures = [cell for cell in values if is_number(cell) and not _COLUMN_NUMBER.fullmatch(cell)]
        if figures and 2 * len(figures) >= len(values):
            # The last header row may instead head the rows below it.
            filled = [sum(map(bool, row)) for row in rows[:index]]
            return index - (index > 1 and filled[-1] == 1 and filled[-2] > 2)
    return 1 if len(rows) > 1 and sum(map(bool, rows[0])) > 1 else 0


def table_paragraph(
    caption: Sequence[Piece], table: Table, boxes: Sequence[tuple[Box, ...]] = (), area: Box | None = None
) -> Paragraph:
    """Return a table as a paragraph: its caption's sentences, then one per row below the header.

    `boxes` run parallel to these rows, if known.
    """
    texts = row_texts(table)
    places = boxes or [()] * len(texts)
    rows = tuple(Piece(text, place) for text, place in zip(texts, places, strict=True))
    return Paragraph((*caption, *rows), "table", table, area)
