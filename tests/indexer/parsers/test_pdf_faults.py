"""Faults that readers of PDFs reported in public, each with pages that show it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.pdf.document import read_pdf
from tests.small_pdf import put, write_pdf

TITLE = "Mill Ponds and Those Who Dredge Them"
PROSE = (
    "Every pond of the valley was dug by hand and fills with silt.",
    "The miller dredges it in spring while the wheel stands still.",
    "Eels and carp are put into barrels and come back afterwards.",
    "What is dredged goes onto the fields and makes them richer.",
    "Two of the ponds have fallen dry since the weir was removed.",
    "Their owners have planted willows and sell the rods for baskets.",
)


def paper(*body: str, top: float = 740) -> str:
    """Return a page with a title, an abstract and one section of these lines."""
    page = put(72, top, TITLE, 16, "B") + put(72, top - 22, "Ida Fen and Ole Marsh", 11)
    page += put(72, top - 50, "Abstract", 12, "B") + put(72, top - 66, PROSE[0]) + put(72, top - 78, PROSE[1])
    page += put(72, top - 106, "1 Introduction", 12, "B")
    return page + "".join(put(72, top - 122 - 12 * at, line) for at, line in enumerate(body))


def read(tmp_path: Path, *pages: str, **options: str) -> Document:
    return read_pdf(write_pdf(tmp_path / "a.pdf", list(pages), **options))


def texts(document: Document) -> str:
    return " ".join(p.text for section in document.sections for p in section.paragraphs)


def raised_line(y: float, text: str) -> str:
    """Set a line in which what stands between carets is smaller and raised."""
    parts = (
        f"/F {7 if number % 2 else 10} Tf {3.6 if number % 2 else 0} Ts ({part}) Tj"
        for number, part in enumerate(text.split("^"))
    )
    return f"BT 72 {y} Td {' '.join(parts)} ET\n"


@pytest.mark.parametrize(
    ("set_line", "read_line"),
    [
        ("The pond holds 10^6^ litres and 2^10^ eels.", "The pond holds 10⁶ litres and 2¹⁰ eels."),
        ("It loses 3 x 10^-3^ of them on 25 km^2^ now.", "It loses 3 x 10⁻³ of them on 25 km² now."),
        ("The flow is 4 m^3^ s^-1^ on the 5^th^ day of May.", "The flow is 4 m³ s⁻¹ on the 5th day of May."),
        (
            "We see that x^i+1^ is y^2^ and not 2^n^, as said.",
            "We see that x^{i+1} is y² and not 2ⁿ, as said.",
        ),
        ("In 1953^4^ the millers^12,14^ left, they say.", "In 1953⁴ the millers left, they say."),
    ],
)
def test_fault_raised_figures_were_read_on_the_line(tmp_path: Path, set_line: str, read_line: str) -> None:
    document = read(tmp_path, paper() + raised_line(618, set_line) + put(72, 594, PROSE[2]))
    assert read_line in texts(document)


def test_fault_letters_beyond_the_first_plane_vanished(tmp_path: Path) -> None:
    line = "BT 72 618 Td /F 10 Tf (Let ) Tj /U 10 Tf (a) Tj /F 10 Tf ( be the flow and ) Tj /U 10 Tf (b) Tj "
    line += "/F 10 Tf ( the angle of the weir.) Tj ET\n"
    document = read(tmp_path, paper() + line + put(72, 606, PROSE[2]), letters="\U0001d463\U0001d703")
    assert "Let \U0001d463 be the flow and \U0001d703 the angle of the weir." in texts(document)
    assert {p.kind for section in document.sections for p in section.paragraphs} == {"body"}


HEIGHTS = (740, 718, 690, 674, 662, 634, *(618 - 12 * at for at in range(len(PROSE))))


def line_numbers(heights: Iterable[float], first: int, step: int, gap: float, *, at_right: bool) -> str:
    return "".join(
        put(400 + gap if at_right else 72 - gap - 3.4 * len(str(number)), height, str(number), 6)
        for number, height in enumerate(heights, first)
        if number % step == 0
    )


@pytest.mark.parametrize("at_right", [False, True])
@pytest.mark.parametrize(("step", "gap"), [(1, 5), (1, 10), (1, 24), (2, 10), (5, 8), (5, 30)])
def test_fault_line_numbers_stayed_in_the_text(tmp_path: Path, step: int, gap: float, at_right: bool) -> None:
    after = [700 - 12 * at for at in range(15)]
    second = "".join(put(72, height, PROSE[at % len(PROSE)]) for at, height in enumerate(after))
    first = len(HEIGHTS) + 1
    document = read(
        tmp_path,
        paper(*PROSE) + line_numbers(HEIGHTS, 1, step, gap, at_right=at_right),
        second + line_numbers(after, first, step, gap, at_right=at_right),
        put(72, 700, "The last page has two lines of text,")
        + put(72, 688, "and ends with them.")
        + line_numbers((700, 688), first + 15, step, gap, at_right=at_right),
    )
    assert document.title == TITLE
    assert [section.path[-1].title for section in document.sections] == ["Introduction"]
    assert not any(sign.isdecimal() for sign in texts(document))
    assert all(texts(document).count(line) == 3 + (at < 3) for at, line in enumerate(PROSE)), texts(document)


def test_fault_numbered_rows_of_a_table_are_no_line_numbers(tmp_path: Path) -> None:
    rows = "".join(
        put(72, 560 - 12 * at, str(at))
        + put(110, 560 - 12 * at, f"Pond {at}")
        + put(200, 560 - 12 * at, str(at * 7))
        for at in range(1, 8)
    )
    document = read(tmp_path, paper(*PROSE[:3]) + put(72, 566, "Table 1: Ponds of the valley.") + rows)
    assert "5: Pond; 5; 35." in texts(document)


def test_fault_words_from_right_to_left_stood_in_reverse(tmp_path: Path) -> None:
    letters = "אבגדהוזחט"
    # Visual order, as typesetters write it: the first word stands at the right.
    line = "".join(
        put(x, 618, word, 10, "U")
        for x, word in ((300, "cba"), (270, "fed"), (245, "ih"), (200, "ab"), (150, "efg"))
    )
    line += put(225, 618, "12")
    page = put(72, 740, TITLE, 16, "B") + put(72, 690, "Abstract", 12, "B") + put(72, 674, PROSE[0])
    document = read(tmp_path, page + put(72, 634, "1 Introduction", 12, "B") + line, letters=letters)
    words = texts(document).split()
    assert words[3] == "12"
    assert [sorted(word) for word in words if word != "12"] == [
        sorted(word) for word in ("גבא", "ודה", "טח", "בא", "זוה")
    ]


def turned(page: str, degrees: int) -> str:
    matrix = {90: "0 1 -1 0 612 90", 180: "-1 0 0 -1 612 792", 270: "0 -1 1 0 0 702"}[degrees]
    return f"q {matrix} cm\n{page}Q\n"


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_fault_pages_on_their_side_were_lost(tmp_path: Path, degrees: int) -> None:
    upright = read(tmp_path, paper(*PROSE, top=590))
    document = read(tmp_path, turned(paper(*PROSE, top=590), degrees))
    assert (document.title, document.authors) == (TITLE, upright.authors)
    assert texts(document) == texts(upright)
    boxes = [
        box for s in document.sections for p in s.paragraphs for piece in p.sentences for box in piece.boxes
    ]
    assert all((box.width > box.height) == (degrees == 180) for box in boxes)
    assert all(box.x >= 0 and box.x + box.width <= 612 and box.y + box.height <= 792 for box in boxes)


def test_fault_sideways_text_beside_upright_text_was_lost_without_a_word(tmp_path: Path) -> None:
    beside = turned(put(72, 300, " ".join(PROSE[2:4])), 90)
    document = read(tmp_path, paper(*PROSE), paper(*PROSE) + beside)
    assert document.notes == ("text on page 2 lies on its side or upside down and was not read",)


@pytest.mark.parametrize(
    ("end", "start", "text"),
    [
        ("a state-of-the-", "art wheel turns", "state-of-the-art wheel"),
        ("a self-", "closing gate of oak", "self-closing gate"),
        ("the well-", "known miller of the valley", "well-known miller"),
        ("a river-", "bank full of reeds", "river-bank"),
        ("the infor-", "mation is kept", "information is"),
        ("their rela-", "tives are few", "relatives are"),
        ("the dredg-", "ing of ponds", "dredging of"),
        ("a 5-", "fold rise of silt", "5-fold rise"),
        ("see pages 12-", "15 of it", "12-15 of"),
        ("of two- and three-", "year-old eels", "three-year-old eels"),
        ("the pre-", "and postwar mills", "pre- and postwar"),
        (
            "see https://mills.example/old-",
            "ponds/list.html for",
            "https://mills.example/old-ponds/list.html for",
        ),
        ("ask ida@fen-", "mills.example about it", "ida@fen-mills.example about"),
    ],
)
def test_fault_hyphens_at_line_ends_were_lost(tmp_path: Path, end: str, start: str, text: str) -> None:
    document = read(tmp_path, paper(f"This is what we know of {end}", f"{start}.", *PROSE[2:]))
    assert text in texts(document)


@pytest.mark.parametrize(
    ("stamp", "arxiv_id", "year"),
    [
        ("arXiv:2301.04321v2 [cs.CL] 6 Jan 2023", "2301.04321v2", 2023),
        ("arXiv:cs/0112017v1 [cs.CL] 13 Dec 2001", "cs/0112017v1", 2001),
    ],
)
def test_fault_the_arxiv_stamp_was_not_read(tmp_path: Path, stamp: str, arxiv_id: str, year: int) -> None:
    page = paper(*PROSE) + f"BT /F 18 Tf 0 1 -1 0 36 240 Tm ({stamp}) Tj ET\n"
    document = read(tmp_path, page)
    assert (document.arxiv_id, document.year, document.title) == (arxiv_id, year, TITLE)


@pytest.mark.parametrize(
    "cover",
    [
        ("Repository of the Valley College", "Citation for published version:", "Fen, I. (2019). Ponds."),
        (TITLE, "Ida Fen", "Working paper, May 2019"),
    ],
)
def test_fault_the_title_was_read_from_a_cover_sheet(tmp_path: Path, cover: tuple[str, ...]) -> None:
    sheet = put(72, 700, cover[0], 18, "B") + "".join(
        put(72, 660 - 20 * at, line) for at, line in enumerate((*cover[1:], "https://doi.org/10.5555/9876"))
    )
    document = read(tmp_path, sheet, paper(*PROSE))
    assert (document.title, document.doi) == (TITLE, "10.5555/9876")
    assert [author.name for author in document.authors] == ["Ida Fen", "Ole Marsh"]
    assert document.notes == ("page 1 is a cover sheet and left out",)


def test_fault_a_large_initial_stood_behind_its_second_line(tmp_path: Path) -> None:
    lines = (
        put(72, 600, "M", 30)
        + put(100, 618, "ILLERS are known by name in the valley and")
        + put(100, 606, "live beside the ponds that they dredge in spring,")
        + put(72, 594, "while their wheels stand still for a month.")
    )
    assert texts(read(tmp_path, paper() + lines)).startswith(
        "MILLERS are known by name in the valley and live"
    )


def test_fault_ligatures_without_a_letter_were_lost_without_a_word(tmp_path: Path) -> None:
    def line(y: float, text: str) -> str:
        return f"BT 72 {y} Td /U 10 Tf ({text}) Tj ET\n"

    # In the font U "a" to "l" are these letters, and "z" is a glyph without any.
    page = paper(*PROSE) + line(520, "aekcz bzdc zeag")
    document = read(tmp_path, page, letters="toeicrsndlfx")
    assert any("letters are missing on page 1" in note for note in document.notes)


@pytest.mark.parametrize("offset", [0.0, 0.4, 1.2])
def test_fault_text_that_is_drawn_twice_was_read_twice(tmp_path: Path, offset: float) -> None:
    drawn, again = (
        "".join(put(72 + by, 618 - by - 12 * at, line) for at, line in enumerate(PROSE)) for by in (0, offset)
    )
    between = put(72, 500, "Between the two there are other words.")
    document = read(tmp_path, paper() + drawn + between + again)
    assert texts(document) == " ".join((*PROSE, "Between the two there are other words."))


def test_words_that_stand_twice_on_a_line_and_words_on_messages_stay(tmp_path: Path) -> None:
    line = "The mill that that miller had had had had no wheel, no no."
    assert line in texts(read(tmp_path, paper(line, PROSE[2])))
    line = "For the best experience, open this PDF portfolio in Acrobat, it says."
    assert line in texts(read(tmp_path, paper(*PROSE, line, *PROSE), paper(*PROSE * 3)))


@pytest.mark.parametrize(
    ("drawn", "text"), [("⽂⼀⽅⾼", "文一方高"), ("⻓⻩⻢⻚", "长黄马页"), ("論文研究", "論文研究")]
)
def test_fault_radicals_stood_for_characters(tmp_path: Path, drawn: str, text: str) -> None:
    line = "BT /U 10 Tf 72 618 Td (abcd) Tj ET\n"
    assert text in texts(read(tmp_path, paper() + line + put(72, 594, PROSE[2]), letters=drawn))


CIPHER = "".join(map(chr, range(68, 93)))  # what lies 29 places before "a" to "y"


def enciphered(*lines: str) -> str:
    words = (
        "".join(letter for letter in line.lower() if letter in " abcdefghijklmnopqrstuvwxy") for line in lines
    )
    return "".join(f"BT /U 10 Tf 72 {600 - 12 * at} Td ({line}) Tj ET\n" for at, line in enumerate(words))


def test_fault_text_in_a_font_that_gives_wrong_letters_was_read(tmp_path: Path) -> None:
    plain = paper(*PROSE).replace("/F ", "/I ")
    document = read(tmp_path, plain, enciphered(*PROSE * 3), letters=CIPHER)
    assert texts(document) == " ".join(PROSE)
    assert document.notes == ("text on page 2 cannot be read: its fonts do not say which letters they draw",)
    # A file of wrong letters was a paper.
    with pytest.raises(ParseError, match="its fonts do not say which letters they draw"):
        read(tmp_path, enciphered(*PROSE * 3), letters=CIPHER)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("If this message is not eventually replaced by the proper contents of the document,", "a form"),
        ("To view the full contents of this document, you need a later version of the PDF viewer.", "a form"),
        ("For the best experience, open this PDF portfolio in Acrobat X or later.", "a portfolio"),
    ],
)
def test_fault_a_message_in_place_of_the_content_was_read(tmp_path: Path, message: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        read(tmp_path, put(72, 740, "Please wait...", 16, "B") + put(72, 700, message))
