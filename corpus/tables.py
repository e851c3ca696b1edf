"""Tables in words: what heads a column and a row, and a row as a sentence."""

import re
from collections.abc import Sequence
from functools import lru_cache

from corpus.records import Table

_NUMBER = re.compile(r"[^\w\s]{0,3}\d[\d.,:/%±+–−()*†‡⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻×-]*+[a-zA-Z*†%]{0,2}")
_PLACE = re.compile(r" \([^()]{1,40}\)$")
_NOTHING = frozenset(("", "-", "--", "---", "–", "—", "−", "n/a", "N/A"))


def is_number(cell: str) -> bool:
    """Return True for a cell that holds one figure and hardly more."""
    return _NUMBER.fullmatch(cell.replace(" ", "")) is not None


def is_nothing(cell: str) -> bool:
    """Return True for a cell that is empty or says that there is nothing."""
    return cell in _NOTHING


def column_heads(table: Table) -> list[str]:
    """Return the header of each column, from the top down, without repeats; "" where there is none."""
    columns = zip(*table.rows[: table.header], strict=True) if table.header else ()
    heads = [" ".join(dict.fromkeys(cell for cell in column if cell)) for column in columns]
    return heads or [""] * len(table.rows[0])


@lru_cache(maxsize=64)
def row_names(table: Table) -> tuple[tuple[str, str], ...]:
    """Return of each row below the header what heads it and the rows beside it, and what it is called.

    Both are "" where nothing does; a row that heads those below it is itself called so.
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
    """Return the names where what heads rows stands beside the middle of them; nothing for other tables.

    Such rows come in groups that are called alike, so that where one begins is known.
    """
    below = table.rows[table.header :]
    last = label_columns(table) - 1
    heads = [row[0] if is_heading(table, row) else " ".join(filter(None, row[:last])) for row in below]
    own = ["" if is_heading(table, row) else row[last] for row in below]
    named = [at for at, name in enumerate(own) if name]
    size = next((at for at in range(1, len(named)) if own[named[at]] == own[named[0]]), 0)
    names = {at: ("", own[at] or heads[at]) for at in range(len(below))}
    names |= {at: ("", ", ".join(filter(None, (heads[at], own[at])))) for at in named}
    for start in range(0, len(named), size) if size > 1 else ():
        group = named[start : start + size]
        if [own[at] for at in group] != [own[at] for at in named[:size]]:
            continue
        rows = range(group[0], group[-1] + 1)
        if not _is_in_the_middle([bool(heads[at]) for at in rows], [bool(own[at]) for at in rows]):
            return ()
        head = " ".join(filter(None, (heads[at] for at in rows)))
        names |= {at: ("", f"{head}, {own[at]}") if last else (head, own[at]) for at in group}
    return tuple(names[at] for at in range(len(below))) if size > 1 else ()


def _is_in_the_middle(headed: Sequence[bool], named: Sequence[bool]) -> bool:
    """Return True if a group's heads stand in its middle; a row without a name stands between two others."""
    places = [sum(named[:at]) - 0.5 * (not named[at]) for at, is_headed in enumerate(headed) if is_headed]
    middle = (sum(named) - 1) / 2
    return bool(places) and not headed[0] and abs(sum(places) / len(places) - middle) <= 0.5


def _label(cells: Sequence[str], above: Sequence[str]) -> list[str]:
    """Return the cells that name a row; those to the left of its first are the same as above."""
    first = next((at for at, cell in enumerate(cells) if cell), len(cells))
    return [*above[:first], *cells[first:]]


@lru_cache(maxsize=64)
def label_columns(table: Table) -> int:
    """Count the first columns that name the rows: those of text before one of figures, else one."""
    for at, column in enumerate(zip(*table.rows[table.header :], strict=True)):
        filled = [cell for cell in column if not is_nothing(cell)]
        if 2 * sum(map(is_number, filled)) > len(filled):
            return max(1, at)
    return 1


def is_heading(table: Table, row: Sequence[str]) -> bool:
    """Return True for a row without values, or with the names of the columns again."""
    return all(map(is_nothing, row[1:])) or _heads_again(table, row)


def _heads_again(table: Table, row: Sequence[str]) -> bool:
    head = table.rows[table.header - 1] if table.header else ()
    same = sum(bool(cell) and cell == name for cell, name in zip(row[1:], head[1:], strict=False))
    return same > 0 and 2 * same >= sum(map(bool, row[1:]))


def row_texts(table: Table) -> list[str]:
    """Return each row below the header as a sentence: "System B, test: precision 81.2; recall 79.0."."""
    columns = range(1, len(table.rows[0]))
    return [row_text(table, at, columns) for at in range(len(table.rows) - table.header)]


def row_text(table: Table, at: int, columns: Sequence[int], place: str = "") -> str:
    """Return some cells of a row below the header as a sentence; `place` says in brackets where it stands."""
    named, cells = _row_and_cells(table, at)
    values = "; ".join(cells[column] for column in columns if column in cells)
    said = f"{named}: {values}" if named and values else named or values
    said = f"{said} ({place})" if place else said
    return said if said.endswith((".", "!", "?")) else f"{said}."


def quotes_row(table: Table, at: int, text: str) -> bool:
    """Return True if a text is what `row_text` makes of some of a row's cells, wherever they stand."""
    named, cells = _row_and_cells(table, at)
    start, rest = f"{named}: ", text.strip().removesuffix(".")
    if not named or not rest.startswith(start):
        return False
    values = _PLACE.sub("", rest.removeprefix(start)).split("; ")
    return set(values) <= set(cells.values())


def _row_and_cells(table: Table, at: int) -> tuple[str, dict[int, str]]:
    """Return the name of a row below the header, and its cells with their heads by column."""
    row, heads = table.rows[table.header + at], column_heads(table)
    named = ", ".join(part.rstrip(" :") for part in row_names(table)[at] if part)
    values = () if is_heading(table, row) else range(label_columns(table), len(row))
    return named, {column: f"{heads[column]} {row[column]}".strip() for column in values if row[column]}
