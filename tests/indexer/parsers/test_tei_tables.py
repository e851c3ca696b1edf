"""Tables of TEI files: cells as GROBID found them, with their caption and place."""

from corpus.records import Box, Table
from indexer.parsers.document import Paragraph
from tests.indexer.parsers.small_tei import div, read_tei, tei

ROWS = (
    '<row><cell/><cell cols="2">Test</cell></row><row><cell>System</cell><cell>P</cell><cell>R</cell></row>'
    "<row><cell>Tagger</cell><cell>81.2</cell><cell>79.0</cell></row>"
    "<row><cell>Parser</cell><cell>70.4</cell></row>"
)


def figure(inner: str, kind: str = ' type="table"') -> str:
    return (
        f'<figure xml:id="tab_0"{kind} coords="3,50,80,200,60;3,50,62,120,9"><head>Table 1 :</head>'
        f"<figDesc>What the systems reach.</figDesc>{inner}</figure>"
    )


def read(inner: str, kind: str = ' type="table"') -> Paragraph:
    document = read_tei(tei(div("Results", "See the table of results here.") + figure(inner, kind)))
    return next(p for section in document.sections for p in section.paragraphs if p.kind != "body")


def test_a_table_keeps_its_cells_and_says_them_row_by_row() -> None:
    found = read(f'<table coords="3,50,90,200,40">{ROWS}</table>')
    assert found.table == Table(
        (("", "Test", "Test"), ("System", "P", "R"), ("Tagger", "81.2", "79.0"), ("Parser", "70.4", "")), 2
    )
    assert [piece.text for piece in found.sentences] == [
        "Table 1: What the systems reach.",
        "Tagger: Test P 81.2; Test R 79.0.",
        "Parser: Test P 70.4.",
    ]
    assert found.area == Box(3, 50, 90, 200, 40)
    assert found.sentences[-1].boxes == (found.area,)
    found = read("<table>81.2 79.0 70.4</table>")
    assert (found.kind, found.table) == ("caption", None)
    assert read("", "").area == Box(3, 50, 80, 200, 60)
    wide = f"<row>{'<cell>1</cell>' * 500}</row>"
    assert read(f"<table>{wide * 2}</table>").table is None
    assert (
        read('<table><row><cell cols="99">a</cell></row><row><cell cols="1e9">b</cell></row></table>').table
        is None
    )
