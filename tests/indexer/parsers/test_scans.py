"""Scans: pages that are pictures become words with boxes, where something is installed that reads them."""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from acl_anthology import Anthology
from PIL import Image
from rouge_score.rouge_scorer import _score_lcs

from corpus.encoders.base import Encoder
from corpus.pdf.images import page_picture
from corpus.records import Box, Collection, Paper
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.build.run import build_collection
from indexer.errors import ParseError, UnreadScanError
from indexer.maintenance.doctor import examine
from indexer.parsers.document import Document
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions, engine_name
from indexer.parsers.pdf.document import read_pdf
from indexer.parsers.sandbox import IsolatedProcesses
from indexer.prepare.preparer import PreparedPaper
from indexer.sources.protocol import SourcePaper
from tests.small_pdf import write_pdf

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
# Of each the Anthology's id, and of its abstract the words that are printed, the first and the last.
SCANS = {
    "E03-1007": ("E03-1007", 84, "When translating from languages", "scheduling and travel planning."),
    "P134_n09": ("W13-2212", 52, "We validated various novel", "trained on 126 billion tokens."),
}
needs_rapidocr = pytest.mark.skipif(
    not engine_name("rapidocr"), reason="rapidocr is not installed: pip install 'paper-trail[ocr]'"
)
RAPID = OcrOptions("rapidocr")
LINES = [
    ("B", 16, 90, 720, "Reading the Scans of Old Papers"),
    ("F", 11, 220, 690, "Ann Lee and Bo Kim"),
    ("B", 12, 72, 650, "Abstract"),
    ("F", 10, 72, 632, "We turn pictures of pages into words that can be found. It takes seconds."),
    ("B", 12, 72, 600, "1 Introduction"),
    ("F", 10, 72, 582, "Old papers were printed before they were files. A library scanned them later."),
    ("F", 10, 72, 570, "Their pages are pictures. Nobody can search them for a word or mark a line."),
    ("F", 10, 72, 558, "We read 1,284 of them with a small network, and 97.5% of the words were right."),
]


def born_digital(folder: Path) -> Path:
    content = "".join(f"BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n" for font, size, x, y, text in LINES)
    return write_pdf(folder / "digital.pdf", [content])


def scan(folder: Path, turn: int = 0, before: int = 0, after: int = 0) -> Path:
    """Write the page as a picture, turned clockwise by quarters, with blank pages before and after it."""
    picture, scale = page_picture(born_digital(folder), 1, 2.0)
    picture = picture.convert("L").rotate(-90 * turn, expand=True)
    blank = Image.new("L", picture.size, 255)
    pages = [*[blank] * before, picture, *[blank] * after]
    path = folder / "scan.pdf"
    pages[0].save(path, save_all=True, append_images=pages[1:], resolution=72 * scale)
    return path


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def pieces(document: Document) -> list[tuple[str, tuple[Box, ...]]]:
    paragraphs = [*document.abstract, *(p for section in document.sections for p in section.paragraphs)]
    return [(letters(piece.text), piece.boxes) for p in paragraphs for piece in p.sentences]


def turned(box: Box, turn: int, width: float, height: float) -> Box:
    """Return where a box lies once the page of that size is turned clockwise by quarters."""
    for _ in range(turn):
        box = replace(box, x=height - box.y - box.height, y=box.x, width=box.height, height=box.width)
        width, height = height, width
    return box


def shared_area(box: Box, other: Box) -> float:
    across = min(box.x + box.width, other.x + other.width) - max(box.x, other.x)
    down = min(box.y + box.height, other.y + other.height) - max(box.y, other.y)
    both = max(0.0, across) * max(0.0, down)
    return both / (box.width * box.height + other.width * other.height - both)


