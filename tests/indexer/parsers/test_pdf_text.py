"""Tests of indexer.pdf_text: on small files written here, and on real papers where they are at hand."""

import csv
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pypdfium2
import pytest
from acl_anthology import Anthology
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from indexer.errors import ParseError
from indexer.parsers.document import Document, Paragraph
from indexer.parsers.pdf.document import PARSER, read_pdf
from indexer.parsers.pdf.front_matter import without_run_in
from indexer.parsers.pdf.headings import parse_heading
from indexer.parsers.pdf.paragraphs import Vocabulary
from indexer.parsers.pdf.references import read_reference
from tests.small_pdf import put, write_pdf

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
needs_papers = pytest.mark.skipif(not (SHARED / "acl_pdfs").is_dir(), reason="the real papers are not here")
TEI = "{http://www.tei-c.org/ns/1.0}"


def column(x: float, y: float, lines: list[str]) -> list[str]:
    """Set lines one under the other; "#" begins a heading, ">" indents a line, "~" begins small print."""
    out = []
    for text in lines:
        if text.startswith("#"):
            y -= 12
            out.append(put(x, y, text[1:], 12, "B"))
            y -= 6
        elif text.startswith("~"):
            out.append(put(x, y, text[1:], 8))
        else:
            out.append(put(x + (12 if text.startswith(">") else 0), y, text.lstrip(">")))
        y -= 12
    return out


LEFT = [
    "#Abstract",
    "We read pages of papers and find their parts.",
    "It works well in two columns of running text.",
    "#1 Introduction",
    "The first sentence stands on the left side. The",
    "second one is cut, as the word infor-",
    "mation shows. A state-of-the-art system keeps",
    "its hyphens, and so does a well known state-",
    "of-the-art one. Some information is repeated here.",
    ">A second paragraph is indented and it runs on",
    "to the next column without any stop at the",
]
RIGHT = [
    "end of the first one, where it goes on quietly.",
    "#2 Method",
    "#2.1 Data",
    "We take the data from somewhere else entirely.",
    "Figure 1 shows what we have taken from there.",
    "#3 Conclusion",
    "That is all there is to say about the matter.",
    "#References",
    "Ann Lee. 2020. Reading pages of many papers. In",
    ">Proceedings of Reading.",
    "Bo Kim. 2019. Finding the parts of papers. In",
    ">Journal of Parts, 3(2):1-9.",
]


def paper(interleaved: bool = False) -> list[str]:
    """Return two pages of a paper in two columns; interleaved, its lines alternate between the columns."""
    left, right = column(72, 600, LEFT), column(320, 600, RIGHT)
    body = (
        [part for pair in zip(left, right, strict=False) for part in pair] if interleaved else [*left, *right]
    )
    body += right[len(left) :] if interleaved else []
    head = put(60, 760, "Proceedings of the Second Workshop on Pages, pages 1-2", 8)
    title = put(150, 720, "Reading Pages of Papers", 16, "B") + put(150, 702, "Without a Server", 16, "B")
    authors = put(200, 670, "Ann Lee and Bo Kim", 11) + put(200, 656, "University of Pages", 11)
    note = put(72, 90, "1 This is a note at the foot of the page.", 8)
    return [head + title + authors + "".join(body) + note + put(300, 30, "1")]


def body_text(document: Document) -> str:
    return " ".join(p.text for section in document.sections for p in section.paragraphs)


@pytest.fixture(params=[False, True], ids=["column after column", "line after line"])
def document(request: pytest.FixtureRequest, tmp_path: Path) -> Document:
    return read_pdf(write_pdf(tmp_path / "paper.pdf", paper(request.param)))


