"""The grid of key elements as data for a table, and what a click in it reports."""

import json
from dataclasses import replace

import pytest

from assistant.comparing.grid import Grid, GridCell, GridRow
from assistant.comparing.records import ELEMENT_NAMES, QuotedSentence
from explorer.compare.grid_table import parse_cell, table_data

HOSTILE = "<img src=x onerror=alert(1)> & <script>\u202e"
WEAK = GridCell("results", HOSTILE, 0.04)
STRONG = GridCell("methodology", "BM25 ranks.", 0.9)


def _grid() -> Grid:
    named = {"results": WEAK, "methodology": STRONG}
    cells = tuple(named.get(name, GridCell(name)) for name in ELEMENT_NAMES)
    return Grid((GridRow(1, "c/p", "A <b>title</b>", 2020, "title", cells),))


def test_a_row_says_what_its_paper_states_and_how_well_it_carries_that() -> None:
    data = json.loads(json.dumps(table_data(_grid(), (1, "results"))))
    (row,) = data["rows"]
    assert data["head"][0] == "Paper" and len(data["head"]) == 1 + len(row["cells"]) == 8
    assert data["chosen"] == "1-results" and table_data(_grid(), None)["chosen"] == ""
    assert row["title"] == "[1] A <b>title</b>"
    assert row["facts"] == "2020 · its title alone · 1 of 7 elements"
    cells = {cell["id"]: cell for cell in row["cells"] if "id" in cell}
    assert cells["1-methodology"]["score"] == "0.90 strong" and not cells["1-methodology"]["mark"]
    shown = {"text": "<img src=x onerror=alert(1)> & <script>", "mark": WEAK.mark, "score": "", "word": ""}
    assert cells["1-results"] == {"id": "1-results", **shown}
    assert [cell for cell in row["cells"] if "id" not in cell] == [{"absence": "not stated in the text"}] * 5


def test_own_questions_are_columns_behind_the_elements() -> None:
    (row,) = _grid().rows
    quote = QuotedSentence("c/p#3", 1, HOSTILE)
    answers = (
        GridCell("question_1", HOSTILE, quotes=(quote,)),
        GridCell("question_2", absence="does not say"),
    )
    asked = replace(_grid(), rows=(replace(row, answers=answers),), questions=("<b>Why?</b>", "How?"))
    data = json.loads(json.dumps(table_data(asked, None)))
    assert data["head"][8:] == ["<b>Why?</b>", "How?"]
    first, second = data["rows"][0]["cells"][7:]
    assert (first["id"], first["score"], second) == ("1-question_1", "", {"absence": "does not say"})
    assert data["rows"][0]["facts"].endswith("1 of 7 elements")


@pytest.mark.parametrize(
    ("heard", "cell"),
    [
        ("1-results", (1, "results")),
        ("0-limitations", (0, "limitations")),
        ("2-question_5", (2, "question_5")),
        *(
            (other, None)
            for other in ("1-nothing", "x", "", None, {}, "9999-results", "1-question_6", "1-question_0")
        ),
    ],
)
def test_what_a_click_in_the_grid_reports_is_a_cell_or_nothing(heard: object, cell: object) -> None:
    assert parse_cell(heard) == cell
