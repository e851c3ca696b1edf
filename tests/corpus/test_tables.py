"""Tables in words: what names rows and columns, and that cells are told as they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Passage, Sentence, Table
from corpus.tables import column_heads, label_columns, quotes_row, row_names, row_text, row_texts

SCORES = Table(
    (
        ("", "Test", "Test", "Dev"),
        ("System", "P", "R", "P"),
        ("Without context", "", "", ""),
        ("Tagger", "81.2", "79.0", "80.1"),
        ("Parser", "70.4", "-", "71"),
        ("With context", "", "", ""),
        ("Tagger", "85.0", "83.3", ""),
    ),
    header=2,
)


def test_a_row_is_told_with_its_group_its_name_and_its_heads() -> None:
    assert row_texts(SCORES) == [
        "Without context.",
        "Without context, Tagger: Test P 81.2; Test R 79.0; Dev P 80.1.",
        "Without context, Parser: Test P 70.4; Test R -; Dev P 71.",
        "With context.",
        "With context, Tagger: Test P 85.0; Test R 83.3.",
    ]
    table = Table((("Dev", "P", "R"), ("LOC", "1", "2"), ("Test", "P", "R"), ("LOC", "3", "4")), 1)
    assert row_names(table) == (("Dev", "LOC"), ("", "Test"), ("Test", "LOC"))
    rows = (("Nouns", "A", "1"), ("", "B", "2"), ("Verbs", "A", "3"), ("", "B", "4"))
    names = row_names(Table((("Part", "System", "F"), *rows), 1))
    assert [name for _, name in names] == ["Nouns, A", "Nouns, B", "Verbs, A", "Verbs, B"]
    table = Table((("Type", "Subtype", "F"), ("ROLE", "Member", "7"), ("", "Owner", "8")), 1)
    assert label_columns(table) == 2
    assert [label for _, label in row_names(table)] == ["ROLE, Member", "ROLE, Owner"]


AMID = Table(
    (
        ("Features", "Model", "F"),
        ("", "Tagger", "71"),
        ("Words in", "Parser", "72"),
        ("order", "Chunker", "73"),
        ("", "Tagger", "81"),
        ("Words", "Parser", "82"),
        ("", "Chunker", "83"),
        ("", "Oracle", "99"),
    ),
    header=1,
)


def test_fault_labels_and_headings_amid_their_rows_named_the_rows_below() -> None:
    # The first row of a group was said to be of the group above, and so were its figures.
    assert [name for _, name in row_names(AMID)] == [
        *("Words in order, Tagger", "Words in order, Parser", "Words in order, Chunker"),
        *("Words, Tagger", "Words, Parser", "Words, Chunker", "Oracle"),
    ]
    assert row_texts(AMID)[3] == "Words, Tagger: F 81."
    rows = [("A", "1"), ("B", "2"), ("Nouns", ""), ("C", "3"), ("D", "4")]
    rows += [("A", "5"), ("B", "6"), ("Verbs", ""), ("C", "7"), ("D", "8"), ("Oracle", "9")]
    names = row_names(Table((("System", "F"), *rows), 1))
    assert names[:5] == (("Nouns", "A"), ("Nouns", "B"), ("", "Nouns"), ("Nouns", "C"), ("Nouns", "D"))
    assert names[5:] == (
        *(("Verbs", "A"), ("Verbs", "B")),
        ("", "Verbs"),
        ("Verbs", "C"),
        ("Verbs", "D"),
        ("", "Oracle"),
    )


@pytest.mark.parametrize("header", [-1, 2, 3])
def test_fault_a_table_of_nothing_but_header(header):
    with pytest.raises(ValueError, match="name columns"):
        Table((("a", "b"), ("c", "d")), header)


@pytest.mark.parametrize("rows", [(), ((),), (("a",), ("b", "c"))])
def test_fault_a_ragged_table(rows):
    with pytest.raises(ValueError, match="equally many"):
        Table(rows)


def test_fault_a_passage_with_more_rows_than_sentences():
    with pytest.raises(ValueError, match="more rows than sentences"):
        Passage("p#1", "p", "c", 1, "table", (), "a", (Sentence(0, 1),), table=Table((("a",), ("b",))))


cells = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    width, height = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    rows = tuple(tuple(draw(cells) for _ in range(width)) for _ in range(height))
    return Table(rows, draw(st.integers(0, min(2, height - 1))))


@given(tables(), st.data())
def test_what_is_told_of_a_row_is_known_as_its_cells(table, data):
    at = data.draw(st.integers(0, len(table.rows) - table.header - 1))
    columns = data.draw(st.lists(st.integers(label_columns(table), len(table.rows[0]) - 1), min_size=1))
    text = row_text(table, at, columns, "Table 1")
    named, values = ": ", "; "
    # A head that ends with one of these marks makes it with the space before its value.
    told = [f"{cell} " for row in table.rows for cell in row]
    if named in text and not any(values in cell or named in cell for cell in told):
        assert quotes_row(table, at, text)
    assert len(row_texts(table)) == len(row_names(table)) == len(table.rows) - table.header
    assert len(column_heads(table)) == len(table.rows[0])


@pytest.mark.parametrize(
    "claim",
    [
        "Without context, Tagger: Test P 81.3",
        "Without context, Tagger: Test R 81.2",
        "With context, Tagger: Test P 81.2",
        "Tagger: Test P 81.2",
        "Without context, Tagger: Test P 81.2, which is best",
        "Without context, Tagger",
        "",
    ],
)
def test_no_other_text_counts_as_the_cells_of_a_row(claim):
    assert quotes_row(SCORES, 1, "Without context, Tagger: Dev P 80.1; Test P 81.2 (Table 3).")
    assert not quotes_row(SCORES, 1, claim)
