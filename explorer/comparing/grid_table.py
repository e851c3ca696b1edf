"""The grid of key elements as an HTML table, with every text in it escaped. No Streamlit."""

import re
from html import escape

from assistant.comparing.grid import ELEMENT_TITLES, Grid, GridCell, GridRow
from assistant.comparing.records import ELEMENT_NAMES, ElementName, TextKind
from explorer.parts.safe_text import one_line, shortened
from explorer.parts.score_bar import score_word

# What a row of readable height holds: of the rest a cell that is chosen shows all.
LONGEST_CELL = 190
LONGEST_TITLE = 90
# Of a paper's own words only these are left out of the line below its title: they are the rule.
_SOURCES: dict[TextKind, str] = {"abstract": "its abstract alone", "title": "its title alone"}

_CELL = re.compile(r"(\d{1,3})-([a-z_]{1,40})")


def row_title(row: GridRow, length: int = 110) -> str:
    """Return what a row is called; not yet safe for Markdown or HTML."""
    return row.title if row.is_description else f"[{row.label}] {shortened(row.title, length)}"


def grid_table(grid: Grid) -> str:
    """Return the HTML of a grid; each cell leads to `#cell-<label>-<element>`."""
    names = "".join(f'<th scope="col">{title}</th>' for title in ELEMENT_TITLES.values())
    rows = "".join(_row(row) for row in grid.rows)
    return (
        '<div class="pt-grid" role="region" tabindex="0" aria-label="Key elements of the description and of '
        f'each paper"><table><thead><tr><th scope="col">Paper</th>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def parse_cell(identifier: object) -> tuple[int, ElementName] | None:
    """Return the label and the element of a cell's link, None for anything else."""
    found = _CELL.fullmatch(identifier) if isinstance(identifier, str) else None
    name = next((one for one in ELEMENT_NAMES if found and one == found[2]), None)
    return (int(found[1]), name) if found and name else None


def chosen_rule(label: int, name: ElementName) -> str:
    """Return the HTML of the rule that marks a cell.

    It does not stand in the table: one that is drawn anew is scrolled to its beginning.
    """
    cell = f'.pt-grid td:has(a[href="#cell-{int(label)}-{name}"])'
    return f"<style>{cell} {{ background: rgba(234, 179, 8, .16); box-shadow: inset 3px 0 #ca8a04; }}</style>"


def _row(row: GridRow) -> str:
    facts = [str(row.year or ""), _SOURCES.get(row.source, ""), f"{row.stated} of {len(row.cells)} elements"]
    said = escape(" · ".join(filter(None, facts)))
    cells = "".join(_cell(row.label, cell) for cell in row.cells)
    title = escape(one_line(row_title(row, LONGEST_TITLE)))
    return f'<tr><th scope="row">{title}<span class="pt-facts">{said}</span></th>{cells}</tr>'


def _cell(label: int, cell: GridCell) -> str:
    if not cell.text:
        return f'<td class="pt-absent">{escape(cell.absence)}</td>'
    kind = ' class="pt-not-carried"' if cell.is_weak else ""
    text = escape(shortened(cell.text, LONGEST_CELL))
    mark = f'<span class="pt-mark">{escape(cell.mark)}</span>' if cell.is_weak else ""
    score = "" if cell.is_weak or cell.support is None else score_word(cell.support)
    return f'<td{kind}><a href="#cell-{int(label)}-{cell.name}">{mark}{text}</a>{score}</td>'