def test_the_parts_of_a_paper_in_two_columns_are_found(document: Document) -> None:
    assert document.title == "Reading Pages of Papers Without a Server"
    assert [author.name for author in document.authors] == ["Ann Lee", "Bo Kim"]
    assert [p.text for p in document.abstract] == [
        "We read pages of papers and find their parts. It works well in two columns of running text."
    ]
    assert (document.parser, document.page_count) == (PARSER, 1)
    assert document.parser_version
    paths = [" > ".join(s.heading for s in section.path) for section in document.sections]
    assert paths == ["1 Introduction", "2 Method", "2 Method > 2.1 Data", "3 Conclusion"]
    assert document.sections[2].path[-1].number == "2.1"
    first, second = (p.text for p in document.sections[0].paragraphs if p.kind == "body")
    assert "as the word information shows." in first
    assert "a well known state-of-the-art one." in first
    assert second.endswith("without any stop at the end of the first one, where it goes on quietly.")
    notes = [p.text for section in document.sections for p in section.paragraphs if p.kind == "note"]
    assert notes == ["1 This is a note at the foot of the page."]
    assert "Proceedings of the Second" not in body_text(document)
    assert [(r.year, r.title) for r in document.references] == [
        (2020, "Reading pages of many papers"),
        (2019, "Finding the parts of papers"),
    ]
    sentence = next(p for p in document.sections[0].paragraphs).sentences[1]
    assert sentence.text == "The second one is cut, as the word information shows."
    assert len(sentence.boxes) == 3
    assert all(later.y > earlier.y for earlier, later in pairwise(sentence.boxes))


def test_every_sentence_has_boxes_over_its_words(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "paper.pdf", paper())
    check_boxes(path, read_pdf(path), least=0.99)


def test_one_column_with_captions(tmp_path: Path) -> None:
    lines = ["#1 Introduction"]
    lines += [f"This is line {word} of a text that is as wide as the whole page is." for word in "abcdefgh"]
    page = put(72, 740, "A Paper in One Column", 16, "B") + "".join(column(72, 700, lines))
    page += put(72, 500, "Table 1: What the table shows.", 9) + put(
        72, 460, "The text goes on after the table."
    )
    (section,) = read_pdf(write_pdf(tmp_path / "a.pdf", [page])).sections
    kinds = [(p.kind, p.text) for p in section.paragraphs]
    assert ("caption", "Table 1: What the table shows.") in kinds
    assert kinds[0][0] == "body"
    assert "line a of a text" in kinds[0][1]


def test_running_heads_and_line_numbers_are_dropped(tmp_path: Path) -> None:
    pages = []
    for number in range(1, 4):
        rows = [f"Row {word * number} of this page says something new." for word in "abcdefghijklmnopqr"]
        pages.append(
            put(200, 765, "A Running Head of the Paper", 9)
            + "".join(column(110, 720, rows))
            + "".join(put(60, 720 - 12 * i, f"{(number - 1) * 18 + i:03}", 8) for i in range(18))
            + put(300, 30, str(number))
        )
    text = body_text(read_pdf(write_pdf(tmp_path / "a.pdf", pages)))
    assert "Running Head" not in text
    assert not re.search(r"\b0\d\d\b", text)
    assert text.count("Row") == 53  # the first row is taken for the title


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 255)), max_size=40), st.integers(0, 6000))
def test_damaged_files_are_read_or_refused(tmp_path: Path, changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(write_pdf(tmp_path / "good.pdf", paper()).read_bytes())
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path / "damaged.pdf"
    path.write_bytes(bytes(data[: max(end, 2000)]))
    try:
        check_text(read_pdf(path))
    except ParseError as error:
        assert "damaged.pdf" in str(error)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.floats(0, 600),
            st.floats(0, 780),
            st.text(st.characters(codec="cp1252"), min_size=1, max_size=30),
            st.sampled_from([0.1, 5, 10, 11, 14, 90]),
            st.sampled_from("FBI"),
        ),
        min_size=3,
        max_size=40,
    )
)
def test_any_page_is_readable(tmp_path: Path, words: list[tuple[float, float, str, float, str]]) -> None:
    page = "".join(put(*word) for word in words)
    path = write_pdf(tmp_path / "a.pdf", [page, page])
    try:
        check_text(read_pdf(path))
    except ParseError as error:
        assert "text" in str(error)


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("1 Introduction", "1", "Introduction"),
        ("2. Related Work", "2", "Related Work"),
        ("3.1.2 The data", "3.1.2", "The data"),
        ("IV. RESULTS", "IV", "RESULTS"),
        ("A.2 Proofs", "A.2", "Proofs"),
        ("Appendix B Details", "Appendix B", "Details"),
        ("A new way", "", "A new way"),
        ("I think so", "", "I think so"),
        ("2 of them", "", "2 of them"),
        ("Conclusion", "", "Conclusion"),
    ],
)
def test_headings_are_parsed(text: str, number: str, title: str) -> None:
    section = parse_heading(text)
    assert (section.number, section.title) == (number, title)


