"""Title, authors, identifiers, abstract and bibliography of TEI: GROBID's surprises one by one."""

import pytest

from corpus.records import Author
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.tei.document import read_tei
from tests.indexer.parsers.small_tei import abstract, div, headings, source_desc, tei, texts


def person(first: str, family: str) -> str:
    name = f'<forename type="first">{first}</forename><surname>{family}</surname>'
    return f"<author><persName>{name}</persName></author>"


def test_authors_are_persons_and_collaborations_with_their_affiliations() -> None:
    inner = (
        '<author><persName><roleName>PhD</roleName><forename type="first">Ada</forename>'
        '<forename type="middle">K</forename><surname>Lovelace</surname><genName>Jr</genName></persName>'
        "<affiliation><orgName>Google Brain</orgName></affiliation></author>"
        + person("Google", "Brain")
        + person("", "Plato")
        + person("&amp;", "Sheng")
        + person("", "Introduction")
        + "<author><affiliation><orgName>University of Here</orgName></affiliation></author>"
        + '<author><orgName type="collaboration">ATLAS Collaboration</orgName></author>'
        + person("", "Plato")
    )
    document = read_tei(tei(div("A", "Text."), header=source_desc(f"<analytic>{inner}</analytic>")))
    assert document.authors == (
        Author("Ada K", "Lovelace Jr", ("Google Brain",)),
        Author("", "Plato"),
        Author("", "Sheng"),
        Author("", "ATLAS Collaboration"),
    )
    inner = "".join(
        f"<author><persName><surname>Li</surname></persName><affiliation><orgName>{name}</orgName></affiliation></author>"
        for name in ("Here", "There", "Here")
    )
    found = read_tei(tei(div("A", "Text."), header=source_desc(f"<analytic>{inner}</analytic>"))).authors
    assert found == (Author("", "Li", ("Here", "There")),)
    inner = "<analytic><author><affiliation><orgName>Keio</orgName></affiliation></author></analytic>"
    assert read_tei(tei(div("A", "Text."), header=source_desc(inner))).authors == ()
    # Of several persons in one element the first alone was read.
    names = "<persName><forename>Ida</forename><surname>Fen</surname></persName>"
    names += "<persName><forename>Ole</forename><nameLink>van</nameLink><surname>Marsh</surname></persName>"
    affiliation = "<affiliation><orgName>Weir Institute</orgName></affiliation>"
    header = source_desc(f"<analytic><author>{names}{affiliation}</author></analytic>")
    document = read_tei(tei(div("Intro", "Mills stand here."), header=header))
    assert [author.name for author in document.authors] == ["Ida Fen", "Ole van Marsh"]
    assert {author.affiliations for author in document.authors} == {("Weir Institute",)}
    inner = (
        '<analytic><author><persName><surname>Li</surname></persName><idno type="DOI">10.1/no</idno></author>'
        '</analytic><idno type="DOI">https://doi.org/10.1186/s12984-016-0129-6</idno>'
        '<idno type="arXiv">arXiv:2312.07559v2[cs.CL]</idno>'
    )
    document = read_tei(tei(div("A", "Text."), header=source_desc(inner)))
    assert (document.doi, document.arxiv_id) == ("10.1186/s12984-016-0129-6", "2312.07559v2")


AFFILIATION = (
    '<affiliation key="aff0"><orgName type="department">Dept. of Cats</orgName>'
    '<orgName type="laboratory">Purr Lab</orgName><orgName type="institution">Here University,</orgName>'
    "<address><addrLine>1 Road</addrLine><postCode>99</postCode><settlement>Here</settlement>"
    "<region>H</region>"
    '<country key="FR">France;</country></address></affiliation>'
)
ON_ONE_LINE = "Dept. of Cats, Purr Lab, Here University, Here, France"


