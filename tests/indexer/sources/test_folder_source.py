"""Folders of files: every file is one paper with an id of its own, whatever its name."""

import json
import os
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.records import Collection
from indexer.__main__ import app
from indexer.errors import ParseError, SourceError
from indexer.parsers.registry import file_sha256
from indexer.sources.folder import FOLDER_SUFFIXES, PDF_SUFFIXES, TEI_SUFFIXES, Folder
from indexer.sources.pdf_folder import PdfFolder

NOTES = Collection("notes", "Notes")


def _folder(directory: Path, *names: str, suffixes: tuple[str, ...] = PDF_SUFFIXES) -> Folder:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(b"")
    return Folder(directory, NOTES, suffixes)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("a.pdf", "a"),
        ("A paper, with (marks) & spaces.PDF", "A-paper-with-marks-spaces"),
        ("2312.07559v2.pdf", "2312.07559v2"),
        ("ünï 日本.pdf", "ünï-日本"),
        ("x' OR 1=1 --.pdf", "x-OR-1-1"),
        ("sub/folder/a#1.pdf", "sub-folder-a-1"),
        ("-.pdf", "paper"),
        (".pdf", "paper"),
        ("..pdf", "paper"),
        ("🙂.pdf", "paper"),
        ("..%2F..%2Fetc%2Fpasswd.pdf", "2F..-2Fetc-2Fpasswd"),
        ("..\\..\\up.pdf", "up"),
        ("cafe\u0301.pdf", "café"),
        ("a.tei.pdf", "a.tei"),
    ],
)
def test_a_file_name_becomes_a_plain_id(tmp_path: Path, name: str, key: str) -> None:
    (entry,) = _folder(tmp_path, name).papers()
    assert entry.paper.id == f"notes/{key}"
    assert entry.name == entry.paper.source == name
    assert entry.file == tmp_path / name


def test_two_files_of_the_same_key_are_two_papers(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a b.pdf", "a-b.pdf", "a/b.pdf", "a-b-2.pdf")
    ids = [entry.paper.id for entry in folder.papers()]
    assert len(set(ids)) == len(folder) == 4
    assert ids == [entry.paper.id for entry in folder.papers()]


def test_files_have_ids_of_their_own_and_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "c.pdf", "a.pdf", "b/d.pdf", "notes.txt", "a.pdf.bak")
    found = [(entry.name, entry.paper.position) for entry in folder.papers()]
    assert found == [("a.pdf", 0), ("b/d.pdf", 1), ("c.pdf", 2)]
    folder = _folder(
        tmp_path / "tei", "a.tei.xml", "b.tei", "c.xml", "d.TEI.XML", "e.pdf", suffixes=TEI_SUFFIXES
    )
    assert [entry.paper.id for entry in folder.papers()] == [f"notes/{key}" for key in "abcd"]
    names = ("a.pdf", "b.tei.xml", "c.md", "d.markdown", "e.txt", "f.docx", "g.odt", "h")
    folder = _folder(tmp_path / "all", *names, suffixes=FOLDER_SUFFIXES)
    assert [entry.name for entry in folder.papers()] == list(names[:6])
    assert [entry.paper.id for entry in folder.papers()] == [f"notes/{key}" for key in "abcdef"]


def test_a_name_that_is_not_unicode_can_be_stored_and_shown(tmp_path: Path) -> None:
    """Regression: such a name ended the build with a UnicodeEncodeError."""
    for name in (b"\xff\xfe.pdf", b"\xe9t\xe9.pdf", b"\x1b[31mred.pdf"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"")
    for entry in Folder(tmp_path, NOTES, PDF_SUFFIXES).papers():
        for text in (entry.name, entry.paper.id, entry.paper.source):
            text.encode()
            assert text.isprintable()
        assert entry.file
        assert entry.file.exists()


def test_fault_a_million_names_were_made_up_for_every_file_before_one_was_taken(tmp_path: Path) -> None:
    """It took minutes of the processor."""
    folder = _folder(tmp_path, *(f"{n}.pdf" for n in range(300)), *(f"same {'-' * n}.pdf" for n in range(50)))
    started = time.process_time()
    assert len({entry.paper.id for entry in folder.papers()}) == 350
    assert time.process_time() - started < 20


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    assert len(_folder(tmp_path, "a.pdf", "sub/b.pdf")) == 2


def test_folders_that_are_missing_or_without_papers_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"There is no folder .*nowhere"):
        Folder(tmp_path / "nowhere", NOTES, PDF_SUFFIXES)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(SourceError, match=r"holds no file that ends in \.pdf"):
        _folder(tmp_path, "a.tei.xml")
    with pytest.raises(SourceError, match=r"ends in \.tei\.xml, \.tei or \.xml"):
        Folder(empty, NOTES, TEI_SUFFIXES)
    (tmp_path / "file.pdf").write_bytes(b"")
    with pytest.raises(SourceError, match=r"There is no folder .*file\.pdf, which is a file: name the one"):
        Folder(tmp_path / "file.pdf", NOTES, PDF_SUFFIXES)


def test_a_part_of_the_folder_that_cannot_be_listed_is_not_taken_for_empty(tmp_path: Path) -> None:
    """Regression: papers in a folder that could not be read counted as removed."""
    _folder(tmp_path, "a.pdf")
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # deeper than a path may be long, so that listing it fails for everybody
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    with pytest.raises(SourceError, match=r"cannot be read: File name too long"):
        Folder(tmp_path, NOTES, PDF_SUFFIXES)


def _entries(folder: Folder, directory: Path) -> list[tuple[str, str, str]]:
    """Return the key, the file to parse and the PDF to show of every paper."""
    return [
        (
            entry.paper.id.removeprefix("notes/"),
            entry.name,
            entry.pdf.relative_to(directory).as_posix() if entry.pdf else "",
        )
        for entry in folder.papers()
    ]