def test_an_unknown_hyphen_is_joined_unless_it_stands_in_a_compound_or_a_name() -> None:
    vocabulary = Vocabulary(())
    assert vocabulary.joint("infor", "mation") == ""
    assert vocabulary.joint("Context", "Free") == "-"
    assert vocabulary.joint("GPT", "4") == "-"
    assert vocabulary.joint("entailment", "based") == "-"
    assert vocabulary.joint("Com", "bANZ") == ""


def test_only_what_is_certain_of_a_reference_or_an_abstract_is_told(tmp_path: Path) -> None:
    text = "A. Lee and B. Kim, “Reading the pages,” in Proc. Pages, 2019, pp. 1–9. doi:10.1000/xyz.12."
    reference = read_reference(text)
    assert (reference.text, reference.title, reference.year, reference.doi) == (
        text,
        "Reading the pages",
        2019,
        "10.1000/xyz.12",
    )
    assert read_reference("Two years, 1999 and 2001.").year is None
    assert without_run_in("Summary. We read.") == "We read."
    assert without_run_in("ROUGE scores a summary: by words.") == "ROUGE scores a summary: by words."
    page = TITLE + "".join(
        column(72, 640, [*running_text("Plain", 8), "#1 Method", *running_text("Then", 20)])
    )
    assert read_pdf(write_pdf(tmp_path / "a.pdf", [page])).abstract == ()


def check_text(document: Document) -> None:
    paragraphs = [*document.abstract, *(p for s in document.sections for p in s.paragraphs)]
    headings = [s.heading for section in document.sections for s in section.path]
    texts = [document.title, *headings, *(p.text for p in paragraphs), *(r.text for r in document.references)]
    for text in texts:
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn", "Co")]
    for piece in (piece for p in paragraphs for piece in p.sentences):
        assert piece.text
        assert piece.text == piece.text.strip()
        assert piece.boxes
        assert all(1 <= box.page <= document.page_count for box in piece.boxes)


def squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text)).lower()


def check_boxes(path: Path, document: Document, least: float) -> None:
    """Compare each sentence with what PDFium itself reads within its boxes."""
    same = total = 0
    with pypdfium2.PdfDocument(path) as pdf:
        for paragraph in (p for s in document.sections for p in s.paragraphs if p.kind == "body"):
            for piece in paragraph.sentences:
                text = ""
                for box in piece.boxes:
                    page = pdf[box.page - 1]
                    top = page.get_height() - box.y
                    bounds = (box.x - 0.3, top - box.height + 0.3, box.x + box.width + 0.3, top - 0.3)
                    text += page.get_textpage().get_text_bounded(*bounds)
                got, wanted = Counter(squeeze(text)), Counter(squeeze(piece.text))
                total += sum(wanted.values())
                same += sum((got & wanted).values())
    assert same >= least * total


# Faults seen in real papers; each test is named after what went wrong.

WORDS = "we tell of the pages that hold so many small words and of those who read them all the year".split()


def running_text(first: str, rows: int) -> list[str]:
    """Return lines of prose of nearly the same width; the first begins with a word of its own."""
    lines = [" ".join(WORDS[(5 * row + k) % len(WORDS)] for k in range(11)) for row in range(rows)]
    return [f"{first} {lines[0][8:]}", *lines[1:]]


def two_columns(left: list[str], right: list[str], y: float = 720) -> str:
    return "".join(column(72, y, left) + column(320, y, right))


def texts(document: Document, kind: str) -> list[str]:
    return [p.text for section in document.sections for p in section.paragraphs if p.kind == kind]


TITLE = put(150, 745, "Reading Pages of Papers", 16, "B")


