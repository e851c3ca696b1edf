"""Whole TEI files: hardly any result, what is refused, and properties that hold for all."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Box
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.tei.document import LARGEST_TEI, read_tei
from tests.indexer.parsers.small_tei import abstract, div, headings, tei, texts


def test_hardly_any_result_is_refused_or_remarked() -> None:
    with pytest.raises(ParseError, match="found no text"):
        read_tei(tei(header="<fileDesc><titleStmt><title/></titleStmt></fileDesc>" + abstract("")))
    document = read_tei(tei(div("Introduction", "We begin."), header=abstract("<p>In short.</p>")))
    assert document.title == ""
    assert document.notes == ("GROBID found no title",)
    header = "<fileDesc><titleStmt><title>Old\n   one</title></titleStmt></fileDesc>" + abstract(
        "<p>A. B.</p>"
    )
    application = (
        '<encodingDesc><appInfo><application version="0.4.1" ident="GROBID"/></appInfo></encodingDesc>'
    )
    source = f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{application}{header}</teiHeader></TEI>'
    document = read_tei(source.encode())
    assert (document.title, document.sections, document.parser_version) == ("Old one", (), "0.4.1")
    assert document.notes == ("GROBID found no body",)


def test_headless_divisions_namespaces_and_odd_characters_cost_nothing() -> None:
    assert headings(read_tei(tei(div("", "We begin.") + div("Methods", "We act.")))) == ["", "Methods"]
    source = tei(div("Introduction", "We begin."))
    plain = source.replace(b' xmlns="http://www.tei-c.org/ns/1.0"', b"")
    again = source.replace(b"<div>", b'<div xmlns="http://www.tei-c.org/ns/1.0">')
    assert read_tei(source) == read_tei(plain) == read_tei(again)
    odd = "infor\ufffema\x0btion&#xFFFE; &#2;is\u00ad &#xD800;here\u200b."
    assert texts(read_tei(tei(div("A", odd)))) == ["information is here."]


ENTITIES = "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
LAUGHS = f'<!DOCTYPE TEI [<!ENTITY a "ha">{ENTITIES}]><TEI>&i;</TEI>'
STOLEN = '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>'
HIDDEN = '<?xml version="1.0"?><!-- x --> <!DOCTYPE TEI SYSTEM "http://example.org/x.dtd"><TEI/>'
REFUSED = {
    "empty": (b"", "empty"),
    "truncated": (tei(div("A", "One."))[:-40], "cut off"),
    "ill-formed": (b"<TEI><p>one</TEI>", "well-formed"),
    "error text": (b"[NO_BLOCKS] PDF parsing resulted in empty content", "NO_BLOCKS"),
    "HTML page": (b"<!DOCTYPE html><html><body/></html>", "HTML"),
    "HTML without doctype": (b"<html><body/></html>", "a web page"),
    "external entity": (STOLEN.encode(), "document type"),
    "document type behind a comment": (HIDDEN.encode(), "document type"),
    "billion laughs": (LAUGHS.encode(), "document type"),
    "unknown entity": (b"<TEI>&nbsp;</TEI>", "well-formed"),
    "another encoding": ("<TEI>é</TEI>".encode("latin-1"), "UTF-8"),
    "UTF-16": ("<TEI/>".encode("utf-16"), "no text"),
    "too deep": (tei(div("A", "<hi>" * 150 + "deep" + "</hi>" * 150)), "deep"),
    "far too deep": (tei(div("A", "<hi>" * 5000 + "deep" + "</hi>" * 5000)), "well-formed"),
    "too large": (b"<TEI>" + b" " * LARGEST_TEI, "larger than 32 MiB"),
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_tei_is_refused(source: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        read_tei(source)


def test_a_file_reads_as_its_bytes_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="cannot be read"):
        read_tei(tmp_path / "none.tei.xml")
    with pytest.raises(ParseError, match="cannot be read"):
        read_tei(tmp_path)
    source = b"\xef\xbb\xbf" + tei(div("A", "Text."))
    file = tmp_path / "a.tei.xml"
    file.write_bytes(source)
    assert read_tei(file) == read_tei(source)


# Letters that spell no abbreviation, at which sentences would be joined.
WORD = st.text(alphabet="kqwxyz", min_size=3, max_size=8)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=4)


@given(st.lists(st.lists(PARAGRAPH, max_size=3), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_no_text_is_lost_boxes_fit(divisions: list[list[list[str]]], marked: bool, referring: bool) -> None:
    """Every word of every paragraph comes back in order; a marked sentence has exactly the boxes it had."""
    count = 0

    def mark(sentence: str) -> str:
        nonlocal count
        count += 1
        text = escape(sentence[:-1]) + ("<ref>[1]</ref>" if referring else "") + "."
        return f'<s coords="{count},1,1,1,1">{text}</s>' if marked else f"{text} "

    body = "".join(
        div(f"Part {chr(65 + place)} here", *("".join(map(mark, paragraph)) for paragraph in paragraphs))
        for place, paragraphs in enumerate(divisions)
    )
    document = read_tei(tei(body, header=abstract("<p>Abstract.</p>")))
    reference = " [1]" if referring else ""
    written = [
        " ".join(f"{sentence[:-1]}{reference}." for sentence in paragraph)
        for paragraphs in divisions
        for paragraph in paragraphs
    ]
    is_long = [text for text in written if len(text.split()) >= 8]
    if len(is_long) > len(set(is_long)):
        return
    assert " ".join(texts(document)) == " ".join(written)
    found = [
        sentence
        for section in document.sections
        for paragraph in section.paragraphs
        for sentence in paragraph.sentences
    ]
    assert [sentence.boxes for sentence in found] == [
        (Box(place, 1, 1, 1, 1),) if marked else () for place in range(1, count + 1)
    ]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(source: bytes) -> None:
    try:
        assert isinstance(read_tei(source), Document)
    except ParseError as error:
        assert str(error)


TAGS = "body back div head p s ref formula figure figDesc label note list item listBibl biblStruct".split()
TREE = st.recursive(
    st.text(alphabet="aB1 .,()[]\x0b<&", max_size=6).map(escape),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@given(TREE)
def test_any_tree_of_tei_elements_gives_a_document_or_a_parse_error(inner: str) -> None:
    try:
        document = read_tei(tei(inner))
    except ParseError:
        return
    for section in document.sections:
        for paragraph in section.paragraphs:
            assert paragraph.sentences
            assert all(
                sentence.text and sentence.text == sentence.text.strip() for sentence in paragraph.sentences
            )