@pytest.mark.parametrize("tei", ["x.tei.xml", "x.grobid.tei.xml", "x.tei", "x.xml", "x.TEI.XML"])
@pytest.mark.parametrize("pdf", ["x.pdf", "x.PDF"])
def test_a_pdf_and_its_tei_are_one_paper(tmp_path: Path, tei: str, pdf: str) -> None:
    folder = _folder(tmp_path, tei, pdf, "y.pdf", suffixes=FOLDER_SUFFIXES)
    assert len(folder) == 2
    assert _entries(folder, tmp_path) == [("x", tei, pdf), ("y", "y.pdf", "")]


@pytest.mark.parametrize(
    ("names", "suffixes", "entries"),
    [
        (("x.tei.xml", "x.pdf", "y.pdf"), TEI_SUFFIXES, [("x", "x.tei.xml", "x.pdf")]),
        (("x.tei.xml", "x.pdf"), PDF_SUFFIXES, [("x", "x.pdf", "")]),
        # Only files beside each other are one paper.
        (
            ("sub/x.tei.xml", "x.pdf", "x.md"),
            FOLDER_SUFFIXES,
            [("sub-x", "sub/x.tei.xml", ""), ("x", "x.md", ""), ("x-2", "x.pdf", "")],
        ),
        (
            ("x.tei.xml", "x.grobid.tei.xml", "x.pdf"),
            FOLDER_SUFFIXES,
            [("x", "x.grobid.tei.xml", "x.pdf"), ("x-2", "x.tei.xml", "x.pdf")],
        ),
        # Programs leave such files beside open and copied ones.
        (("x.docx", "~$x.docx", "._x.docx"), FOLDER_SUFFIXES, [("x", "x.docx", "")]),
    ],
)
def test_files_beside_each_other_are_paired(
    tmp_path: Path, names: tuple[str, ...], suffixes: tuple[str, ...], entries: list[tuple[str, str, str]]
) -> None:
    assert _entries(_folder(tmp_path, *names, suffixes=suffixes), tmp_path) == entries


def test_a_link_to_itself_is_listed_and_refused_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "loop.pdf").symlink_to(tmp_path / "loop.pdf")
    (entry,) = Folder(tmp_path, NOTES, FOLDER_SUFFIXES).papers()
    assert entry.file
    with pytest.raises(ParseError, match="Too many levels of symbolic links"):
        file_sha256(entry.file)


def _with_a_secret(tmp_path: Path) -> Path:
    """Return a folder beside a file that is none of its own."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.pdf").write_bytes(b"%PDF-1.4")
    return tmp_path / "papers"


def test_a_link_to_a_folder_is_read_and_a_link_out_of_it_named_and_not_read(tmp_path: Path) -> None:
    papers = _with_a_secret(tmp_path)
    (papers / "b.pdf").symlink_to(tmp_path / "elsewhere" / "secret.pdf")
    (papers / "sub").symlink_to(tmp_path / "elsewhere")
    (papers / "c.pdf").symlink_to("a.pdf")
    folder = Folder(papers, NOTES, PDF_SUFFIXES)
    assert [entry.name for entry in folder.papers()] == ["a.pdf", "c.pdf"]
    assert [remark.partition(" ")[0] for remark in folder.remarks] == ["b.pdf", "sub"]
    assert PdfFolder(papers).remarks == folder.remarks
    _folder(tmp_path / "others", "a.pdf")
    folder = Folder(tmp_path / "papers" / ".." / "others", NOTES, PDF_SUFFIXES)
    assert [entry.name for entry in folder.papers()] == ["a.pdf"]


def test_a_pdf_beside_a_tei_is_not_shown_from_elsewhere(tmp_path: Path) -> None:
    papers = _with_a_secret(tmp_path)
    (papers / "b.tei.xml").write_text("<TEI/>")
    (papers / "b.pdf").symlink_to(tmp_path / "elsewhere" / "secret.pdf")
    listed = {entry.name: entry.pdf for entry in Folder(papers, NOTES, FOLDER_SUFFIXES).papers()}
    assert listed == {"a.pdf": None, "b.tei.xml": None}


def test_a_folder_that_is_a_link_itself_is_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(_with_a_secret(tmp_path))
    folder = Folder(tmp_path / "link", NOTES, PDF_SUFFIXES)
    assert [entry.name for entry in folder.papers()] == ["a.pdf"]
    assert folder.remarks == ()


def test_a_folder_of_links_to_elsewhere_alone_says_why_it_is_empty(tmp_path: Path) -> None:
    papers = _with_a_secret(tmp_path)
    (papers / "a.pdf").unlink()
    (papers / "b.pdf").symlink_to(tmp_path / "elsewhere" / "secret.pdf")
    with pytest.raises(SourceError, match=r"ends in \.pdf but 1 link out of it"):
        Folder(papers, NOTES, PDF_SUFFIXES)


def test_the_report_of_a_build_names_links_out_of_the_folder(tmp_path: Path) -> None:
    papers = _with_a_secret(tmp_path)
    (papers / "b.pdf").symlink_to(tmp_path / "elsewhere" / "secret.pdf")
    (papers / "note.md").write_text("# Bats\n\nAll bats sleep by day.\n")
    environment = {"PAPER_TRAIL_HOME": str(tmp_path / "home")}
    named = ["folder", str(papers), "--collection", "x", "--title", "X"]
    done = CliRunner().invoke(app, [*named, "--json"], env=environment)
    assert json.loads(done.stdout)["remarks"] == ["b.pdf is a link out of the folder, and is not read"]
