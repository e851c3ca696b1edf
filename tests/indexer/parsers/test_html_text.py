"""Web pages to documents: the text a reader sees, nothing that runs, nothing that is a menu."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.text.html import read_html
from tests.indexer.parsers.small_tei import texts

PROSE = "A page of the web has running text that somebody wants to read and to ask about. " * 5

PAGE = f"""<!doctype html><html><head><title>Site | On pages</title>
<meta name="citation_title" content="On pages"><meta name="citation_author" content="Lovelace, Ada">
<meta name="citation_author" content="Alan Turing">
<meta name="citation_publication_date" content="2021/05/02">
<meta name="citation_doi" content="10.1234/pages"><meta name="citation_abstract" content="Pages are read.">
<script>stolen()</script><style>p {{ color: red }}</style></head><body>
<nav><a href="/">Home</a><a href="/more">More pages</a></nav>
<main><h1>On pages</h1><p>{PROSE}</p><h2>1 Method</h2><p>We <b>read</b> pages<br>twice.</p>
<ul><li>First this.</li><li>Then that.</li></ul><script>alert("x")</script>
<table><caption>Table 1: Speed</caption><tr><th>Page</th><th>Words</th></tr>
<tr><td>One</td><td>12</td></tr></table>
<figure><figcaption>Figure 1: A page.</figcaption></figure><pre>a = 1
b = 2</pre><p hidden>not seen</p><form><button>Subscribe</button></form>
<h2>References</h2><p>[1] A. Turing. 1950. Computing machinery and intelligence.</p></main>
<footer>Imprint and privacy</footer></body></html>"""


def read(folder: Path, page: str | bytes) -> Document:
    path = folder / "page.html"
    path.write_bytes(page.encode() if isinstance(page, str) else page)
    return read_html(path)


def text_of(document: Document) -> str:
    return "\n".join(paragraph.text for section in document.sections for paragraph in section.paragraphs)


def test_a_page_tells_what_it_is_and_its_parts_become_sections_rows_and_captions(tmp_path: Path) -> None:
    document = read(tmp_path, PAGE)
    assert (document.title, document.year, document.doi) == ("On pages", 2021, "10.1234/pages")
    assert [author.name for author in document.authors] == ["Ada Lovelace", "Alan Turing"]
    assert document.abstract[0].text == "Pages are read."
    paths = [[section.heading for section in part.path] for part in document.sections]
    assert paths == [[], ["1 Method"]]
    method = document.sections[1].paragraphs
    assert [paragraph.text for paragraph in method] == [
        "We read pages twice.",
        "First this.",
        "Then that.",
        "Table 1: Speed",
        "Page | Words One | 12",
        "Figure 1: A page.",
        "a = 1 b = 2",
    ]
    assert [reference.text for reference in document.references] == [
        "[1] A. Turing. 1950. Computing machinery and intelligence."
    ]


@pytest.mark.parametrize(
    "unwanted", ["stolen", "alert", "color", "Home", "Subscribe", "Imprint", "not seen", "Site |"]
)
def test_what_a_reader_does_not_read_is_left_out(tmp_path: Path, unwanted: str) -> None:
    assert unwanted not in text_of(read(tmp_path, PAGE))


def test_menus_entities_and_endless_nesting_are_no_text(tmp_path: Path) -> None:
    page = f"<body><div><a href='/'>Home</a> <a href='/x'>All pages</a></div><h1>T</h1><p>{PROSE}</p></body>"
    document = read(tmp_path, page)
    assert document.title == "T"
    assert "All pages" not in text_of(document)
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    page = (
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]><html><body><p>&x; {PROSE}</p>'
        f'<iframe src="file://{secret}"></iframe></body></html>'
    )
    assert "the secret" not in text_of(read(tmp_path, page))
    assert PROSE[:40] in text_of(read(tmp_path, f"<p>{PROSE}</p>" + "<div><table><tr><td>" * 20_000 + "deep"))


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<html><body><div id=root></div><script>draw()</script></body></html>", "hardly any text"),
        ("<html><body><p>Sign in to read.</p></body></html>", "hardly any text"),
        ("<!-- nothing -->", "nothing"),
        ("   ", "empty"),
        (b"%PDF-1.4", "a PDF"),
    ],
)
def test_a_page_without_text_says_why(tmp_path: Path, page: str | bytes, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        read(tmp_path, page)


@given(page=st.text(alphabet="<>/=\"'&;!-? abcdehilmnoprtuv1\n", max_size=400))
def test_whatever_comes_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, page: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        document = read(folder, f"<script>stolen</script><p>{PROSE}</p>{page}")
    except ParseError:
        return
    assert "stolen" not in text_of(document)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("It grinds 10<sup>6</sup> grains of H<sub>2</sub>O.", "It grinds 10⁶ grains of H₂O."),
        ("Mills<sup><a href='#c'>[1]</a></sup> turn 2<sup>n+1</sup> times.", "Mills[1] turn 2^{n+1} times."),
        (
            "Rank <math><msup><mn>10</mn><mn>4</mn></msup><annotation>10^4</annotation></math> is it.",
            "Rank 10⁴ is it.",
        ),
        (
            "So <math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>, <script type='math/tex'>x^2</script>.",
            "So a/b , $x^2$ .",
        ),
        (r"So <img class='mwe-math-fallback-image' alt='{\displaystyle x^{2}}'> here.", "So $x^{2}$ here."),
        ("The <ruby>水<rp>(</rp><rt>みず</rt><rp>)</rp></ruby> flows.", "The 水 flows."),
    ],
)
def test_fault_raised_figures_and_formulas_keep_their_value(tmp_path: Path, html: str, text: str) -> None:
    document = read(
        tmp_path, f"<article><h1>On mills</h1><p>{html}</p><p>{'Mills turn. ' * 40}</p></article>"
    )
    assert texts(document)[0] == text


def test_fault_tables_lost_rows_cells_and_what_is_in_them(tmp_path: Path) -> None:
    inner = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    rows = f"<tr><td><p>Cog</p></td><td><p>91</p><p>92</p></td></tr><tr><td>x</td><td>{inner}</td></tr>"
    document = read(
        tmp_path, f"<article><h1>On mills</h1><p>{'Mills turn. ' * 40}</p><table>{rows}</table></article>"
    )
    assert [row.text for row in document.sections[0].paragraphs[1].sentences] == [
        "Cog | 91 92",
        "x | 1, 2; 3, 4",
    ]
    rows = (
        "<tr><th>Mill</th><th colspan='2'>Teeth</th><th>Year</th></tr>"
        "<tr><td rowspan='2'>Cog</td><td>1</td><td>2</td><td rowspan=2>1901</td></tr>"
        "<tr><td>3</td><td>4</td></tr><tr><td>Ox</td><td>5</td><td>6</td><td>1902</td></tr>"
    )
    page = f"<article><h1>On mills</h1><p>{'Mills turn. ' * 40}</p><table>{rows}</table></article>"
    assert [row.text for row in read(tmp_path, page).sections[0].paragraphs[1].sentences] == [
        "Mill | Teeth | Year",
        "Cog | 1 | 2 | 1901",
        "Cog | 3 | 4 | 1901",
        "Ox | 5 | 6 | 1902",
    ]
    cell = f"<h1>On mills</h1><p>{'Mills turn. ' * 50}</p><p>They stop.</p>"
    document = read(tmp_path, f"<table><tr><td>Menu</td><td>{cell}</td></tr></table>")
    assert "They stop." in texts(document)


def test_fault_notes_of_latexml_stood_in_the_middle_of_sentences(tmp_path: Path) -> None:
    note = (
        '<span id="footnote1" class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup>'
        '<span class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup>'
        '<span class="ltx_tag ltx_tag_note">1</span>Of <em>stone</em>, in 1800.</span></span></span>'
    )
    document = read(
        tmp_path,
        f"<article><h1>On mills</h1><p>{PROSE}</p><p>The mill{note} grinds.</p>"
        f"<table><tr><td>Mill{note}</td><td>12</td></tr><tr><td>Weir</td><td>7</td></tr></table></article>",
    )
    assert texts(document)[1:] == [
        "The mill grinds.",
        "Of stone, in 1800.",
        "Mill | 12 Weir | 7",
        "Of stone, in 1800.",
    ]
    assert [p.kind for p in document.sections[0].paragraphs] == ["body", "body", "note", "body", "note"]


@pytest.mark.parametrize(
    "banner",
    [
        '<div id="cookie-banner"><p>We use cookies. Accept them all.</p></div>',
        '<section class="site-cookie-consent open"><p>We use cookies.</p><p>Accept.</p></section>',
        '<div id="onetrust-consent-sdk"><div><p>Your privacy.</p></div></div>',
        '<div class="cc-window cc-bottom"><span>This site uses cookies.</span></div>',
    ],
)
def test_fault_a_banner_on_cookies_was_read_as_text(tmp_path: Path, banner: str) -> None:
    document = read(tmp_path, f"<body>{banner}<h1>On mills</h1><p>{PROSE}</p></body>")
    assert texts(document) == [PROSE.strip()]


def test_text_on_cookies_stays_and_links_to_edit_a_section_go(tmp_path: Path) -> None:
    page = f'<main><h1>On cookies</h1><section id="cookies"><h2>Cookies</h2><p>{PROSE}</p></section></main>'
    assert texts(read(tmp_path, page)) == [PROSE.strip()]
    # Links to edit a section stood in its heading.
    link = '<span class="mw-editsection"><span>[</span><a href="/e">edit</a><span>]</span></span>'
    page = f"<main><h1>On mills</h1><h2>History{link}</h2><p>{PROSE}</p></main>"
    assert read(tmp_path, page).sections[0].path[-1].title == "History"


@pytest.mark.parametrize(
    "tags",
    [
        '<meta name="citation_authors" content="Fen, Ida; Marsh, Ole">',
        '<meta name="DC.Creator.PersonalName" content="Ida Fen;Ole Marsh">',
        '<meta name="DC.creator" content="Ida Fen"><meta name="DC.creator" content="Ole Marsh">',
    ],
)
def test_fault_authors_in_other_tags_were_not_read(tmp_path: Path, tags: str) -> None:
    head = '<meta name="citation_title" content="On &lt;i&gt;mills&lt;/i&gt; &amp;amp; weirs">'
    date = '<meta name="citation_online_date" content="2020/3/1">'
    document = read(tmp_path, f"<head>{head}{tags}{date}</head><body><main><p>{PROSE}</p></main></body>")
    assert [author.name for author in document.authors] == ["Ida Fen", "Ole Marsh"]
    assert (document.title, document.year) == ("On mills & weirs", 2020)
