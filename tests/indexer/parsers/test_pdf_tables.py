"""Tables and figures of PDFs: rows and columns as they are printed, and where they stand."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from corpus.records import Paper, Table
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.parsers.pdf.document import read_pdf
from indexer.parsers.tables import table_paragraph
from indexer.prepare.passages import make_passages
from tests.small_pdf import put, write_pdf

TITLE = "BT /B 16 Tf 180 740 Td (Of Tables and Figures) Tj ET\n"
HEAD = ("System", "P", "R", "F")
ROWS = [
    ("Baseline", "61.2", "58.0", "59.6"),
    ("+ context", "66.1", "60.3", "63.1"),
    ("Oracle", "80", "-", "81"),
]


def prose(top: float, lines: int = 12) -> str:
    words = "The words of this line run on as the words of a paper do, from one edge to the other of it"
    return "".join(put(72, top - 12 * at, f"{words} {chr(97 + at)}.") for at in range(lines))


def grid(top: float, rows: Sequence[tuple[str, ...]], at: tuple[float, ...] = (72, 220, 290, 360)) -> str:
    return "".join(
        put(x, top - 12 * number, cell)
        for number, row in enumerate(rows)
        for x, cell in zip(at, row, strict=True)
    )


def read(tmp_path: Path, *pages: str) -> Document:
    return read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + pages[0], *pages[1:]]))


def tables(document: Document) -> list[Paragraph]:
    found = [paragraph for section in document.sections for paragraph in section.paragraphs]
    return [paragraph for paragraph in found if paragraph.kind == "table"]


def cells(paragraph: Paragraph) -> Table:
    assert paragraph.table
    return paragraph.table


@pytest.mark.parametrize("above", [True, False], ids=["caption above", "caption below"])
def test_a_table_keeps_its_rows_and_columns(tmp_path: Path, above: bool) -> None:
    caption = put(72, 500 if above else 428, "Table 1: What the systems reach on the test set.")
    page = prose(700) + caption + grid(480, [HEAD, *ROWS]) + prose(390)
    (table,) = tables(read(tmp_path, page))
    assert cells(table) == Table((HEAD, *ROWS), 1)
    assert [piece.text for piece in table.sentences][1:] == [
        "Baseline: P 61.2; R 58.0; F 59.6.",
        "+ context: P 66.1; R 60.3; F 63.1.",
        "Oracle: P 80; R -; F 81.",
    ]


def test_each_row_has_its_place_and_labels_close_to_figures_are_cells(tmp_path: Path) -> None:
    page = prose(700) + put(72, 500, "Table 1: What is reached.") + grid(480, [HEAD, *ROWS]) + prose(390)
    (table,) = tables(read(tmp_path, page))
    tops = [box.y for piece in table.sentences[1:] for box in piece.boxes]
    assert [round(after - before) for before, after in pairwise(tops)] == [12, 12]
    assert table.area
    assert all(table.area.y <= top <= table.area.y + table.area.height for top in tops)
    rows = [
        ("AB", "0.95", "0.90", "0.94"),
        ("CDE", "0.87", "0.80", "0.85"),
        ("Longest", "0.65", "0.54", "0.62"),
    ]
    near = grid(480, [("", "P", "R", "F"), *rows], (72, 113, 137, 161))
    page = prose(700) + put(72, 500, "Table 1: What is reached.") + near + prose(390)
    (table,) = tables(read(tmp_path, page))
    assert cells(table).rows[1:] == tuple(rows)


def test_heads_over_several_columns_and_between_rows_are_said_of_those_below(tmp_path: Path) -> None:
    over = put(285, 492, "English test")
    page = (
        prose(700) + put(72, 515, "Table 1: What is reached.") + over + grid(480, [HEAD, *ROWS]) + prose(390)
    )
    (table,) = tables(read(tmp_path, page))
    assert cells(table).header == 2
    assert table.sentences[1].text == "Baseline: P 61.2; English test R 58.0; F 59.6."
    rows = [HEAD, ROWS[0], ("With gold trees", "", "", ""), ROWS[1], ROWS[2]]
    page = prose(700) + put(72, 500, "Table 1: What is reached.") + grid(480, rows) + prose(380)
    (table,) = tables(read(tmp_path, page))
    assert table.sentences[-1].text == "With gold trees, Oracle: P 80; R -; F 81."


def test_a_table_that_goes_on_overleaf_or_is_continued_is_one(tmp_path: Path) -> None:
    many = [(f"System {'abcdefghijklmnopqrst'[at]}", f"6{at}.2", f"5{at}.0", f"5{at}.6") for at in range(12)]
    first = prose(700, 20) + put(72, 440, "Table 1: What is reached.") + grid(420, [HEAD, *many[:6]])
    second = grid(740, many[6:]) + prose(600)
    (table,) = tables(read(tmp_path, first, second))
    assert cells(table).rows[1:] == tuple(many)
    assert [piece.boxes[0].page for piece in table.sentences[1:]] == [1] * 6 + [2] * 6
    first = prose(700, 20) + put(72, 440, "Table 1: What is reached.") + grid(420, [HEAD, *ROWS])
    second = put(72, 740, "Table 1: What is reached (continued).") + grid(720, [HEAD, *ROWS]) + prose(600)
    (table,) = tables(read(tmp_path, first, second))
    assert cells(table).rows == (HEAD, *ROWS, *ROWS)


def test_a_long_table_is_cut_at_rows_and_each_part_has_caption_and_header() -> None:
    rows = [HEAD, *((f"System {at}", f"{at}.1", f"{at}.2", f"{at}.3") for at in range(200))]
    table = Table(tuple(rows), 1)
    whole = table_paragraph((Piece("Table 1: Many systems."),), table)
    document = Document(sections=(DocumentSection((), (whole,)),))
    parts = make_passages(Paper("p", "c", "A title", (), None, "", ""), document)[1:]
    assert len(parts) > 1
    assert all(part.caption == "Table 1: Many systems." and part.table for part in parts)
    assert [row for part in parts if part.table for row in part.table.rows[1:]] == rows[1:]
    assert all(part.table and part.table.rows[0] == HEAD for part in parts)


def test_a_figure_is_where_no_text_is_above_its_caption_and_prose_under_one_no_table(tmp_path: Path) -> None:
    page = prose(700) + "100 420 300 120 re f\n" + put(72, 400, "Figure 1: A black box.") + prose(370)
    document = read(tmp_path, page)
    found = [paragraph for section in document.sections for paragraph in section.paragraphs]
    (caption,) = (paragraph for paragraph in found if paragraph.kind == "caption")
    area = caption.area
    assert area
    assert area.y <= 792 - 540
    assert area.y + area.height >= 792 - 420
    page = prose(700) + put(72, 500, "Table 1: An example of a prompt.") + prose(470)
    assert not tables(read(tmp_path, page))
