"""Folders of files: every file is one paper with an id of its own, whatever its name."""

import os
import time
from pathlib import Path

import pytest

from corpus.records import Collection
from indexer.sources.folder import PDF_SUFFIXES, TEI_SUFFIXES, Folder
from indexer.sources.protocol import SourceError

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


def test_files_come_in_the_order_of_their_names_with_their_places(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "c.pdf", "a.pdf", "b/d.pdf", "notes.txt", "a.pdf.bak")
    found = [(entry.name, entry.paper.position) for entry in folder.papers()]
    assert found == [("a.pdf", 0), ("b/d.pdf", 1), ("c.pdf", 2)]


def test_tei_files_have_several_endings(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a.tei.xml", "b.tei", "c.xml", "d.TEI.XML", "e.pdf", suffixes=TEI_SUFFIXES)
    assert [entry.paper.id for entry in folder.papers()] == [f"notes/{key}" for key in "abcd"]


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


def test_listing_many_files_takes_no_time(tmp_path: Path) -> None:
    """Regression: a million names were made up for every file before one was taken."""
    folder = _folder(tmp_path, *(f"{n}.pdf" for n in range(300)), *(f"same {'-' * n}.pdf" for n in range(50)))
    started = time.monotonic()
    assert len({entry.paper.id for entry in folder.papers()}) == 350
    assert time.monotonic() - started < 5


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    assert len(_folder(tmp_path, "a.pdf", "sub/b.pdf")) == 2


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"There is no folder .*nowhere"):
        Folder(tmp_path / "nowhere", NOTES, PDF_SUFFIXES)
    (tmp_path / "file.pdf").write_bytes(b"")
    with pytest.raises(SourceError, match="There is no folder"):
        Folder(tmp_path / "file.pdf", NOTES, PDF_SUFFIXES)


def test_a_folder_without_papers_is_named_with_what_was_looked_for(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(SourceError, match=r"holds no file that ends in \.pdf"):
        _folder(tmp_path, "a.tei.xml")
    with pytest.raises(SourceError, match=r"ends in \.tei\.xml or \.tei or \.xml"):
        Folder(empty, NOTES, TEI_SUFFIXES)


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
