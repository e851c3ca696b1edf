"""A passage's table as it is drawn: every text escaped, the cited row marked, a long one in short."""

import re

from corpus.records import Passage, Sentence, Table
from explorer.components.passage_table import table_html

HOSTILE = '<img src=x onerror=alert(1)>"&'


def passage(table: Table) -> Passage:
    rows = len(table.rows) - table.header
    caption = "Table 1: <script>x</script>. "
    text = caption + "r" * rows
    ends = [len(caption), *(len(caption) + at + 1 for at in range(rows))]
    sentences = tuple(Sentence(start, end) for start, end in zip([0, *ends], ends, strict=False))
    return Passage("p#1", "p", "c", 1, "table", (), text, sentences, table=table)


def drawn(table: Table, row: int | None = None, *, in_short: bool = False) -> str:
    return table_html(passage(table), table, None if row is None else row + 1, in_short=in_short)


def test_text_of_a_paper_is_text_in_every_cell() -> None:
    page = drawn(Table(((HOSTILE, HOSTILE + "b"), (HOSTILE, HOSTILE), ("a", "1")), 1))
    assert "<img" not in page
    assert "<script" not in page
    assert page.count("&lt;img") == 4


def test_the_cited_row_is_marked_and_no_other() -> None:
    page = drawn(Table((("", "P"), ("a", "1"), ("b", "2")), 1), 1)
    assert re.findall(r'<tr aria-current="true"><th scope="row">(\w)</th>', page) == ["b"]
    assert page.count("aria-current") == 1


def test_a_head_over_columns_and_a_row_that_heads_others_are_one_cell() -> None:
    page = drawn(Table((("", "Test", "Test"), ("", "P", "R"), ("Gold", "", ""), ("a", "1", "2")), 2))
    assert '<th scope="col" colspan="2">Test</th>' in page
    assert '<th scope="rowgroup" colspan="3">Gold</th>' in page


def test_beside_an_answer_a_long_table_shows_the_rows_round_the_cited_one() -> None:
    table = Table((("", "P"), *((f"row{at}", str(at)) for at in range(40))), 1)
    page = drawn(table, 20, in_short=True)
    assert re.findall(r"row(\d+)", page) == [str(at) for at in range(17, 24)]
    assert "7 rows of 40" in page