@needs_rapidocr
@pytest.mark.parametrize("turn", [0, 1])
def test_a_scan_is_read_as_its_file_would_be_however_it_lies(tmp_path: Path, turn: int) -> None:
    digital, scanned = read_pdf(born_digital(tmp_path)), read_pdf(scan(tmp_path, turn), ocr=RAPID)
    assert (scanned.title, scanned.abstract[0].text) == (digital.title, digital.abstract[0].text)
    assert [section.path for section in scanned.sections] == [section.path for section in digital.sections]
    assert [text for text, _ in pieces(scanned)] == [text for text, _ in pieces(digital)]
    for (_, found), (_, wanted) in zip(pieces(scanned), pieces(digital), strict=True):
        for box, other in zip(found, wanted, strict=True):
            assert shared_area(box, turned(other, turn, 612, 792)) > 0.5
    assert scanned.scanned_pages == 1
    assert scanned.scan_confidence > 0.9
    said = "page 1 is read from its picture by rapidocr; the least sure is page 1, 0.9"
    assert scanned.notes[0].startswith(said)
    assert ("page 1 is turned upright to be read" in scanned.notes) == bool(turn)


@needs_rapidocr
def test_of_a_long_scan_the_first_pages_are_read_and_the_others_named(tmp_path: Path) -> None:
    document = read_pdf(scan(tmp_path, before=1, after=29), ocr=OcrOptions("rapidocr", 2))
    assert (document.page_count, document.scanned_pages) == (31, 1)
    said = "pages 3-31 are pictures without text, and not read: of one file 2 are"
    assert document.notes[-1] == said


@needs_rapidocr
def test_pictures_without_words_are_no_paper(tmp_path: Path) -> None:
    Image.linear_gradient("L").save(tmp_path / "photograph.pdf")
    with pytest.raises(ParseError, match="and rapidocr finds no text on them"):
        read_pdf(tmp_path / "photograph.pdf", ocr=RAPID)


def test_without_a_reader_a_scan_says_how_to_have_it_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadScanError, match=r"are pictures.*\[ocr\]"):
        read_pdf(scan(tmp_path), ocr=NO_OCR)


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that puts a program called tesseract on the path, which prints the given text."""

    def install(printed: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "printed").write_text(printed)
        program = folder / "tesseract"
        program.write_text(f'#!/bin/sh\ncat > {folder}/picture\ncat {folder}/printed\nexit "${{FAILS:-0}}"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


def as_tesseract_prints() -> str:
    """Return the page as tesseract's table, words of equal letters at 2.5 pixels to the point."""
    head = "level page_num block_num par_num line_num word_num left top width height conf text"
    rows = [head.split(), ["1", "1", "0", "0", "0", "0", "0", "0", "1530", "1980", "-1", ""]]
    for number, (_, size, x, y, text) in enumerate(LINES):
        for at, found in enumerate(re.finditer(r"\S+", text)):
            left = 2.5 * (x + 0.5 * size * found.start())
            place = [left, 2.5 * (792 - y - size), 1.2 * size * len(found[0]), 3 * size]
            rows.append([str(cell) for cell in (5, 1, 1, 1, number, at, *map(int, place), 91.5, found[0])])
    return "\n".join("\t".join(row) for row in rows)


def test_words_that_tesseract_prints_become_a_paper(tmp_path: Path, tesseract: Callable[[str], None]) -> None:
    tesseract(as_tesseract_prints())
    document = read_pdf(scan(tmp_path), ocr=OcrOptions(engine_name("tesseract")))
    assert [text for text, _ in pieces(document)] == [
        text for text, _ in pieces(read_pdf(born_digital(tmp_path)))
    ]
    assert document.scan_confidence == pytest.approx(0.915)
    assert (tmp_path / "bin" / "picture").read_bytes().startswith(b"\x89PNG")


