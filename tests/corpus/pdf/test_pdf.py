"""Tests of corpus.pdf on small files written here byte by byte."""

import io
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageChops

from corpus.pdf.file import PdfError, page_count, page_size, title_in_properties
from corpus.pdf.images import page_image
from corpus.pdf.pages import PdfPage, read_pages
from corpus.records import Box
from tests.small_pdf import put, write_pdf


def line(x: float, y: float, text: str, size: float = 12) -> str:
    return put(x, y, text, size)


def first_page(path: Path) -> PdfPage:
    return next(iter(read_pages(path)))


ENCRYPTED = (
    f"/ID [<{'00' * 16}> <{'00' * 16}>] "
    f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'11' * 32}> /U <{'22' * 32}> >>"
)


def test_words_stand_where_they_are_printed(tmp_path: Path) -> None:
    path = write_pdf(
        tmp_path / "a.pdf", [line(72, 700, "Hello wide world") + line(300, 400, "Elsewhere", 20)]
    )
    page = first_page(path)
    assert [word.text for word in page.words] == ["Hello", "wide", "world", "Elsewhere"]
    assert (page.number, page.width, page.height) == (1, 612, 792)
    with pypdfium2.PdfDocument(path) as document:
        text = document[0].get_textpage()
        for word in page.words:
            bounds = (word.left - 0.5, 792 - word.bottom, word.right + 0.5, 792 - word.top)
            assert text.get_text_bounded(*bounds).strip() == word.text
    assert page.words[0].baseline == pytest.approx(92, abs=0.5)
    assert page.words[0].size == pytest.approx(12)
    assert page.words[3].size == pytest.approx(20)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", ["", "/CropBox [50 100 400 750]"])
def test_boxes_lie_on_the_ink_of_turned_and_cropped_pages(tmp_path: Path, rotate: int, crop: str) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(120, 600, "Inkwell", 24)], f"/Rotate {rotate} {crop}")
    page = first_page(path)
    (word,) = page.words
    assert page_size(path, 1) == (page.width, page.height)
    picture = Image.open(io.BytesIO(page_image(path, 1, scale=2))).convert("L")
    ink = ImageChops.invert(picture).point(lambda value: 255 if value > 100 else 0).getbbox()
    assert ink is not None
    assert word.left * 2 - 2 <= ink[0]
    assert word.top * 2 - 2 <= ink[1]
    assert ink[2] <= word.right * 2 + 2
    assert ink[3] <= word.bottom * 2 + 2
    assert word.turn == rotate // 90


def test_words_are_read_page_by_page_without_control_characters_or_what_is_beside(tmp_path: Path) -> None:
    # Regression: the labels of a figure lay beside the page, and so did boxes made of them.
    outside = line(700, 400, "Beside") + line(72, 900, "Above") + line(560, 500, "Overlapping")
    page = first_page(write_pdf(tmp_path / "a.pdf", [line(72, 700, "Inside") + outside]))
    assert [word.text for word in page.words] == ["Inside", "Overlapping"]
    assert page.words[1].right == page.width == 612
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "be\x01fore \x7f af\x08ter")])
    text = " ".join(word.text for word in first_page(path).words)
    assert all(ord(character) >= 0x20 for character in text)
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, word) for word in ("one", "two", "three")])
    assert page_count(path) == page_count(str(path)) == 3
    assert [page.words[0].text for page in read_pages(path)] == ["one", "two", "three"]
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "x")])
    assert title_in_properties(path) == ""


def test_a_word_cut_at_the_line_end_says_so(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "some infor-") + line(72, 686, "mation here")])
    assert [(word.text, word.hyphenated) for word in first_page(path).words] == [
        ("some", False),
        ("infor", True),
        ("mation", False),
        ("here", False),
    ]


