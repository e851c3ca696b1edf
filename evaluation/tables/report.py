"""A table as people read it: on the terminal and in Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich import table as rich_table
from rich.box import SIMPLE_HEAD
from rich.markup import escape

from assistant.exports import escaped
from evaluation.tables.records import Column, Row, SeedTable, TableResult

OURS, PRINTED = "Ours", "Printed"
# More stand beside each other in no terminal.
MOST_COLUMNS = 8


def shown_table(result: TableResult) -> rich_table.Table:
    """Return a table for the terminal: ours, then the printed rows; one of many figures lies on its side."""
    is_wide = len(result.table.columns) > MOST_COLUMNS
    table = _on_its_side(result) if is_wide else _upright(result)
    table.title = escape(result.table.heading)
    table.caption = escape("\n".join(notes_of(result)))
    table.caption_justify = "left"
    return table


def _upright(result: TableResult) -> rich_table.Table:
    numbers = [rich_table.Column(column.name, justify="right") for column in result.table.columns]
    table = rich_table.Table("System", *numbers, box=SIMPLE_HEAD)
    for heading, rows in _parts(result):
        for index, row in enumerate(rows):
            label = f"{heading}: {row.system}" if index == 0 else f"  {row.system}"
            table.add_row(escape(label), *_cells(row, result.table.columns))
        table.add_section()
    return table


def _on_its_side(result: TableResult) -> rich_table.Table:
    columns = result.table.columns
    systems = [(f"{heading}: {row.system}", row) for heading, rows in _parts(result) for row in rows]
    heads = [rich_table.Column(escape(label), justify="right") for label, _ in systems]
    table = rich_table.Table("", *heads, box=SIMPLE_HEAD)
    cells = [list(_cells(row, columns)) for _, row in systems]
    for place, column in enumerate(columns):
        table.add_row(escape(column.name), *(one[place] for one in cells))
    return table


def markdown_table(result: TableResult) -> str:
    """Return a table with what belongs to it as Markdown."""
    head = ["", "system", *(escaped(column.name) for column in result.table.columns)]
    lines = [_line(head), f"| --- | --- |{' ---: |' * len(result.table.columns)}"]
    for heading, rows in _parts(result):
        lines += [_line([heading, escaped(row.system), *_cells(row, result.table.columns)]) for row in rows]
    notes = "\n".join(f"- {escaped(note)}" for note in notes_of(result))
    command = _code(result.command)
    dates = sorted({one.date for one in result.rows})
    spanned = " and ".join(dict.fromkeys((*dates[:1], *dates[-1:])))
    measured = f"{command}, {escaped(f'measured on {spanned}')}" if dates else command
    machines = sorted({escaped(one.machine) for one in result.rows})
    return "\n".join([*lines, "", " · ".join([measured, *machines]), *(["", notes] if notes else [])])


def listed(tables: Sequence[SeedTable], missing: Mapping[str, Sequence[str]]) -> rich_table.Table:
    """Return what tables there are, and which of their data sets are not here."""
    table = rich_table.Table("Name", "Table", "Not here", box=SIMPLE_HEAD)
    for one in tables:
        table.add_row(one.name, escape(one.heading), escape(", ".join(missing[one.name]) or "-"))
    return table


def notes_of(result: TableResult) -> Iterator[str]:
    """Yield what has to be known to read a table: what stands in, how rows differ, what is missing."""
    yield from result.table.remarks
    for stand_in in result.stand_ins:
        yield f"Stands in: {stand_in}"
    for _, rows in _parts(result):
        yield from (f"{row.system}: {row.note}" for row in rows if row.note)
    for one in result.missing:
        yield f"Missing: {one.what}: {one.advice}"


def _parts(result: TableResult) -> Iterator[tuple[str, Sequence[Row]]]:
    yield OURS, [one.row for one in result.rows]
    yield PRINTED, result.printed


def _cells(row: Row, columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        figure, deviation = row.figures.get(column.name), row.deviations.get(column.name)
        shown = "" if figure is None else f"{figure:.{column.decimals}f}"
        yield shown if deviation is None else f"{shown} ± {deviation:.{column.decimals}f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Return code within a line, between more backticks than stand together in it."""
    line = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    padded = f" {line} " if "`" in line else line
    return f"{fence}{padded}{fence}"
