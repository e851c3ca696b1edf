"""Tables in words: the heads of columns and rows, and rows as sentences."""

import re
from collections.abc import Sequence
from functools import lru_cache

from corpus.records import Table

_NUMBER = re.compile(r"[^\w\s]{0,3}\d[\d.,:/%±+–−()*†‡⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻×-]*+[a-zA-Z*†%]{0,2}")
_PLACE = re.compile(r" \([^()]{1,40}\)$")
_NOTHING = frozenset(("", "-", "--", "---", "–", "—", "−", "n/a", "N/A"))


def is_number(cell: str) -> bool:
    """Return True if a cell holds one figure and hardly more."""
    return _NUMBER.fullmatch(cell.replace(" ", "")) is not None


def is_nothing(cell: str) -> bool:
    """Return True if a cell is empty or says that there is no value."""
    return cell in _NOTHING


def column_heads(table: Table) -> list[str]:
    """Return the header of each column, from the top down, without repeats; "" without one."""
    columns = zip(*table.rows[: table.header], strict=True) if table.header else ()
    heads = [" ".join(dict.fromkeys(cell for cell in column if cell)) for column in columns]
    return heads or [""] * len(table.rows[0])


@lru_cache(maxsize=64)
def row_names(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the heading of the group and the name of each row below the header, "" without one.

    A row that is a heading has its own text as its name.
    """
    if amid := _names_amid(table):
        return amid
    below = table.rows[table.header :]
    count = label_columns(table)
    names = []
    group, label = "", [""] * count
    if table.header and any(_heads_again(table, row) for row in below):
        group = table.rows[table.header - 1][0]
    for row in below:
        if row[0] and is_heading(table, row):
            group, label = row[0], [""] * count
            names.append(("", group))
        else:
            label = _label(row[:count], label)
            names.append((group, ", ".join(filter(None, label))))
    return tuple(names)


def _names_amid(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the names in a table whose group headings stand beside the middle of their rows, else ().

    The rows of every group have the same names in turn, which shows where a group begins.
    """
    below = table.rows[table.header :]
    last = label_columns(table) - 1
    heads = [row[0] if is_heading(table, row) else " ".join(filter(None, row[:last])) for row in below]
    labels = ["" if is_heading(table, row) else row[last] for row in below]
    named = [row for row, label in enumerate(labels) if label]
    size = next((place for place in range(1, len(named)) if labels[named[place]] == labels[named[0]]), 0)
    names = {row: ("", labels[row] or heads[row]) for row in range(len(below))}
    names |= {row: ("", ", ".join(filter(None, (heads[row], labels[row])))) for row in named}
    for start in range(0, len(named), size) if size > 1 else ():
        group = named[start : start + size]
        if [labels[row] for row in group] != [labels[row] for row in named[:size]]:
            continue
        rows = range(group[0], group[-1] + 1)
        if not _is_in_the_middle([bool(heads[row]) for row in rows], [bool(labels[row]) for row in rows]):
            return ()
        head = " ".join(filter(None, (heads[row] for row in rows)))
        names |= {row: ("", f"{head}, {labels[row]}") if last else (head, labels[row]) for row in group}
    return tuple(names[row] for row in range(len(below))) if size > 1 else ()


def _is_in_the_middle(headed: Sequence[bool], named: Sequence[bool]) -> bool:
    """Return True if a group's heads stand in its middle; a row without a name stands between two others."""
    places = [sum(named[:row]) - 0.5 * (not named[row]) for row, is_headed in enumerate(headed) if is_headed]
    middle = (sum(named) - 1) / 2
    return bool(places) and not headed[0] and abs(sum(places) / len(places) - middle) <= 0.5


def _label(cells: Sequence[str], above: Sequence[str]) -> list[str]:
    """Return the cells that name a row; empty ones at the left repeat those above."""
    first = next((column for column, cell in enumerate(cells) if cell), len(cells))
    return [*above[:first], *cells[first:]]


@lru_cache(maxsize=64)
def label_columns(table: Table) -> int:
    """Return the number of text columns before the first column of figures, at least 1."""
    for place, column in enumerate(zip(*table.rows[table.header :], strict=True)):
        filled = [cell for cell in column if not is_nothing(cell)]
        if 2 * sum(map(is_number, filled)) > len(filled):
            return max(1, place)
    return 1


def is_heading(table: Table, row: Sequence[str]) -> bool:
    """Return True if a row has no values, or repeats the names of the columns."""
    return all(map(is_nothing, row[1:])) or _heads_again(table, row)


def _heads_again(table: Table, row: Sequence[str]) -> bool:
    header = table.rows[table.header - 1] if table.header else ()
    same = sum(bool(cell) and cell == name for cell, name in zip(row[1:], header[1:], strict=False))
    return same > 0 and 2 * same >= sum(map(bool, row[1:]))


def row_texts(table: Table) -> list[str]:
    """Return each row below the header as a sentence: "System B, test: precision 81.2; recall 79.0."."""
    columns = range(1, len(table.rows[0]))
    return [row_text(table, row, columns) for row in range(len(table.rows) - table.header)]


def row_text(table: Table, at: int, columns: Sequence[int], place: str = "") -> str:
    """Return the given cells of a row as a sentence, followed by `place` in brackets."""
    name, cells = _row_and_cells(table, at)
    values = "; ".join(cells[column] for column in columns if column in cells)
    sentence = f"{name}: {values}" if name and values else name or values
    sentence = f"{sentence} ({place})" if place else sentence
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def quotes_row(table: Table, at: int, text: str) -> bool:
    """Return True if `row_text` makes this text of some of a row's cells, for any place."""
    name, cells = _row_and_cells(table, at)
    start, rest = f"{name}: ", text.strip().removesuffix(".")
    if not name or not rest.startswith(start):
        return False
    values = _PLACE.sub("", rest.removeprefix(start)).split("; ")
    return set(values) <= set(cells.values())


def _row_and_cells(table: Table, at: int) -> tuple[str, dict[int, str]]:
    """Return the name of a row below the header, and its cells with their heads by column."""
    row, heads = table.rows[table.header + at], column_heads(table)
    name = ", ".join(part.rstrip(" :") for part in row_names(table)[at] if part)
    values = () if is_heading(table, row) else range(label_columns(table), len(row))
    return name, {column: f"{heads[column]} {row[column]}".strip() for column in values if row[column]}
