"""One door for files of all kinds: the end of the name chooses the parser, and every file ends in one way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.pdf.file import page_count
from indexer.errors import ParseError
from indexer.parsers.pdf.document import MOST_PAGES
from indexer.parsers.registry import SUFFIXES, file_sha256, read_document
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.small_pdf import write_pdf


@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("a.pdf", "pypdfium2"),
        ("A.PDF", "pypdfium2"),
        ("a.tei.xml", "grobid"),
        ("a.grobid.tei.xml", "grobid"),
        ("a.tei", "grobid"),
        ("a.xml", "grobid"),
        ("a.md", "markdown-it"),
        ("a.Markdown", "markdown-it"),
        ("a.txt", "plain text"),
    ],
)
def test_the_end_of_the_name_chooses_the_parser(tmp_path: Path, name: str, parser: str) -> None:
    file = tmp_path / name
    if parser == "pypdfium2":
        write_paper_pdf(file)
    elif parser == "grobid":
        write_tei(file)
    else:
        file.write_text("On Cats\n=======\n\nThey sleep.\n")
    assert read_document(file).parser == parser


def test_a_file_of_another_kind_or_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"^a\.odt is none of the kinds .*\.pdf.*\.docx$"):
        read_document(tmp_path / "a.odt")
    (tmp_path / "loop.pdf").symlink_to(tmp_path / "loop.pdf")
    with pytest.raises(ParseError, match="Too many levels of symbolic links"):
        file_sha256(tmp_path / "loop.pdf")
    with pytest.raises(ParseError, match="Too many levels of symbolic links"):
        read_document(tmp_path / "loop.pdf")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_and_empty_files_are_reported(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParseError, match=r"cannot be (read|opened): No such file"):
        read_document(tmp_path / f"none{suffix}")
    (tmp_path / f"a{suffix}").write_bytes(b"")
    with pytest.raises(ParseError, match="empty"):
        read_document(tmp_path / f"a{suffix}")


def _lines(*texts: str) -> str:
    return "BT /F 10 Tf 72 700 Td " + " ".join(f"({text}) Tj 0 -12 Td" for text in texts) + " ET"


def _encrypted(path: Path) -> Path:
    handler = "/Encrypt << /Filter /Standard /V 1 /R 2 /O <00> /U <00> /P -4 >>"
    return write_pdf(path, [_lines("Secret words.")], trailer=f"{handler} /ID [<00> <00>]")


def _truncated(path: Path) -> Path:
    content = write_paper_pdf(path).read_bytes()
    path.write_bytes(content[:200])
    return path


def _picture(path: Path) -> Path:
    return write_pdf(path, ["0 0 0 rg 10 10 400 400 re f"] * 3)


def _written(content: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return write


HOSTILE = {
    "encrypted": (_encrypted, "is encrypted: it needs a password|is broken"),
    "truncated": (_truncated, r"is broken: .*cut off or damaged"),
    "zero bytes": (_written(b""), r"is empty \(zero bytes\)"),
    "pictures only": (_picture, r"has no text layer: its 3 pages are pictures"),
    "a Word file": (_written(b"PK\x03\x04 not a pdf"), "is not a PDF"),
    "a web page": (_written(b"<html><body>Not found</body></html>"), "is a web page, not a PDF"),
    "a mere header": (_written(b"%PDF-1.7\n"), "is broken"),
}


@pytest.mark.parametrize(("write", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_false_pdf_is_one_sentence(tmp_path: Path, write: Callable[[Path], Path], reason: str) -> None:
    with pytest.raises(ParseError, match=rf"^paper\.pdf (?:{reason})") as error:
        read_document(write(tmp_path / "paper.pdf"))
    assert "\n" not in str(error.value)


def _named(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number)).capitalize()


def test_of_a_book_the_first_thousand_pages_are_read(tmp_path: Path) -> None:
    """Regression: the words of all pages of a file were held at once, however many."""
    pages = [_lines(f"{_named(n)} opens page {_named(n)}.", f"{_named(n)} ends it.") for n in range(2_000)]
    path = write_pdf(tmp_path / "book.pdf", pages)
    document = read_document(path)
    text = " ".join(p.text for section in document.sections for p in section.paragraphs)
    assert MOST_PAGES == 1_000
    assert document.notes == ("only the first 1,000 of its 2,000 pages were read",)
    assert document.page_count == page_count(path) == 2_000
    assert f"opens page {_named(999)}." in text
    assert f"opens page {_named(1_000)}." not in text
