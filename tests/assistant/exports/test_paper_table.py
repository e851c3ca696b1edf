"""Papers as a table: read back by a reader of CSV, and never a formula."""

import csv
import io
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from assistant.exports.references import citation_keys, papers_as_bibtex, papers_as_csl_json, papers_as_ris
from assistant.exports.tables import COLUMNS, papers_as_csv
from corpus.records import Author
from tests.small_corpus import make_paper

PAPER = replace(
    make_paper("c", "p", title="=HYPERLINK(1)"),
    authors=(Author("Ada", "Lin"), Author("", "@Group")),
    venue="+Venue",
    abstract="Two\nlines",
    doi="10.1/x",
)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_paper_is_a_line_of_cells_that_are_no_formulas() -> None:
    (line,) = read(papers_as_csv([PAPER]))
    assert tuple(line) == COLUMNS
    assert line["Title"] == "'=HYPERLINK(1)"
    assert line["Venue"] == "'+Venue"
    assert line["Authors"] == "Ada Lin; @Group"
    assert (line["Abstract"], line["Year"], line["Id"]) == ("Two lines", "2020", "c/p")
    assert line["Key"] == citation_keys([PAPER])[0]


def test_no_papers_are_a_head_alone() -> None:
    assert read(papers_as_csv([])) == []


text = st.text(max_size=30)


@given(text, text, text)
@example("", "", "'")
def test_no_cell_is_calculated(title: str, family: str, venue: str) -> None:
    paper = replace(PAPER, title=title, authors=(Author("", family),), venue=venue)
    lines = read(papers_as_csv([paper, PAPER]))
    assert len(lines) == 2
    assert not any(value.lstrip().startswith(tuple("=+-@＝＋－＠")) for value in lines[0].values())


def test_the_keys_of_all_exports_are_the_same_each_time() -> None:
    papers = [PAPER, replace(PAPER, id="c/q")]
    for write in (papers_as_bibtex, papers_as_ris, papers_as_csl_json, papers_as_csv):
        assert write(papers) == write(iter(papers))
        assert all(key in write(papers) for key in citation_keys(papers))