def test_a_program_that_fails_costs_one_paper(
    tmp_path: Path, tesseract: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract("")
    monkeypatch.setenv("FAILS", "3")
    with pytest.raises(ParseError, match="tesseract could not read a page"):
        read_pdf(scan(tmp_path), ocr=OcrOptions("tesseract"))


class OneListed:
    """A source with one paper that it describes, and the scan of it."""

    collection = Collection("scans", "Scans", source="Test")

    def __init__(self, pdf: Path) -> None:
        paper = Paper("scans/old", "scans", "An old paper", (), 1980, "", "It was scanned.")
        self._paper = SourcePaper("old", paper, pdf)

    def __len__(self) -> int:
        return 1

    def papers(self):  # type: ignore[no-untyped-def]
        yield self._paper


@dataclass(frozen=True)
class ListedScan:
    """A collection of one scan in a home of its own, and what it is after each build."""

    folder: Path
    pdf: Path
    encoder: Encoder

    def build(self, ocr: str) -> tuple[int, int, int, str]:
        settings = Settings(home=self.folder / "home", ocr=ocr)  # type: ignore[arg-type]
        done = build_collection(settings, self.encoder, OneListed(self.pdf), lambda _: None)
        return done.added, done.changed, done.unchanged, " ".join(remark.text for remark in done.remarks)

    def paper(self) -> Paper:
        return next(iter(Corpus.open(self.folder / "home" / "corpus", self.encoder).papers()))


@pytest.fixture
def listed(tmp_path: Path, encoder: Encoder) -> ListedScan:
    return ListedScan(tmp_path, scan(tmp_path), encoder)


@needs_rapidocr
def test_a_scan_is_read_by_the_first_build_that_can(listed: ListedScan) -> None:
    build, paper = listed.build, listed.paper
    first = build("off")
    assert (first[:3], paper().full_text) == ((1, 0, 0), False)
    assert "only its title and abstract are indexed" in first[3]
    assert build("off")[:3] == (0, 0, 1)
    assert build("rapidocr")[:3] == (0, 1, 0)
    assert (paper().full_text, paper().scanned_pages, paper().title) == (True, 1, "An old paper")
    assert build("rapidocr")[:3] == build("off")[:3] == (0, 0, 1)


def read_for_ever(*_: object) -> PreparedPaper:
    while True:
        pass


@pytest.mark.long
def test_fault_a_scan_that_ran_out_of_time_was_never_read_again(
    listed: ListedScan, tesseract: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract(as_tesseract_prints())
    preparer = sys.modules["indexer.prepare.preparer"]
    # Processes that an earlier test started do not know where this test's program lies.
    slow = IsolatedProcesses(read_for_ever, 1, seconds=1)
    usual = IsolatedProcesses(preparer._read_and_prepare, 1)
    monkeypatch.setattr(preparer, "_processes", lambda _: slow)
    first = listed.build("tesseract")
    monkeypatch.setattr(preparer, "_processes", lambda _: usual)
    assert (first[:3], listed.paper().full_text) == ((1, 0, 0), False)
    assert "more than 1 s of processor time" in first[3]
    assert listed.build("tesseract")[:3] == (0, 1, 0)
    assert (listed.paper().full_text, listed.paper().scanned_pages) == (True, 1)
    assert listed.build("tesseract")[:3] == (0, 0, 1)
    for processes in (slow, usual):
        processes.close()


@pytest.mark.parametrize(("choice", "state"), [("off", "off"), ("tesseract", "problem")])
def test_the_doctor_says_who_reads_scans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str, state: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = Settings(home=tmp_path, ocr=choice)  # type: ignore[arg-type]
    (finding,) = (check for check in examine(settings) if check.name == "scans")
    assert finding.state == state


def word_accuracy(found: str, wanted: str) -> float:
    """Return the share of words that stand in both texts in the same order, of those of the longer one."""
    words = [re.findall(r"\w+", text.lower()) for text in (wanted, found)]
    return float(_score_lcs(*words).recall * len(words[0]) / max(map(len, words)))


@pytest.mark.long
@needs_rapidocr
@pytest.mark.skipif(not (SHARED / "acl_pdfs").is_dir(), reason="the real papers are not here")
@pytest.mark.parametrize("stem", list(SCANS))
def test_title_and_abstract_of_real_scans(stem: str) -> None:
    anthology = Anthology(datadir=str(SHARED / "acl_anthology"))
    identifier, words, first, last = SCANS[stem]
    # The page prints in full what the Anthology shortens; of neither does it have the abstract.
    listed = str(anthology.get(identifier).title)  # type: ignore[union-attr]
    document = read_pdf(SHARED / "acl_pdfs" / f"{stem}.pdf", 1, RAPID)
    assert word_accuracy(document.title, listed.replace("SMT", "Statistical Machine Translation")) >= 0.95
    abstract = " ".join(paragraph.text for paragraph in document.abstract)
    assert abstract.startswith(first)
    assert abstract.endswith(last)
    assert len(abstract.split()) == words
