"""The grid of key elements as a table, and what a click in it reports."""

import pytest

from assistant.comparing.grid import Grid, GridCell, GridRow
from assistant.comparing.records import ELEMENT_NAMES
from explorer.comparing.grid_table import grid_table, parse_cell


def test_a_cell_that_its_paper_does_not_carry_looks_so_and_text_in_the_grid_is_text() -> None:
    weak = GridCell("results", "<img src=x onerror=alert(1)> & <script>", 0.04)
    strong = GridCell("methodology", "BM25 ranks.", 0.9)
    named = {"results": weak, "methodology": strong}
    cells = tuple(named.get(name, GridCell(name)) for name in ELEMENT_NAMES)
    row = GridRow(1, "c/p", "A <b>title</b>", 2020, "title", cells)
    shown = grid_table(Grid((row,)))
    assert "<img" not in shown and "<script" not in shown and "<b>" not in shown
    assert weak.mark in shown and "0.04 weak" not in shown
    assert "0.90 strong" in shown and "its title alone" in shown and "1 of 7 elements" in shown
    assert shown.count('href="#cell-1-') == 2


@pytest.mark.parametrize(
    ("heard", "cell"),
    [
        ("1-results", (1, "results")),
        ("0-limitations", (0, "limitations")),
        ("1-nothing", None),
        ("x", None),
        ("", None),
        (None, None),
        ({}, None),
        ("9999-results", None),
    ],
)
def test_what_a_click_in_the_grid_reports_is_a_cell_or_nothing(heard: object, cell: object) -> None:
    assert parse_cell(heard) == cell
