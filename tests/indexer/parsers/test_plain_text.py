"""Plain text as papers come in it: its parts, its encodings, and what is no text."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from indexer.parsers.text.text_file import LARGEST_TEXT
from tests.indexer.parsers.small_tei import headings, sentences, texts

PAPER = """\
On Cats and Their Sleep:
a study of many

Ada Lovelace, Bob Stone

ABSTRACT
We watch cats. They sleep in the exam-
ple room.

Keywords: cats, sleep

1. Introduction

Cats are known to sleep (Stone, 2020), as in the example of
the cost-
efficient cat.

- One item.
- Two items
  that go on.
\f
7

2. Method
2.1 Data
We use data.

3. Results

They slept.

LIMITATIONS

None.

References

[1] A. Lovelace. 2019. On notes and engines. Journal.
[2] B. Stone. 2020. A second title here. arXiv:2001.00002.
    More of it.
"""


def write(folder: Path, content: str | bytes) -> Path:
    file = folder / "paper.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return read_document(write(tmp_path, PAPER))


def test_the_parts_of_a_plain_text_are_found(document: Document) -> None:
    assert document.title == "On Cats and Their Sleep: a study of many"
    assert [author.name for author in document.authors] == ["Ada Lovelace", "Bob Stone"]
    assert [paragraph.text for paragraph in document.abstract] == [
        "We watch cats. They sleep in the example room."
    ]
    assert document.keywords == ("cats", "sleep")
    assert document.parser == "plain text"
    assert headings(document) == ["1 Introduction", "2 Method > 2.1 Data", "3 Results", "LIMITATIONS"]
    assert texts(document)[:3] == [
        "Cats are known to sleep (Stone, 2020), as in the example of the cost-efficient cat.",
        "- One item.",
        "- Two items that go on.",
    ]
    assert "7" not in " ".join(texts(document))
    first, second = document.references
    assert first.text == "[1] A. Lovelace. 2019. On notes and engines. Journal."
    assert (second.title, second.year, second.arxiv_id) == ("A second title here", 2020, "2001.00002")


def test_headings_and_hanging_references_are_found_without_blank_lines(tmp_path: Path) -> None:
    entries = "Lovelace, A. 2019. On notes\n    and engines.\nStone, B. 2020. On stones\n    and more.\n"
    document = read_document(write(tmp_path, f"Title here\n\nText here.\n\nReferences\n\n{entries}"))
    assert [reference.text for reference in document.references] == [
        "Lovelace, A. 2019. On notes and engines.",
        "Stone, B. 2020. On stones and more.",
    ]
    # Text out of a PDF has none, and was one paragraph from the abstract to the references.
    lines = (
        "In the year of\n1 Cats\nAbstract\nWe watch cats.\n1 Introduction\nCats sleep in\n2 Rooms or more\n"
        "of a house, and\n2 times a day.\n2 Method\n2.1 Data\nWe use data.\nReferences\n"
        "[1] A. Lovelace. 2019. On notes.\n"
    )
    document = read_document(write(tmp_path, f"A Title\n\n{lines}"))
    assert headings(document)[-2:] == ["1 Introduction", "2 Method > 2.1 Data"]
    assert texts(document)[-2] == "Cats sleep in 2 Rooms or more of a house, and 2 times a day."
    assert [paragraph.text for paragraph in document.abstract] == ["We watch cats."]
    assert len(document.references) == 1


@pytest.mark.parametrize(
    ("text", "title", "paths"),
    [
        ("A Title\n=======\n\nPart\n----\n\nText.\n\nSub\n~~~\n\nMore.", "A Title", ["Part", "Part > Sub"]),
        ("A Title\n\nText.\n\nMETHODS AND DATA\n\nMore.", "A Title", ["", "METHODS AND DATA"]),
        ("1 Introduction\n\nText.\n\n2 Method\n\nMore.", "", ["1 Introduction", "2 Method"]),
        ("This is a sentence, no title.\n\nText.", "", [""]),
        ("Here begins a text that is\nwrapped and has no\ntitle at all.\n\nText.", "", [""]),
        (
            "A Title\n\nIntroduction\nText at once.\n\nConclusion\n\nEnd.",
            "A Title",
            ["Introduction", "Conclusion"],
        ),
        ("A Title\n\nWe need:\n\n1. Apples\n\n2. Pears\n\n3. Plums\n\nText.", "A Title", ["", "3 Plums"]),
        ("A Title\n\n1. Apples\n2. Pears\n\nText.", "A Title", [""]),
        ("A Title\n\nA. 1\n\nText here.", "A Title", [""]),
        ("A Title\n\nText.\n\nA. Proofs\n\nMore.", "A Title", ["", "A Proofs"]),
        ("A Title\n\nA. Borthwick. 1999. A maximum entropy approach to\nnames.", "A Title", [""]),
        ("A Title\n\nNASA\n\nText.\n\nI\n\nMore.", "A Title", ["NASA"]),
    ],
)
def test_headings_are_told_from_text(tmp_path: Path, text: str, title: str, paths: list[str]) -> None:
    document = read_document(write(tmp_path, text))
    assert (document.title, headings(document)) == (title, paths)


LATIN = "Über Katzen\n\nSie schlafen – “lange” – in Kölns Straßen."


@pytest.mark.parametrize(
    ("content", "remarks"),
    [
        (LATIN.encode("utf-16"), 0),
        (LATIN.encode("cp1252"), 1),
        (unicodedata.normalize("NFD", LATIN).encode(), 0),
        (LATIN.replace("\n", "\r\n").encode(), 0),
        (LATIN.replace("\n", "\r").encode(), 0),
        (LATIN.replace("schlafen", "schla\x00fen").encode(), 1),
        (LATIN.replace("schlafen", "schla\u00adfen\u200b").encode(), 0),
    ],
)
def test_text_in_any_usual_encoding_reads_the_same(tmp_path: Path, content: bytes, remarks: int) -> None:
    document = read_document(write(tmp_path, content))
    assert document.title == "Über Katzen"
    assert texts(document) == ["Sie schlafen – “lange” – in Kölns Straßen."]
    assert len(document.notes) == remarks


def test_fault_names_with_accents_apart_are_authors(tmp_path: Path) -> None:
    text = unicodedata.normalize("NFD", "Über Mühlen\n\nJürgen Möß\n\nAbstract\n\nWir zählen.")
    document = read_document(write(tmp_path, text))
    assert [(author.given, author.family) for author in document.authors] == [("Jürgen", "Möß")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \r\n\t\x0c\n", "is empty"),
        (b"\x00" * 100, "is empty"),
        (b"%PDF-1.4 text", "is a PDF"),
        (b"PK\x03\x04 text", "zip archive"),
        (b"\x89PNG\r\n", "a picture"),
        (bytes(range(32)) * 20, "control characters"),
        ("Шлюзы\n\nИх 12.".encode("cp1251"), "cannot be told for certain: save it as UTF-8"),
        (b"\xff\xfea", "says that it is UTF-16"),
        (b"a" * (LARGEST_TEXT + 1), "larger than 8 MiB"),
        (b"Just a title", "has no text"),
        (b"References\n\n[1] A. Lovelace. 2019. On notes.", "has no text"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=rf"^paper\.txt .*{reason}"):
        read_document(write(tmp_path, content))


def test_a_missing_file_is_refused_and_a_text_of_one_line_read(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"none\.txt cannot be read: No such file"):
        read_document(tmp_path / "none.txt")
    document = read_document(write(tmp_path, "Cats sleep a lot. " * 10_000))
    assert [len(section.paragraphs) for section in document.sections] == [1]
    assert len(sentences(document.sections[0])) == 10_000


@given(st.binary(max_size=300))
def test_any_bytes_give_a_document_or_a_parse_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    try:
        assert read_document(write(tmp_path_factory.getbasetemp(), content)).parser == "plain text"
    except ParseError as error:
        assert str(error).startswith("paper.txt ")


WORDS = st.lists(st.text(alphabet="kqwxyz", min_size=3, max_size=8), min_size=8, max_size=40)


@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(30, 90))
def test_no_word_is_lost_whatever_the_width(
    tmp_path_factory: pytest.TempPathFactory, paragraphs: list[list[str]], width: int
) -> None:
    wrapped = []
    for words in paragraphs:
        lines = [""]
        for word in words:
            lines[-1:] = [f"{lines[-1]} {word}".strip()] if len(lines[-1]) < width else [lines[-1], word]
        wrapped.append("\n".join(lines) + ".")
    document = read_document(write(tmp_path_factory.getbasetemp(), "\n\n".join(wrapped)))
    assert texts(document) == [" ".join(words) + "." for words in paragraphs]


PAGES = (
    "The mill stands at the weir and the miller minds the",
    "wheel by night and day.\n\nIt turns.",
    "We count mills in the",
    "valley. It took years.",
)


@pytest.mark.parametrize(
    "page",
    [
        "Journal of Mills 12 (2001)\n\n{text}\n\n{number}\n",
        "{number:>40}\n\nJOURNAL OF MILLS   Vol. 3\n\n{text}\n\n   Fen and Marsh   {number}\n",
        "{text}\nI. Fen: On mills, p. {number}",
    ],
)
def test_fault_running_heads_stood_in_the_middle_of_sentences(tmp_path: Path, page: str) -> None:
    pages = [page.format(text=text, number=number) for number, text in enumerate(PAGES, 11)]
    (tmp_path / "a.txt").write_text("On mills\n\nIda Fen\n\nIntroduction\n\f" + "\f".join(pages))
    assert texts(read_document(tmp_path / "a.txt")) == [
        "The mill stands at the weir and the miller minds the wheel by night and day.",
        "It turns.",
        "We count mills in the valley. It took years.",
    ]


def test_lines_that_recur_on_two_pages_stay(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("On mills\n\nThey stand.\n\nSo it is.\n\fThey fall.\n\nSo it is.\n")
    assert texts(read_document(tmp_path / "a.txt")) == ["They stand.", "So it is.", "They fall.", "So it is."]


def test_fault_colours_of_a_terminal_were_letters(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "\x1b[1mOn mills\x1b[0m\n\nMills \x1b[38;5;1mstand\x1b[m \x1b]8;;http://x\x07here\x1b]8;;\x07.\n"
    )
    document = read_document(tmp_path / "a.txt")
    assert (document.title, texts(document)) == ("On mills", ["Mills stand here."])
