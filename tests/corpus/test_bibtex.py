"""BibTeX for papers whose source brings none."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.bibtex import bibtex, citation_key
from corpus.records import Author, Paper

PAPER = Paper(
    id="notes/a",
    collection_id="notes",
    title="The 90% Rule: A & B",
    authors=(Author("Ada", "van Dÿk"), Author("", "The Group")),
    year=2022,
    venue="Notes",
    abstract="An abstract is not part of an entry.",
    pages="1-9",
)


def test_an_entry_has_a_line_per_known_fact_and_no_abstract() -> None:
    assert bibtex(PAPER).splitlines() == [
        "@inproceedings{dyk-2022-rule,",
        r"    title = {The 90\% Rule: A \& B},",
        "    author = {Ada van Dÿk and The Group},",
        "    booktitle = {Notes},",
        "    year = {2022},",
        "    pages = {1-9},",
        "}",
    ]


def test_a_paper_of_which_nothing_is_known_still_has_an_entry() -> None:
    bare = replace(PAPER, title="", authors=(), year=None, venue="", pages="")
    assert bibtex(bare) == "@misc{paper,\n}"


@pytest.mark.parametrize(
    ("family", "year", "title", "key"),
    [
        ("Müller", 2020, "On Größe", "muller-2020-groe"),
        ("de la Cruz", 2021, "It is so", "cruz-2021"),
        ("李", 2022, "检索增强生成", "2022"),
        ("O'Neil", None, "Dense Retrieval", "oneil-dense"),
        ("{x},", 2020, "\\evil} key", "x-2020-evil"),
    ],
)
def test_citation_keys_hold_letters_digits_and_dashes_only(
    family: str, year: int | None, title: str, key: str
) -> None:
    assert citation_key(replace(PAPER, authors=(Author("", family),), year=year, title=title)) == key


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_title_or_name_breaks_out_of_its_value(title: str, name: str) -> None:
    entry = bibtex(replace(PAPER, title=title, authors=(Author("", name),)))
    assert re.fullmatch(r"@inproceedings\{[a-z0-9-]+,", entry.splitlines()[0])
    for line in entry.splitlines()[1:-1]:
        value = re.fullmatch(r"    [a-z]+ = \{(.*)\},", line)
        assert value, line
        unescaped = re.sub(r"\\[{}]|\\text\w+\{\}", "", value[1])
        assert "{" not in unescaped
        assert "}" not in unescaped