@pytest.mark.parametrize(
    "foot",
    [
        put(72, 38, "Written for reading by its makers. CC0 1.0: no rights reserved.", 8),
        put(190, 38, "Proceedings of Reading, pages 1-15", 8) + put(200, 28, "May 22-27, 2022 c 2022 ACL", 8),
        put(72, 60, "This work is licensed under a Creative Commons licence.", 8),
        put(72, 60, "arXiv:2603.03018v1 [cs.AI] 3 Mar 2026", 8),
    ],
    ids=["notice across the page", "proceedings and place", "licence in the left column", "stamp"],
)
def test_a_foot_of_the_first_page_only_stays_out_of_paragraphs(tmp_path: Path, foot: str) -> None:
    left = ["#1 Introduction", *running_text("Leftward", 45)]
    first = TITLE + two_columns(left, running_text("Rightward", 46)) + foot
    second = two_columns([*running_text("Overleaf", 12), "#2 Method", *running_text("Method", 8)], [])
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [first, second]))
    bodies = texts(document, "body")
    assert any("Rightward" in text and "Overleaf" in text for text in bodies)
    for word in ("Written", "Proceedings", "2022", "licensed", "arXiv"):
        assert word not in body_text(document)


def test_notes_of_authors_and_titles_that_swap_sides_stay_out_of_the_text(tmp_path: Path) -> None:
    left = ["#1 Introduction", *running_text("Leftward", 40)]
    notes = put(72, 190, "A. Lee and B. Kim are with the Department of Pages.", 8)
    notes += put(72, 180, "Emails: lee@pages.org", 8)
    page = TITLE + two_columns(left, running_text("Rightward", 44)) + notes
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [page]))
    assert texts(document, "note") == [
        "A. Lee and B. Kim are with the Department of Pages. Emails: lee@pages.org"
    ]
    assert "Department" not in " ".join(texts(document, "body"))
    pages = [TITLE + "".join(column(72, 700, running_text(f"Page{n}", 40))) for n in (1, 2)]
    feet = [put(400, 30, "Notes on Reading 1", 8), put(72, 30, "Notes on Reading", 8) + put(530, 30, "2", 8)]
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [a + b for a, b in zip(pages, feet, strict=True)]))
    assert "Notes on Reading" not in body_text(document)


def test_a_last_page_with_little_on_the_right_keeps_its_columns(tmp_path: Path) -> None:
    left = ["#1 Introduction", *running_text("Leftward", 45)]
    first = TITLE + two_columns(left, running_text("Rightward", 46))
    rest = [put(320, 720, "Abe See and Bo Kim. 2017. Get To The Point Of", 8)]
    rest += [put(328, 710, "Summaries With Networks.", 8), put(328, 700, "Reading.", 8)]
    entry = ["Ann Lee and Bo Kim. 2016. Reading many long pages of", ">papers. Reading."]
    begin = [">Overleaf we go on with", *running_text("what", 20), "#References", *entry]
    second = "".join(column(72, 720, begin)) + "".join(rest)
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [first, second]))
    assert texts(document, "caption") == []
    assert [text for text in texts(document, "body") if "Overleaf" in text and "Abe" not in text]
    assert [r.text for r in document.references][1:] == [
        "Abe See and Bo Kim. 2017. Get To The Point Of Summaries With Networks. Reading."
    ]


def test_a_table_across_a_page_does_not_hide_the_columns_under_it(tmp_path: Path) -> None:
    pages = [two_columns(running_text(f"Left{n}", 40), running_text(f"Right{n}", 40)) for n in (1, 2, 3)]
    cells = [f"word{r} {r}.1 {r}.2 {r}.3 {r}.4 {r}.5 {r}.6 {r}.7" for r in range(10, 34)]
    table = [
        put(180 + 30 * k + 15 * (k > 0), 720 - 12 * row, cell)
        for row, text in enumerate(cells)
        for k, cell in enumerate(text.split())
    ]
    under = two_columns(running_text("Underleft", 8), running_text("Underright", 8), y=400)
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + pages[0], *pages[1:], "".join(table) + under]))
    assert "word12 12.1 12.2 12.3 12.4 12.5 12.6 12.7" in " ".join(texts(document, "caption"))
    assert " ".join(running_text("Underleft", 8)) in " ".join(texts(document, "body"))
    assert "Under" not in " ".join(texts(document, "caption"))