@pytest.mark.parametrize(
    ("affiliations", "expected"),
    [
        (AFFILIATION, (ON_ONE_LINE,)),
        (AFFILIATION + AFFILIATION.replace("Purr Lab", "PURR LAB"), (ON_ONE_LINE,)),
        (AFFILIATION + "<affiliation><orgName>Other</orgName></affiliation>", (ON_ONE_LINE, "Other")),
        ("<affiliation><orgName>Oxford</orgName><settlement>Oxford</settlement></affiliation>", ("Oxford",)),
        ('<affiliation><note type="raw_affiliation">1 Keio, Tokyo</note></affiliation>', ("1 Keio, Tokyo",)),
        ("<affiliation/><affiliation><orgName> , </orgName></affiliation>", ()),
    ],
)
def test_affiliation_is_composed_into_one_line(affiliations: str, expected: tuple[str, ...]) -> None:
    author = f"<author><persName><surname>Li</surname></persName>{affiliations}</author>"
    (found,) = read_tei(tei(div("A", "Text."), header=source_desc(f"<analytic>{author}</analytic>"))).authors
    assert found == Author("", "Li", expected)


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ('<date type="published" when="2023-12-14">14 Dec 2023</date>', 2023),
        ('<date type="published">June 13, 2019</date>', 2019),
        ("<date/>", None),
        ('<date when="0000">n.d.</date>', None),
    ],
)
def test_year_is_read_where_there_is_one(date: str, year: int | None) -> None:
    header = f"<fileDesc><publicationStmt>{date}</publicationStmt></fileDesc>"
    assert read_tei(tei(div("A", "Text."), header=header)).year == year


@pytest.mark.parametrize(
    "keywords", ["<term>one</term><term>two words.</term>", "one; two words", "one, two words."]
)
def test_keywords_are_separated(keywords: str) -> None:
    header = f"<profileDesc><textClass><keywords>{keywords}</keywords></textClass></profileDesc>"
    assert read_tei(tei(div("A", "Text."), header=header)).keywords == ("one", "two words")


def test_abstracts_are_found_where_they_stand_with_their_headings() -> None:
    inner = "<div><p>Background: It was.</p></div><div><head>Methods</head><p>: It is. So.</p></div>"
    found = read_tei(tei(header=abstract(inner))).abstract
    assert [(paragraph.kind, paragraph.text) for paragraph in found] == [
        ("abstract", "Background: It was."),
        ("abstract", "Methods: It is. So."),
    ]
    document = read_tei(tei(div("Abstract", "In short.") + div("Introduction", "At length.")))
    assert [paragraph.text for paragraph in document.abstract] == ["In short."]
    assert headings(document) == ["Introduction"]


def bibliography(*entries: str) -> Document:
    inner = "".join(f"<biblStruct>{entry}</biblStruct>" for entry in entries)
    return read_tei(tei(div("A", "Text."), back=f'<div type="references"><listBibl>{inner}</listBibl></div>'))


def test_a_reference_is_printed_as_it_stood_or_composed() -> None:
    parts = (
        f'<analytic><title level="a">On it</title>{person("Ada", "Lovelace")}'
        '<idno type="DOI">10.1000/xyz</idno></analytic>'
        '<monogr><title level="j">Journal</title><imprint><biblScope unit="volume">7</biblScope>'
        '<biblScope unit="issue">1</biblScope><biblScope unit="page" from="3" to="9"/>'
        '<date when="2014-05">2014</date></imprint></monogr>'
    )
    raw = '<note type="raw_reference">A. Lovelace. 2014. On it.</note>'
    composed, printed = bibliography(parts, parts + raw).references
    assert composed.text == "Ada Lovelace. On it. Journal 7(1):3-9. 2014. doi:10.1000/xyz"
    assert printed.text == "A. Lovelace. 2014. On it."
    assert (printed.title, printed.authors, printed.year, printed.doi) == (
        "On it",
        ("Ada Lovelace",),
        2014,
        "10.1000/xyz",
    )
    (book,) = bibliography(
        f'<monogr>{person("Ada", "Lovelace")}<title level="m">Book</title></monogr>', ""
    ).references
    assert (book.title, book.authors, book.year) == ("Book", ("Ada Lovelace",), None)
    (reference,) = bibliography(
        '<analytic><title level="a">On it</title><idno type="DOI">https://doi.org/10.1000/xyz.</idno>'
        '<idno type="arXiv">arXiv:2301.10140[cs.DL]</idno></analytic>'
    ).references
    assert (reference.doi, reference.arxiv_id) == ("10.1000/xyz", "2301.10140")
    (reference,) = bibliography(
        '<analytic><title level="a">On it</title><ptr target="https://arxiv.org/abs/2301.10140"/></analytic>'
    ).references
    assert reference.arxiv_id == "2301.10140"