def test_marks_change_the_picture_only_in_their_boxes_and_the_same_every_time(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")])
    boxes = (Box(1, 300, 300, 100, 20), Box(2, 0, 0, 600, 700))
    plain, marked = (Image.open(io.BytesIO(page_image(path, 1, b, scale=1))) for b in ((), boxes))
    assert plain.format == "JPEG"
    assert plain.size == (612, 792)
    changed = (
        ImageChops.difference(plain, marked).convert("L").point(lambda v: 255 if v > 12 else 0).getbbox()
    )
    assert changed is not None
    assert changed[0] >= 290
    assert changed[1] >= 290
    assert changed[2] <= 410
    assert changed[3] <= 330
    box = Box(1, 70, 80, 50, 20)
    assert page_image(path, 1, (box,)) == page_image(path, 1, (box,))
    path = write_pdf(tmp_path / "a.pdf", [""], "/MediaBox [0 0 14400 14400]")
    picture = Image.open(io.BytesIO(page_image(path, 1)))
    assert picture.width * picture.height < 17_000_000


@pytest.mark.parametrize("box", [Box(1, -50, -50, 9000, 9000), Box(1, 10, 10, 0, 0), Box(1, 10, 10, -5, -5)])
def test_odd_boxes_do_no_harm(tmp_path: Path, box: Box) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")])
    assert page_image(path, 1, (box,)).startswith(b"\xff\xd8")


@pytest.mark.parametrize("page", [0, -1, 2])
def test_a_page_that_is_not_there(tmp_path: Path, page: int) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")])
    for function in (page_image, page_size):
        with pytest.raises(PdfError, match="has no page"):
            function(path, page)


def test_an_unreadable_or_encrypted_file_is_reported(tmp_path: Path) -> None:
    good = write_pdf(tmp_path / "good.pdf", [line(72, 700, "Hello")]).read_bytes()
    cases = {
        "is empty": b"",
        "web page": b"<!DOCTYPE html><html><body>404</body></html>",
        "not a PDF": b"PK\x03\x04 something else",
        "is broken": b"%PDF-1.4\n" + bytes(range(256)) * 4,
        "broken": good[:60],
    }
    for words, data in cases.items():
        path = tmp_path / "bad.pdf"
        path.write_bytes(data)
        with pytest.raises(PdfError, match=words):
            page_count(path)
    with pytest.raises(PdfError, match="cannot be opened"):
        page_count(tmp_path / "missing.pdf")
    with pytest.raises(PdfError, match="cannot be opened"):
        page_count(tmp_path)
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")], trailer=ENCRYPTED)
    with pytest.raises(PdfError, match="password"):
        page_count(path)


def test_a_page_that_cannot_be_loaded(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, word) for word in ("one", "two", "three")])
    path.write_bytes(path.read_bytes().replace(b"[6 0 R 8 0 R 10 0 R]", b"[6 0 R 1 0 R 10 0 R]"))
    pages = list(read_pages(path))
    assert [page.damaged for page in pages] == [False, True, False]
    assert [[word.text for word in page.words] for page in pages] == [["one"], [], ["three"]]
    for function in (page_image, page_size):
        with pytest.raises(PdfError, match=r"page 2 of a\.pdf is damaged"):
            function(path, 2)


def test_many_threads_get_what_one_gets(tmp_path: Path) -> None:
    paths = [
        write_pdf(tmp_path / f"{i}.pdf", [line(72, 700 - 20 * k, f"word{i} number{k}") for k in range(4)])
        for i in range(6)
    ]

    def work(path: Path) -> tuple[tuple[PdfPage, ...], bytes]:
        return tuple(read_pages(path)), page_image(path, 2, (Box(2, 70, 80, 90, 20),))

    alone = [work(path) for path in paths]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, paths * 6)) == alone * 6


def _seconds(draw: Callable[[], object]) -> float:
    began = time.process_time()
    draw()
    return time.process_time() - began


@pytest.mark.parametrize(
    "boxes",
    [[Box(1, 0, 0, 100, 9e8)] * 2, [Box(1, -1e6, -1e6, 2e6, 2e6)] * 50_000, [Box(1, 1e300, 0, 1e308, 1e308)]],
    ids=["higher than the page", "by the thousand", "beyond all pages"],
)
def test_fault_boxes_larger_than_their_page_froze_the_drawing(tmp_path: Path, boxes: list[Box]) -> None:
    path = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")])
    plain = _seconds(lambda: [page_image(path, 1, [Box(1, 0, 0, 600, 700)]) for _ in range(5)])
    assert _seconds(lambda: page_image(path, 1, boxes)) < 10 * plain


def test_fault_boxes_and_pages_that_are_no_place_raised_other_errors(tmp_path: Path) -> None:
    path, nan = write_pdf(tmp_path / "a.pdf", [line(72, 700, "Hello")]), float("nan")
    boxes = [Box(1, inf, 0, 1, 1), Box(1, 0, nan, 1, 1), Box(1, 0, 0, -inf, 1), Box(1, 10**400, 0, 1, 1)]
    assert page_image(path, 1, [*boxes, Box(1, 0, 0, -50, -50)]) == page_image(path, 1)
    cut = Box(1, 10, 700, 20, 1e6)
    assert page_image(path, 1, [*boxes, cut]) == page_image(path, 1, [replace(cut, height=500)])
    path = write_pdf(tmp_path / "a.pdf", [""])
    path.write_bytes(path.read_bytes().replace(b"[0 0 612 792]", b"[0 0 9000000 1]"))
    assert page_size(path, 1) == (9_000_000, 1)
    assert page_image(path, 1, [Box(1, 0, 0, 1e6, 1)]).startswith(b"\xff\xd8")
    with pytest.raises(PdfError, match="cannot be opened"):
        page_image("a\0b.pdf", 1)