def test_rows_at_the_same_height_of_several_pages_are_no_artifacts(tmp_path: Path) -> None:
    pages = []
    for number in (1, 2, 3):
        rows = [f"word{k} {number}{k}.5% {number}{k}.7%" for k in range(5)]
        cells = [
            put(72 + 90 * k, 700 - 12 * row, cell)
            for row, text in enumerate(rows)
            for k, cell in enumerate(text.split())
        ]
        text = "".join(column(72, 600, running_text(f"Page{number}", 30)))
        pages.append(
            "".join(cells)
            + put(72, 635, f"Table {number}: What is in it.")
            + text
            + put(300, 30, str(number))
        )
    text = body_text(read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + pages[0], *pages[1:]])))
    assert all(f"{number}0.5%; {number}0.7%" in text for number in (1, 2, 3))
    assert not re.search(r"(?<!\S)[123](?!\S)", text.replace("Table ", "Table"))


@pytest.mark.parametrize(
    "opening",
    [
        put(72, 640, "Abstract", 10, "B")
        + put(118, 640, "We read the pages of papers and find what is in them."),
        put(72, 640, "Abstract. We read the pages of papers and find what is in them."),
        put(72, 640, "ABSTRACT: We read the pages of papers and find what is in them."),
        put(72, 640, "Abstract\u2014We read the pages of papers and find what is in them.", 10, "B"),
        put(72, 640, "We read the pages of papers and find what is in them."),
    ],
    ids=["bold word", "full stop", "colon", "dash", "no heading"],
)
def test_an_abstract_without_a_heading_of_its_own(tmp_path: Path, opening: str) -> None:
    rest = [*running_text("it", 5), "and that is all there is to say."]
    lines = "".join(put(72, 628 - 12 * row, text) for row, text in enumerate(rest))
    body = "".join(column(72, 540, ["#1 Introduction", *running_text("Introduced", 30)]))
    authors = put(200, 700, "Ann Lee and Bo Kim", 11)
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + authors + opening + lines + body]))
    (abstract,) = document.abstract
    assert abstract.text.startswith("We read the pages of papers and find what is in them.")
    assert abstract.text.endswith("and that is all there is to say.")
    assert [author.name for author in document.authors] == ["Ann Lee", "Bo Kim"]
    assert "We read" not in body_text(document)


def test_authors_are_read_without_an_abstract_and_in_two_columns(tmp_path: Path) -> None:
    authors = [
        put(120, 700, "Ann Lee", 11),
        put(110, 686, "University of Pages"),
        put(115, 672, "lee@pages.org"),
    ]
    authors += [
        put(370, 700, "Bo Kim", 11),
        put(360, 686, "College of Papers"),
        put(365, 672, "kim@papers.org"),
    ]
    left = ["#Abstract", *running_text("Abstractly", 8), "#1 Introduction", *running_text("Introduced", 20)]
    page = TITLE + "".join(authors) + two_columns(left, running_text("Rightward", 34), y=640)
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [page]))
    assert document.abstract
    for word in ("Kim", "College", "papers.org"):
        assert word not in body_text(document)
    assert "Rightward" in body_text(document)
    assert [author.name for author in document.authors] == ["Ann Lee", "Bo Kim"]
    lines = put(200, 700, "Ann Lee and Bo Kim", 11) + "".join(column(72, 640, ["#1 Introduction", *LEFT[3:]]))
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + lines]))
    assert [author.name for author in document.authors] == ["Ann Lee", "Bo Kim"]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (["*Ann Lee", "University of Pages", "*Bo van der Kim", "Papers, France"], "Ann Lee, Bo van der Kim"),
        (["Ann Lee1,2, Bo Kim and Cy", "Young3", "1University of Pages"], "Ann Lee, Bo Kim, Cy Young"),
        (["Ann Lee, Bo Kim, Cy de", "Ys, Di Moss", "1Papers, France"], "Ann Lee, Bo Kim, Cy de Ys, Di Moss"),
        (["Ann Lee[0009-0009-1717-851X], Bo Kim", "Papers, France"], "Ann Lee, Bo Kim"),
        (["Ann Lee, Senior Member, IEEE, and Bo Kim, Fellow, IEEE"], "Ann Lee, Bo Kim"),
        (["LEE Ann KIM BoMi", "21 High Street Hill"], "Ann Lee, BoMi Kim"),
        (["Ann Lee", "Bo Kim", "Papers, France"], "Ann Lee, Bo Kim"),
        (["*Ann Lee", "Papers Avenue", "High Street Hill"], "Ann Lee"),
        (["Submitted to nobody", "*Ann Lee"], ""),
    ],
)  # fmt: skip
def test_authors_stand_in_blocks_and_rows(tmp_path: Path, rows: list[str], names: str) -> None:
    lines = [
        put(150, 700 - 13 * row, text.lstrip("*"), 11, "B" if text[0] == "*" else "F")
        for row, text in enumerate(rows)
    ]
    body = column(
        72, 620, ["#Abstract", *running_text("Abstractly", 8), "#1 Introduction", "It begins here."]
    )
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [TITLE + "".join(lines) + "".join(body)]))
    assert ", ".join(author.name for author in document.authors) == names


