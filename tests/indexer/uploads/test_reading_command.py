"""One document read by a program of its own: what it prints, and what it makes of files that mean harm."""

import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from corpus.records import LONGEST_FIELD, Paper
from corpus.settings import PROJECT
from indexer.errors import ParseError
from indexer.uploads.document import ReadDocument
from indexer.uploads.paper import ReadLimits, key_of, read_file
from tests.small_pdf import write_pdf
from tests.standin_files import Served, StandinFiles, Trouble

LIMITS = ReadLimits(most_bytes=300_000, most_pages=3, most_passages=5)
SENTENCE = "A page tells of one thing that is worth reading, and says so in {} words."
PROSE = " ".join(SENTENCE.format(number) for number in range(12))


def page(number: int) -> str:
    lines = (SENTENCE.format(f"{number} {line}") for line in range(20))
    return "BT /F 11 Tf 14 TL 60 740 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"


def run(*arguments: str, seconds: int = 60) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "indexer.uploads.reading", "--json", f"--seconds={seconds}"]
    done = subprocess.run([*command, *arguments], cwd=PROJECT, capture_output=True, timeout=600, check=False)
    return done.returncode, json.loads(done.stdout or b"{}")


def read(path: Path, limits: ReadLimits = LIMITS) -> ReadDocument:
    return read_file(path, path.name, "own", limits)


def test_documents_of_every_kind_become_papers(tmp_path: Path) -> None:
    path = tmp_path / "My Notes.md"
    path.write_text(f"# On pages\n\nAda Lovelace\n\n## Abstract\n\n{PROSE}\n\n## Method\n\n{PROSE}")
    found = read(path)
    assert (found.paper.id, found.paper.title, found.paper.source) == (
        "own/my-notes",
        "On pages",
        "My Notes.md",
    )
    assert [passage.section_path for passage in found.passages] == ["", "Method"]
    assert (found.file, found.remarks) == ("", ())
    path = tmp_path / "latin.txt"
    path.write_bytes(f"Über Seiten\n\nGröße und Übung. {PROSE}".encode("latin-1"))
    found = read(path)
    assert any("not UTF-8" in remark for remark in found.remarks)
    assert found.paper.title == "Über Seiten"
    document = docx.Document()
    document.add_heading("On pages", 0)
    document.add_paragraph(PROSE)
    document.save(str(tmp_path / "notes.docx"))
    assert read(tmp_path / "notes.docx").paper.title == "On pages"
    path = tmp_path / "untitled.txt"
    path.write_text(PROSE)
    paper: Paper = read_file(path, "What I wrote\n.txt", "own", LIMITS).paper
    assert paper.title == "What I wrote .txt"


def test_what_is_fetched_is_read_and_its_pdf_kept(tmp_path: Path) -> None:
    pdf = write_pdf(tmp_path / "original.pdf", [page(1), page(2)]).read_bytes()
    (folder := tmp_path / "kept").mkdir()
    with StandinFiles({"/paper": Served(pdf)}) as server:
        arguments = ("--web", "--allow-private-hosts", f"--keep={folder}", "--", f"{server.url}/paper")
        code, printed = run(*arguments)
    assert code == 0
    document = printed["document"]
    assert (folder / document["file"]).read_bytes() == pdf
    assert document["paper"]["url"].endswith("/paper")
    assert document["paper"]["page_count"] == 2
    assert "in 2 10 words" in document["passages"][-1]["text"]


