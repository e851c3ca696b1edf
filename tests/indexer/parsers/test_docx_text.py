"""Word files as papers come in them: their parts, and archives made to do harm."""

import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from corpus.records import Author
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from indexer.parsers.text.docx_package import LARGEST_XML
from tests.indexer.parsers.small_tei import headings, texts

FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def paper() -> "docx.document.Document":
    file = docx.Document()
    file.core_properties.author = "Ada Lovelace; Bob Stone"
    file.core_properties.keywords = "cats; sleep"
    file.add_heading("On Cats", 0)
    file.add_heading("Abstract", 1)
    file.add_paragraph("We watch cats. They sleep.")
    file.add_heading("Introduction", 1)
    file.add_paragraph("Cats sleep. They sleep well.")
    file.add_paragraph("One item.", style="List Bullet")
    file.add_heading("2.1 Data", 2)
    table = file.add_table(2, 2)
    for place, text in enumerate(("animal", "sleeps", "cat", "16 h")):
        table.cell(place // 2, place % 2).text = text
    file.add_paragraph("Figure 1: Cats.", style="Caption")
    file.add_heading("References", 1)
    file.add_paragraph("A. Lovelace. 2019. On notes and engines. Journal. doi:10.1000/xyz.")
    return file


def saved(file: "docx.document.Document", path: Path) -> Path:
    file.save(str(path))
    return path


def repacked(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Write a Word file anew with some of its parts replaced or added."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in {**content, **parts}.items():
            archive.writestr(name, part)
    return path


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return read_document(saved(paper(), tmp_path / "paper.docx"))


def test_styles_and_properties_tell_the_parts(document: Document) -> None:
    assert document.title == "On Cats"
    assert [paragraph.text for paragraph in document.abstract] == ["We watch cats. They sleep."]
    assert headings(document) == ["Introduction", "Introduction > 2.1 Data"]
    assert document.references[0].title == "On notes and engines"
    assert (document.parser, document.notes) == ("python-docx", ())
    assert document.authors == (Author("Ada", "Lovelace"), Author("Bob", "Stone"))
    assert document.keywords == ("cats", "sleep")
    found = [
        (p.kind, [s.text for s in p.sentences]) for section in document.sections for p in section.paragraphs
    ]
    assert found == [
        ("body", ["Cats sleep.", "They sleep well."]),
        ("body", ["One item."]),
        ("body", ["animal | sleeps", "cat | 16 h"]),
        ("caption", ["Figure 1: Cats."]),
    ]


@pytest.mark.parametrize(
    ("title", "author"),
    [("Microsoft Word - paper.doc", "Microsoft Office User"), ("Document1", "admin"), ("", "")],
)
def test_properties_that_say_nothing_are_left_out(tmp_path: Path, title: str, author: str) -> None:
    file = docx.Document()
    file.core_properties.title, file.core_properties.author = title, author
    file.add_paragraph("A study of cats")
    file.add_paragraph("They sleep.")
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert (document.title, document.authors, texts(document)) == ("A study of cats", (), ["They sleep."])


def test_headings_are_known_by_bold_outline_level_and_base_style(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("A study of cats")
    for heading, text in (
        ("Abstract", "In short."),
        ("1 Introduction", "They sleep."),
        ("Method", "We look."),
    ):
        file.add_paragraph().add_run(heading).bold = True
        file.add_paragraph(text)
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert headings(document) == ["1 Introduction", "Method"]
    assert [paragraph.text for paragraph in document.abstract] == ["In short."]
    file = docx.Document()
    style = file.styles.add_style("Kapitel", 1)
    style.base_style = file.styles["Heading 1"]
    file.add_paragraph("First part", style="Kapitel")
    own = file.add_paragraph("Inner part")
    own._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    file.add_paragraph("Text.")
    file.add_paragraph("Second part", style="Kapitel")
    file.add_paragraph("More.")
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert headings(document) == ["First part > Inner part", "Second part"]


def test_styles_of_pandoc_are_known(tmp_path: Path) -> None:
    file = docx.Document()
    for name in ("Author", "Date", "Abstract", "Source Code"):
        file.styles.add_style(name, 1)
    for text, style in (
        ("On Cats", "Title"),
        ("Ada Lovelace", "Author"),
        ("May 2021", "Date"),
        ("In short.", "Abstract"),
    ):
        file.add_paragraph(text, style=style)
    file.add_paragraph("x = 1. y = 2.", style="Source Code")
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert (document.title, document.year) == ("On Cats", 2021)
    assert document.authors == (Author("Ada", "Lovelace"),)
    assert [paragraph.text for paragraph in document.abstract] == ["In short."]
    assert len(document.sections[0].paragraphs[0].sentences) == 1


def test_tracked_changes_links_controls_and_footnotes_are_read_where_they_stand(tmp_path: Path) -> None:
    # Regression: python-docx's own text leaves out what was inserted.
    file = docx.Document()
    file.add_heading("On Cats", 0)
    inner = (
        "<w:r><w:t>They </w:t></w:r><w:ins><w:r><w:t>often</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:tab/><w:t>sleep</w:t><w:br/></w:r>"
        "<w:hyperlink><w:r><w:t>here.</w:t></w:r></w:hyperlink>"
    )
    file.element.body.insert(1, parse_xml(f"<w:p {nsdecls('w')}>{inner}</w:p>"))
    control = "<w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent>"
    file.element.body.insert(2, parse_xml(f"<w:sdt {nsdecls('w')}>{control}</w:sdt>"))
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert texts(document) == ["They often sleep here.", "In a control."]
    file = paper()
    mark = parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="2"/></w:r>')
    next(p for p in file.paragraphs if p.text.startswith("Cats sleep"))._p.append(mark)
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>'
    part = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/word/footnotes.xml"),
        FOOTNOTES,
        f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>".encode(),
        file.part.package,
    )
    file.part.relate_to(part, RELATION)
    document = read_document(saved(file, tmp_path / "paper.docx"))
    assert [(p.kind, p.text) for p in document.sections[0].paragraphs][1] == ("note", "A note.")


# Archives made to do harm


def plain(path: Path) -> Path:
    file = docx.Document()
    file.add_paragraph("A study of cats")
    file.add_paragraph("They sleep.")
    return saved(file, path)


def document_xml(body: str, doctype: str = "") -> str:
    return f"<?xml version='1.0'?>{doctype}<w:document {nsdecls('w')}><w:body>{body}</w:body></w:document>"


def test_archives_that_unpack_to_too_much_or_lie_are_refused(tmp_path: Path) -> None:
    path = repacked(plain(tmp_path / "paper.docx"), {"word/more.xml": b" " * (LARGEST_XML + 1)})
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ParseError, match=r"^paper\.docx would unpack to more than any paper holds"):
        read_document(path)
    path = repacked(plain(tmp_path / "paper.docx"), {"word/document.xml": document_xml(" " * 5_000_000)})
    content = path.read_bytes()
    size = len(document_xml(" " * 5_000_000))
    path.write_bytes(content.replace(struct.pack("<L", size), struct.pack("<L", 100)))
    with pytest.raises(ParseError, match=r"^paper\.docx is broken"):
        read_document(path)
    path = repacked(plain(tmp_path / "paper.docx"), {f"x{n}": b"" for n in range(10_001)})
    with pytest.raises(ParseError, match="would unpack"):
        read_document(path)


def test_entities_are_neither_fetched_nor_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("stolen words")
    doctype = f'<!DOCTYPE w:document [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
    body = "<w:p><w:r><w:t>A study of cats</w:t></w:r></w:p><w:p><w:r><w:t>They sleep. &x;</w:t></w:r></w:p>"
    path = repacked(plain(tmp_path / "paper.docx"), {"word/document.xml": document_xml(body, doctype)})
    assert "stolen" not in str(read_document(path))
    entities = "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    doctype = f'<!DOCTYPE w:document [<!ENTITY a "ha">{entities}]>'
    body = "<w:p><w:r><w:t>A study of cats</w:t></w:r></w:p><w:p><w:r><w:t>They sleep. &i;</w:t></w:r></w:p>"
    path = repacked(plain(tmp_path / "paper.docx"), {"word/document.xml": document_xml(body, doctype)})
    with pytest.raises(ParseError, match=r"^paper\.docx is broken"):
        read_document(path)


DEEP = "<w:sdt><w:sdtContent>" * 5_000 + "</w:sdtContent></w:sdt>" * 5_000


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"word/document.xml": "<broken"}, "is broken"),
        ({"word/document.xml": document_xml(DEEP)}, "is broken"),
        ({"word/document.xml": document_xml("")}, "has no text"),
        ({"word/document.xml": "<html/>"}, "is broken"),
        ({"word/styles.xml": "<w:styles"}, "is broken"),
        ({"[Content_Types].xml": "<Types/>"}, "is broken"),
        ({"_rels/.rels": "<x/>"}, "is broken"),
    ],
)
def test_broken_part_is_named_in_one_sentence(tmp_path: Path, parts: dict[str, str], reason: str) -> None:
    with pytest.raises(ParseError, match=rf"^paper\.docx {reason}"):
        read_document(repacked(plain(tmp_path / "paper.docx"), parts))


def archive(names: list[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "is encrypted, or an old Word file"),
        (b"Just some text.", "is not a Word file"),
        (archive(["a.txt"])[:-5], "is not a Word file"),
        (archive(["a.txt"]), "is broken"),
        (
            archive(["a.txt"]).replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
            "is encrypted",
        ),
    ],
    ids=["empty", "encrypted by Word", "text", "cut off", "another archive", "encrypted zip"],
)
def test_what_is_no_word_file_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "paper.docx").write_bytes(content)
    with pytest.raises(ParseError, match=rf"^paper\.docx {reason}"):
        read_document(tmp_path / "paper.docx")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95, 0.999])
def test_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    path = plain(tmp_path / "paper.docx")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ParseError, match=r"^paper\.docx is not a Word file"):
        read_document(path)


def test_damaged_bytes_give_a_document_or_a_parse_error(tmp_path: Path) -> None:
    content = plain(tmp_path / "paper.docx").read_bytes()
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        (tmp_path / "paper.docx").write_bytes(bytes(damaged))
        try:
            assert read_document(tmp_path / "paper.docx").parser == "python-docx"
        except ParseError as error:
            assert str(error).startswith("paper.docx ")