@pytest.mark.parametrize("second", ["Without a Server", "Serverless"])
def test_a_title_goes_on_right_above_the_abstract(tmp_path: Path, second: str) -> None:
    title = TITLE + put(150, 727, second, 16, "B")
    body = column(72, 640, ["#Abstract", *running_text("Abstractly", 8), "#1 Introduction", *LEFT[3:]])
    document = read_pdf(write_pdf(tmp_path / "a.pdf", [title + "".join(body)]))
    assert document.title == f"Reading Pages of Papers {second}"


@pytest.mark.parametrize(
    ("head", "foot", "year"),
    [
        ("Proceedings of the Second Workshop on Pages, pages 1-2", "Oslo, June 2005.", 2005),
        ("", "Oslo, 30 March 2009. flc 2009 Association for Pages", 2009),
        ("Journal of Pages, since 1987", "Copyright 2004 Pages", 2004),
        ("", "\u00a9 2016 Lee et al. Open Access", 2016),
        ("Journal of Pages, since 1987", "Oslo, June 2005.", None),
        ("Reading pages since 1987", "", None),
        ("", "Call 2005 for papers", None),
    ],
)
def test_the_year_is_of_copyright_or_imprint(tmp_path: Path, head: str, foot: str, year: int | None) -> None:
    body = column(
        72, 640, ["#Abstract", "In June 2001 a journal of 2002 was read.", "#1 Introduction", *LEFT[3:]]
    )
    page = put(60, 770, head, 8) + TITLE + "".join(body) + put(60, 40, foot, 8)
    assert read_pdf(write_pdf(tmp_path / "a.pdf", [page])).year == year


def test_a_page_that_cannot_be_loaded_is_noted(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [*paper(), "", *paper()])
    path.write_bytes(path.read_bytes().replace(b"[6 0 R 8 0 R 10 0 R]", b"[6 0 R 1 0 R 10 0 R]"))
    document = read_pdf(path)
    assert document.notes == ("page 2 is damaged and left out",)
    assert document.page_count == 3
    path.write_bytes(path.read_bytes().replace(b"[6 0 R 1 0 R 10 0 R]", b"[1 0 R 1 0 R 1 0 R]"))
    with pytest.raises(ParseError, match="none of its 3 pages can be loaded"):
        read_pdf(path)


def set_with_marks(x: float, y: float, text: str) -> str:
    """Set a line in which what stands between carets is smaller and raised, as TeX does."""
    pieces = []
    for number, piece in enumerate(text.split("^")):
        size, rise = (7, 3.6) if number % 2 else (10, 0)
        escaped = piece.replace("(", r"\(").replace(")", r"\)")
        pieces.append(f"/F {size} Tf {rise} Ts ({escaped}) Tj")
    return f"BT {x} {y} Td {' '.join(pieces)} ET\n"


def test_marks_of_footnotes_are_no_part_of_words_and_exponents_are(tmp_path: Path) -> None:
    """“Hurts performance,14 except” was quoted so, and “benchmark.1 The” was one sentence with the next."""
    lines = (
        "It is the best one on the benchmark.^1^ The other hurts the",
        "performance,^14^ as a survey^2,3^ says (Lee, 2020).^*^ We add x^2^",
        "and log(a + b)^2^ to the model and call that one Model2 then.",
    )
    marked = "".join(set_with_marks(72, 700 - 12 * at, line) for at, line in enumerate(lines))
    pages = [put(72, 740, "1 Results", 12, "B") + marked]
    (section,) = read_pdf(write_pdf(tmp_path / "a.pdf", pages)).sections
    assert [piece.text for paragraph in section.paragraphs for piece in paragraph.sentences] == [
        "It is the best one on the benchmark.",
        "The other hurts the performance, as a survey says (Lee, 2020).",
        "We add x² and log(a + b)² to the model and call that one Model2 then.",
    ]