@pytest.mark.parametrize(
    ("printed", "doi", "arxiv_id"),
    [
        ("A. On it. CoRR, abs/1706.03762.", "", "1706.03762"),
        ("A. On it. arXiv preprint arXiv:2106.09685v2, 2021.", "", "2106.09685v2"),
        ("A. On it. https://arxiv.org/pdf/2106.09685.pdf", "", "2106.09685"),
        ("A. On it. arXiv: cs.CL/0102030.", "", "cs/0102030"),
        ("A. On it. https://doi.org/10.48550/arXiv.2305.14251.", "10.48550/arXiv.2305.14251", "2305.14251"),
        ("A. On it. (doi:10.1016/S0140-6736(05)17709-5).", "10.1016/S0140-6736(05)17709-5", ""),
        ("A. On it. https://doi.org/10.1000%2Fxyz;", "10.1000/xyz", ""),
        ("A. On it, 2023.12345 pages; ISBN 310.1000/1.", "", ""),
    ],
)
def test_identifiers_in_the_text_of_a_reference_are_found(printed: str, doi: str, arxiv_id: str) -> None:
    (reference,) = bibliography(f'<note type="raw_reference">{printed}</note>').references
    assert (reference.doi, reference.arxiv_id) == (doi, arxiv_id)


@pytest.mark.parametrize(
    "inner", ["We count mills.", "<ab>We count mills.</ab>", "<div>We count mills.</div>"]
)
def test_fault_an_abstract_without_paragraphs_was_lost(inner: str) -> None:
    document = read_tei(tei(div("Intro", "Mills stand here."), header=abstract(inner)))
    assert [paragraph.text for paragraph in document.abstract] == ["We count mills."]


@pytest.mark.parametrize(
    ("languages", "kept"),
    [(("pt", "en"), ["en"]), (("fr", "de"), ["fr"]), (("", "fr"), ["", "fr"]), (("de", "de"), ["de"])],
)
def test_fault_abstracts_in_several_languages_were_one(languages: tuple[str, str], kept: list[str]) -> None:
    said = (f' xml:lang="{code}"' if code else "" for code in languages)
    parts = [
        f"<abstract{lang}><p>It is {code}.</p></abstract>" for lang, code in zip(said, languages, strict=True)
    ]
    header = f"<profileDesc>{''.join(parts)}</profileDesc>"
    document = read_tei(tei(div("Intro", "Mills stand here."), header=header))
    assert [paragraph.text for paragraph in document.abstract] == [f"It is {code}." for code in kept]


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "windows-1252", "utf8"])
def test_fault_tei_in_the_encoding_that_it_declares_was_refused(encoding: str) -> None:
    source = tei(div("Intro", "Größe der Mühlen.")).decode().replace("UTF-8", encoding)
    assert texts(read_tei(source.encode(encoding))) == ["Größe der Mühlen."]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"[TIMEOUT] PDF to XML conversion timed out", "GROBID made no TEI of this paper: TIMEOUT"),
        (b"\n[BAD_INPUT_DATA] PDF to XML conversion failed", "BAD_INPUT_DATA"),
        (b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD" "x.dtd"><article/>', "JATS"),
        (b"<article><front/></article>", "JATS"),
        (b'<?xml version="1.0" encoding="klingon"?><TEI/>', "klingon, which is no encoding of text"),
    ],
)
def test_fault_what_stands_in_place_of_tei_was_told_as_broken_xml(source: bytes, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        read_tei(source)