@pytest.mark.parametrize(("setting", "code"), [("true", 0), ("false", 2)])
def test_fault_the_command_ignored_the_setting_for_private_hosts(
    monkeypatch: pytest.MonkeyPatch, setting: str, code: int
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_PRIVATE_HOSTS", setting)
    with StandinFiles({"/notes.txt": Served(PROSE.encode(), content_type="text/plain")}) as server:
        assert run("--web", "--", f"{server.url}/notes.txt")[0] == code


def test_no_file_of_the_server_is_read_and_a_bomb_ends_the_process_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_text(PROSE)
    code, printed = run("--web", "--", str(path))
    assert code == 2
    assert set(printed) == {"error"}
    path = write_pdf(tmp_path / "bomb.pdf", ["BT /F 9 Tf 9 9 Td (aaaa bbbb) Tj ET " * 60_000])
    code, printed = run("--memory=300", "--", str(path))
    assert code != 0
    assert "document" not in printed


def test_the_process_ends_when_its_time_is_over(tmp_path: Path) -> None:
    with StandinFiles({"/a": Served(b"words")}) as server:
        server.troubles.append(Trouble(silent=20.0))
        address = f"{server.url}/a"
        code, printed = run("--web", "--allow-private-hosts", "--", address, seconds=1)
    assert (code, printed) == (-signal.SIGALRM, {})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.pdf", b"", "empty"),
        ("fake.pdf", b"hello", "called a PDF but is none"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a picture"),
        ("program.exe", b"MZ", "cannot be read"),
        ("page.html.exe", b"<p>", "cannot be read"),
        ("large.txt", b"x" * 300_001, "larger than"),
        (
            "a.nbib",
            b"PMID- 1",
            ".nbib files cannot be read: export the references as BibTeX, RIS or CSL-JSON",
        ),
    ],
)
def test_a_file_that_is_none_says_why(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ParseError, match=said):
        read(path)


def test_zip_bombs_and_pictures_of_pages_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"a" * (40 * 2**20))
    with pytest.raises(ParseError, match="bomb"):
        read(path)
    with pytest.raises(ParseError, match="no text layer"):
        read(write_pdf(tmp_path / "scan.pdf", ["0 0 m 9 9 l S"] * 2))


def test_of_a_long_pdf_text_or_title_the_beginning_is_read(tmp_path: Path) -> None:
    found = read(write_pdf(tmp_path / "long.pdf", [page(number) for number in range(1, 6)]))
    assert "only the first 3 of its 5 pages were read" in found.remarks
    assert "4 1 words" not in " ".join(passage.text for passage in found.passages)
    path = tmp_path / "long.txt"
    path.write_text("\n\n".join(["On pages", *[PROSE] * 40]))
    found = read(path)
    assert "only about the first 1,000 words were read" in found.remarks
    assert len(found.passages) <= 10
    path = tmp_path / "long.md"
    path.write_text(
        f"---\ntitle: T{'1' * 3_000}\nkeywords: [{'k' * 900}]\n---\n\n# One\n\nWe search.\n", encoding="utf-8"
    )
    found = read_file(path, "long.md", "x", LIMITS)
    assert len(found.paper.title) == LONGEST_FIELD["title"]
    assert all(len(word) <= LONGEST_FIELD["keywords"] for word in found.paper.keywords)
    assert "its title is longer than any can be; only the beginning is kept" in found.remarks


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("My Notes (2).pdf", "my-notes-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\nb\r\nc.md", "a-b-c"),
        ("\u202egnp.exe", "gnp.exe"),
        ("論文.pdf", "document"),
        ("https://arxiv.org/pdf/2203.1", "https-arxiv.org-pdf-2203.1"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_name_becomes_a_key_of_plain_letters(name: str, key: str) -> None:
    assert key_of(name) == key


def test_the_programs_for_foreign_files_load_nothing_of_the_store_and_no_server(root: Path) -> None:
    """LanceDB alone takes seconds to load, and most of the memory that a program may have."""
    loaded = (
        "import sys, indexer.uploads.reading, indexer.uploads.draw_page, indexer.uploads.paper;"
        "import indexer.parsers.pdf.document, indexer.parsers.text.docx, indexer.parsers.tei.document;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    names = subprocess.run(
        [sys.executable, "-c", loaded], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    too_much = {"lancedb", "pyarrow", "torch", "sklearn", "grobid_client", "acl_anthology", "streamlit"}
    assert "pypdfium2" in names
    assert too_much & set(names) == set()