DEMO = sorted((Path(__file__).parents[3] / "corpus" / "demo" / "pdf").glob("*.pdf"))


@pytest.mark.skipif(not DEMO, reason="the demo papers are not here")
def test_hyphens_and_formulas_at_line_breaks_of_demo_papers_are_resolved() -> None:
    document = next(real_paper(path) for path in DEMO if path.stem == "attribution")
    assert isinstance(document, Document)
    assert "asks for a binary judgement (Li et al., 2024)" in body_text(document)
    document = next(real_paper(path) for path in DEMO if path.stem == "bm25")
    assert isinstance(document, Document)
    starts = [p.sentences[0].text for section in document.sections for p in section.paragraphs]
    assert any(text.startswith("w = idf") and text.endswith("avdl))") for text in starts)
    assert any(text.startswith("Here tf is the number") for text in starts)
    for path in DEMO:
        document = real_paper(path)
        assert isinstance(document, Document)
        text = body_text(document) + " ".join(r.text for r in document.references)
        assert "Written for demonstration" not in text
        assert "Field Notes on" not in text
        for caption in texts(document, "caption"):
            assert caption.startswith("Table") or len(re.findall(r"\b(?:the|of|and|is)\b", caption)) < 4


@pytest.mark.skipif(not DEMO, reason="the demo papers are not here")
@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("late-interaction", "end-to-end retrieval"),
        ("bertscore", "sequence-to-sequence model"),
        ("rank-fusion", "non-relevant"),
        ("chunking", "Multi-paragraph"),
        ("attribution", "fine-grained"),
    ],
)
def test_a_compound_broken_at_its_own_hyphen_keeps_it(stem: str, words: str) -> None:
    document = next(real_paper(path) for path in DEMO if path.stem == stem)
    assert isinstance(document, Document)
    text = body_text(document) + " ".join(reference.text for reference in document.references)
    assert words in text
    assert words.replace("-", "") not in text
    assert re.sub(r"-(?=[^-]*$)", "", words) not in text


# From here on: measurements on real papers.


@cache
def real_paper(path: Path) -> Document | ParseError:
    try:
        return read_pdf(path)
    except ParseError as error:
        return error


def acl_papers() -> Iterator[tuple[str, Document]]:
    for path in sorted((SHARED / "acl_pdfs").glob("*.pdf")):
        document = real_paper(path)
        if isinstance(document, Document):
            yield path.stem, document


@needs_papers
def test_titles_and_abstracts_of_real_papers() -> None:
    anthology = Anthology(datadir=str(SHARED / "acl_anthology"))
    wrong = [
        (stem, document.title)
        for stem, document in acl_papers()
        if squeeze(str(anthology.get(stem).title)) != squeeze(document.title)  # type: ignore[union-attr]
    ]
    assert len(wrong) <= 2, wrong
    scores = {}
    for stem, document in acl_papers():
        wanted = printed_abstract(SHARED / "acl_pdfs" / f"{stem}.pdf")
        if wanted:
            scores[stem] = overlap(" ".join(p.text for p in document.abstract), wanted)
    assert len(scores) >= 20
    assert sum(score > 0.9 for score in scores.values()) >= 20, scores
    errors = {p.stem: real_paper(p) for p in sorted((SHARED / "acl_pdfs").glob("*.pdf"))}
    messages = {stem: str(e) for stem, e in errors.items() if isinstance(e, ParseError)}
    assert set(messages) == {"L08-1037", "L08-1055", "L08-1071", "L08-1188", "E03-1007", "P134_n09"}
    assert all("not a PDF" in messages[stem] for stem in messages if stem.startswith("L08"))
    assert all("no text layer" in messages[stem] for stem in ("E03-1007", "P134_n09"))


def printed_abstract(path: Path) -> str:
    """Return the printed text from "Abstract" to the introduction, in the order of the file."""
    with pypdfium2.PdfDocument(path) as document:
        text = "\n".join(document[i].get_textpage().get_text_range().replace("\r", "") for i in (0, 1))
    text = re.sub("[\ufffe\u0002]|-\n", "", text)
    found = re.search(
        r"^\s*Abstract\W*\n(.*?)^\s*(?:1\.?|I\.?)?\s*Introduction\s*$", text, re.S | re.M | re.I
    )
    return found[1] if found else ""


