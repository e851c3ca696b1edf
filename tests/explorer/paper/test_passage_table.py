"""A passage's table as it is drawn: texts alone, the cited row marked, a long one in short."""

from typing import Any

from corpus.records import Passage, Sentence, Table
from explorer.components.passage_table import table_data

HOSTILE = '<img src=x onerror=alert(1)>"&'


def passage(table: Table) -> Passage:
    rows = len(table.rows) - table.header
    caption = "Table 1: <script>x</script>. "
    text = caption + "r" * rows
    ends = [len(caption), *(len(caption) + at + 1 for at in range(rows))]
    sentences = tuple(Sentence(start, end) for start, end in zip([0, *ends], ends, strict=False))
    return Passage("p#1", "p", "c", 1, "table", (), text, sentences, table=table)


def drawn(table: Table, row: int | None = None, *, in_short: bool = False) -> Any:
    return table_data(passage(table), table, None if row is None else row + 1, in_short=in_short)


def texts(cells: Any) -> list[str]:
    return [cell["text"] for cell in cells]


def test_text_of_a_paper_is_a_text_of_a_cell_and_the_cited_row_alone_is_marked() -> None:
    page = drawn(Table(((HOSTILE, HOSTILE + "b"), (HOSTILE, "\x00\u202e"), ("a", "1")), 1))
    assert texts(page["head"][0]) == [HOSTILE, HOSTILE + "b"]
    assert texts(page["rows"][0]["cells"]) == [HOSTILE, ""]
    assert page["caption"] == "Table 1: <script>x</script>."
    page = drawn(Table((("", "P"), ("a", "1"), ("b", "2")), 1), 1)
    assert [texts(row["cells"])[0] for row in page["rows"] if row["marked"]] == ["b"]
    assert [cell["scope"] for cell in page["rows"][0]["cells"]] == ["row", ""]
    page = drawn(Table((("", "Test", "Test"), ("", "P", "R"), ("Gold", "", ""), ("a", "1", "2")), 2))
    assert page["head"][0][1] == {"text": "Test", "scope": "col", "span": 2}
    assert page["rows"][0]["cells"] == [{"text": "Gold", "scope": "rowgroup", "span": 3}]


def test_beside_an_answer_a_long_table_shows_the_rows_round_the_cited_one() -> None:
    table = Table((("", "P"), *((f"row{at}", str(at)) for at in range(40))), 1)
    page = drawn(table, 20, in_short=True)
    assert [texts(row["cells"])[0] for row in page["rows"]] == [f"row{at}" for at in range(17, 24)]
    assert page["left_out"] == "7 rows of 40"