def overlap(first: str, second: str) -> float:
    a, b = (Counter(re.findall(r"\w+", text.lower())) for text in (first, second))
    return 2 * sum((a & b).values()) / max(1, sum(a.values()) + sum(b.values()))


def pairs() -> Iterator[tuple[Document, etree._Element]]:
    with (SHARED / "grobid" / "pairs.csv").open() as file:
        for row in csv.DictReader(file):
            document = real_paper(SHARED / "grobid" / row["pdf"])
            assert isinstance(document, Document)
            body = etree.parse(str(SHARED / "grobid" / row["tei"])).find(f".//{TEI}body")
            assert body is not None
            yield document, body


def found_in_order(text: str, body: etree._Element) -> float:
    """Return the share of 60-character windows of GROBID's paragraphs that `text` has in the same order."""
    found = total = 0
    for element in body.iterfind(f"{TEI}div/{TEI}p"):
        paragraph = squeeze(" ".join(element.itertext()))
        place = 0
        for start in range(0, len(paragraph) - 59, 60):
            total += 1
            at = text.find(paragraph[start : start + 60], place)
            if at >= 0:
                found += 1
                place = at
    return found / total


@needs_papers
def test_text_and_headings_agree_with_grobid() -> None:
    shares = []
    for document, body in pairs():
        text = " ".join(p.text for p in document.abstract) + " " + body_text(document)
        shares.append(found_in_order(squeeze(text), body))
    assert median(shares) >= 0.95, shares
    assert min(shares) >= 0.8, shares
    found = total = 0
    for document, body in pairs():
        ours = {squeeze(s.title) for section in document.sections for s in section.path}
        ours |= {squeeze(s.heading) for section in document.sections for s in section.path}
        for element in body.iterfind(f"{TEI}div/{TEI}head"):
            heading = "".join(element.itertext())
            total += 1
            found += squeeze(heading) in ours or squeeze(parse_heading(heading).title) in ours
    assert found >= 0.8 * total


def goes_back_to_the_left(paragraph: Paragraph, width: float) -> bool:
    """Return True if a paragraph returns from the right column to the left one of the same page."""
    boxes = [box for piece in paragraph.sentences for box in piece.boxes]
    return any(
        a.page == b.page and a.x > width / 2 and b.x + b.width < width / 2 and b.width > width / 6
        for a, b in pairwise(boxes)
    )


@needs_papers
def test_real_papers_are_read_clean_column_by_column_with_boxes_over_their_words() -> None:
    names = ("s2orc_doc2json__2020.acl-main.207", "maxtwer__paper4", "maxtwer__paper5", "maxtwer__paper10")
    others = [real_paper(SHARED / "grobid" / "pdf" / f"{name}.pdf") for name in names]
    for document in [*(d for _, d in acl_papers()), *others]:
        assert isinstance(document, Document)
        bodies = (p for s in document.sections for p in s.paragraphs if p.kind == "body")
        assert not [p.text for p in bodies if goes_back_to_the_left(p, 600)]
    for name in ("acl_pdfs/P05-1053", "acl_pdfs/N01-1011", "grobid/pdf/maxtwer__paper10"):
        path = SHARED / f"{name}.pdf"
        document = real_paper(path)
        assert isinstance(document, Document)
        check_boxes(path, document, least=0.97)
    for path in sorted((*(SHARED / "acl_pdfs").glob("*.pdf"), *(SHARED / "grobid" / "pdf").glob("*.pdf"))):
        document = real_paper(path)
        if isinstance(document, Document):
            check_text(document)
            assert document.sections


@needs_papers
def test_reading_is_fast_enough_beside_the_bare_text() -> None:
    """Of one run on one machine, a ratio: 13 when it was written."""
    path = SHARED / "acl_pdfs" / "W11-2214.pdf"

    def bare_text() -> None:
        with pypdfium2.PdfDocument(path) as pdf:
            assert all(page.get_textpage().get_text_range() for page in pdf)

    def least_seconds(read: Callable[[], object]) -> float:
        begins = [(time.process_time(), read(), time.process_time()) for _ in range(3)]
        return min(end - begin for begin, _, end in begins)

    assert least_seconds(lambda: read_pdf(path)) < 40 * least_seconds(bare_text)
