"""A visitor's documents: taken in apart, seen by nobody else, and gone when they are removed."""

import gc
import io
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock
from PIL import Image

from corpus.encoders.base import Encoder
from corpus.pdf.file import page_size
from corpus.pdf.images import page_image
from corpus.records import UPLOADS, Box, PassageSize, Scope
from corpus.search.hybrid import search
from corpus.settings import PROJECT
from indexer.uploads import folders, sandbox, session
from indexer.uploads.document import DocumentError, shown_name, stored_name, unused_key
from indexer.uploads.sandbox import BusyError, Limits, StoppedError, draw_sandboxed
from indexer.uploads.session import MOST_DOCUMENTS, UploadedDocument, UploadSession, UploadWorkers
from tests.shifted_clock import COMPILER, ShiftedClock
from tests.small_pdf import write_endless_pdf, write_pdf
from tests.standin_files import Served, StandinFiles, Trouble

CANARY = "xylophonic"
PAGE = "BT /F 12 Tf 60 700 Td (Rank fusion) Tj 0 -40 Td (Ranks of several lists are added and sorted.) Tj ET"
NOTES = (
    f"# On {CANARY} pages\n\nPages that are {CANARY} sing when they are turned. Nobody has heard them yet."
)
Make = Callable[..., UploadSession]


@pytest.fixture
def make(tmp_path: Path, encoder: Encoder) -> Iterator[Make]:
    """Make the documents of a visit; all are closed in the end."""
    made: list[UploadSession] = []

    def make_one(**changes: object) -> UploadSession:
        arguments = {"readers": UploadWorkers(), "allow_private": True} | changes
        made.append(UploadSession(tmp_path / "home", encoder, **arguments))  # type: ignore[arg-type]
        return made[-1]

    yield make_one
    for opened in made:
        opened.close()


def finish(own: UploadSession) -> tuple[UploadedDocument, ...]:
    deadline = time.monotonic() + 3000
    while own.is_reading():
        assert time.monotonic() < deadline, own.documents()
        time.sleep(0.02)
    return own.documents()


def files_with(folder: Path, word: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_documents_are_read_asked_and_gone_when_they_are_removed(
    make: Make, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("corpus.places.folder.sync_tree", synced.append)
    own, another = make(), make()
    original = write_pdf(tmp_path / "rank-fusion.pdf", [PAGE, PAGE.replace("several", "many")]).read_bytes()
    page = (
        b"<html><body><article><h1>On the web</h1><p>" + b"A page has words. " * 30 + b"</p></article></body>"
    )
    with StandinFiles({"/page": Served(page, "text/html")}) as server:
        own.add_file("rank-fusion.pdf", original)
        own.add_file("notes.md", NOTES.encode())
        own.add_file("scan.pdf", b"%PDF-1.4\nno pages at all")
        own.add_address(f"{server.url}/page")
        pdf, notes, broken, web = finish(own)

    assert (pdf.state, pdf.pages, pdf.paper_id) == ("ready", 2, "your-documents/rank-fusion")
    assert (notes.title, web.title) == (f"On {CANARY} pages", "On the web")
    assert (broken.state, own.ready()) == ("failed", (pdf, notes, web))
    assert broken.problem.endswith(".")
    corpus = own.corpus
    assert corpus is not None
    assert corpus.count_papers() == 3
    found = search(corpus, encoder, f"{CANARY} pages", Scope(), papers=1)
    assert found[0].paper.id == notes.paper_id
    kept = own.pdf_folder / f"{corpus.paper(pdf.paper_id).pdf_sha256}.pdf"
    assert kept.read_bytes() == original
    assert another.corpus is None
    assert another.documents() == ()

    assert files_with(own.folder, CANARY)
    own.remove(notes.number)
    assert not files_with(own.folder, CANARY)
    assert own.corpus is not None
    assert own.corpus.count_papers() == 2
    own.remove(pdf.number)
    assert not kept.exists()
    own.remove_all()
    assert (own.corpus, own.documents(), list(own.folder.iterdir())) == (None, (), [])
    assert synced == [], "what ends with its visit is synced to disk"


def test_a_folder_is_its_owners_alone_and_goes_with_the_visit(make: Make) -> None:
    own = make()
    assert stat.S_IMODE(own.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(own.folder.parent.stat().st_mode) == 0o700
    own.close()
    assert not own.folder.exists()
    with pytest.raises(DocumentError):
        own.add_file("late.txt", b"words")
    own = make()
    own.leave(0.2)
    own.stay()
    own.leave(60)
    own.stay()
    own.add_file("empty.txt", b"")
    assert [document.problem for document in finish(own)] == ["The file is empty."]
    own.leave(0.01)
    wait_for(lambda: not own.folder.exists())


def test_a_visit_that_nobody_closed_or_a_dead_server_leaves_nothing(tmp_path: Path, encoder: Encoder) -> None:
    own = UploadSession(tmp_path, encoder, UploadWorkers())
    folder = own.folder
    del own
    gc.collect()
    assert not folder.exists()
    visits = tmp_path / "other" / "visits"
    for name in ("server-dead", "server-living"):
        (visits / name / "visit-a").mkdir(parents=True)
    with FileLock(visits / "server-living.lock"):
        folders.sweep(tmp_path / "other")
        assert [path.name for path in visits.glob("*/")] == ["server-living"]


def test_reading_can_be_stopped_and_ends_by_itself(make: Make) -> None:
    own = make()
    with StandinFiles({"/a": Served(b"words", "text/plain")}) as server:
        server.troubles.append(Trouble(silent=30.0))
        own.add_address(f"{server.url}/a")
        wait_for(lambda: bool(server.requests))
        folder = own.folder / "document-1"
        own.remove(1)
        wait_for(lambda: not folder.exists() and not own.is_reading())
    assert own.documents() == ()
    own = make(limits=Limits(seconds=1))
    with StandinFiles({"/a": Served(b"words", "text/plain")}) as server:
        server.troubles.append(Trouble(silent=30.0))
        own.add_address(f"{server.url}/a")
        (given_up,) = finish(own)
    assert given_up.problem == "Reading it took more than 1 seconds, the most that is given to one."


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _wait(event: threading.Event) -> None:
    event.wait(20)


def test_so_many_documents_and_so_large(make: Make) -> None:
    blocked = threading.Event()
    readers = UploadWorkers(at_once=1)
    readers.submit(lambda: _wait(blocked), "another")
    own = make(readers=readers, limits=Limits(most_bytes=10))
    with pytest.raises(DocumentError, match="larger than"):
        own.add_file("large.txt", b"x" * 11)
    for number in range(MOST_DOCUMENTS):
        own.add_file(f"{number}.txt", b"%d" % number)
    with pytest.raises(DocumentError, match="50 documents are the most"):
        own.add_file("one-more.txt", b"")
    own.remove_all()
    blocked.set()


def test_fault_a_document_with_a_long_name_is_read(make: Make) -> None:
    own = make()
    own.add_file(f"Roe et al. - 2019 - {'A mill and its wheel, ' * 12}.MD", NOTES.encode())
    (document,) = finish(own)
    assert (document.state, len(document.name), document.name[-5:]) == ("ready", 101, " ….MD")


def test_the_same_document_is_taken_once(make: Make) -> None:
    own = make()
    own.add_file("notes.md", NOTES.encode())
    with pytest.raises(DocumentError, match=r"^notes.md is here already\. It was taken once\.$"):
        own.add_file("notes.md", NOTES.encode())
    with pytest.raises(DocumentError, match=r"^copy.md is here already, called notes\.md\."):
        own.add_file("copy.md", NOTES.encode())
    own.add_file("notes.md", NOTES.replace("sing", "hum").encode())
    assert [document.state for document in finish(own)] == ["ready", "ready"]
    own.remove(1)
    own.add_file("notes.md", NOTES.encode())
    assert [(document.number, document.state) for document in finish(own)] == [(2, "ready"), (3, "ready")]


def test_unreadable_documents_do_not_count(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_DOCUMENTS", 1)
    monkeypatch.setattr(session, "MOST_LISTED", 2)
    own = make()
    for _ in range(2):
        own.add_file("empty.txt", b"")
        finish(own)
    assert [(document.number, document.state) for document in own.documents()] == [(2, "failed")]
    own.add_file("notes.md", NOTES.encode())
    assert [document.state for document in finish(own)] == ["failed", "ready"]
    with pytest.raises(DocumentError, match="1 documents are the most"):
        own.add_file("another.md", b"# Another\n\nSome words that are others.")


def test_a_server_with_too_much_to_read_says_so(make: Make) -> None:
    blocked = threading.Event()
    readers = UploadWorkers(at_once=1, most_waiting=1)
    readers.submit(lambda: _wait(blocked), "another")
    own = make(readers=readers)
    with pytest.raises(DocumentError, match="Too many documents"):
        own.add_file("a.txt", b"words")
    assert own.documents() == ()
    blocked.set()


REMOVE_AFTER_THE_CLOCK_IS_SET_BACK = """
import sys, time
from pathlib import Path
from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
from indexer.uploads.session import UploadSession, UploadWorkers
from tests.indexer.uploads.test_upload_session import CANARY, NOTES, files_with
ahead = Path(sys.argv[2])
own = UploadSession(Path(sys.argv[1]), open_encoder(read_settings()), UploadWorkers())
for name, content in (("notes.md", NOTES), ("cats.md", "# On cats\\n\\nCats sleep all day long. So it is.")):
    own.add_file(name, content.encode())
    while own.is_reading() or list(own.folder.glob("document-*")):
        time.sleep(0.02)
print([one.state for one in own.documents()], bool(files_with(own.folder, CANARY)))
ahead.write_text("0")
own.remove(1)
print([one.title for one in own.corpus.papers()], files_with(own.folder, CANARY))
own.close()
"""


@pytest.mark.skipif(not COMPILER, reason="no C compiler is installed")
def test_fault_text_of_removed_documents_stayed_where_the_clock_had_been_set_back(tmp_path: Path) -> None:
    clock = ShiftedClock.make(tmp_path)
    clock.set_ahead(3600)
    done = subprocess.run(
        [sys.executable, "-c", REMOVE_AFTER_THE_CLOCK_IS_SET_BACK, str(tmp_path / "home"), str(clock.file)],
        cwd=PROJECT,
        env=clock.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["['ready', 'ready'] True", "['On cats'] []"], done.stderr


def test_fault_one_visitor_took_all_readers_of_documents(make: Make) -> None:
    readers = UploadWorkers()
    with StandinFiles({f"/{n}": Served(b"words", "text/plain") for n in range(8)}) as server:
        server.troubles += [Trouble(silent=60.0)] * 8
        tabs = [make(readers=readers, owner="one") for _ in range(2)]
        for number in range(8):
            tabs[number % 2].add_address(f"{server.url}/{number}")
        wait_for(lambda: bool(server.requests))
        other = make(readers=readers, owner="other")
        other.add_file("notes.md", NOTES.encode())
        assert [document.state for document in finish(other)] == ["ready"]
        assert all(tab.is_reading() for tab in tabs)
        for tab in tabs:
            tab.remove_all()


def test_the_reader_is_told_no_secret(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "environment.txt"
    spy = f"import os, pathlib; pathlib.Path({str(told)!r}).write_text(repr(dict(os.environ)))"
    (tmp_path / "sitecustomize.py").write_text(spy)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TOGETHER_API_KEY", CANARY)
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"postgresql://user:{CANARY}@host/db")
    own = make()
    own.add_file("empty.txt", b"")
    finish(own)
    assert "PATH" in told.read_text()
    assert CANARY not in told.read_text()


def test_a_page_that_takes_for_ever_holds_up_nobody_elses(tmp_path: Path) -> None:
    """Regression: it was drawn in the server, under the one lock of PDFium, and all screens stood still."""
    endless = write_endless_pdf(tmp_path / "endless.pdf")
    other = write_pdf(tmp_path / "other.pdf", [PAGE])
    stop = threading.Event()
    with ThreadPoolExecutor(1) as visitor:
        slow = visitor.submit(draw_sandboxed, endless, 1, (), 1.8, stop=stop, limits=Limits(seconds=600))
        try:
            drawn = draw_sandboxed(other, 1, [Box(1, 60, 80, 90, 12)], 1.0)
            assert (drawn.width, drawn.height) == (612, 792)
            with Image.open(io.BytesIO(drawn.picture)) as picture:
                assert picture.size == (612, 792)
            assert page_size(other, 1) == (612, 792)
            assert page_image(other, 1).startswith(b"\xff\xd8\xff")
            assert not slow.done()
        finally:
            stop.set()
        assert isinstance(slow.exception(), StoppedError)
    with pytest.raises(DocumentError, match="Drawing it took more than 1 seconds"):
        draw_sandboxed(endless, 1, (), 1.8, limits=Limits(seconds=1))


def test_one_visitor_with_several_sessions_does_not_hold_both_places_to_draw(tmp_path: Path) -> None:
    endless = write_endless_pdf(tmp_path / "endless.pdf")
    other = write_pdf(tmp_path / "other.pdf", [PAGE])
    stop = threading.Event()
    with ThreadPoolExecutor(1) as visitor:
        slow = visitor.submit(draw_sandboxed, endless, 1, (), 1.8, owner="one", stop=stop)
        try:
            wait_for(lambda: bool(sandbox._drawing))
            with pytest.raises(BusyError, match="Try again in a minute"):
                draw_sandboxed(other, 1, (), 1.0, owner="one", limits=Limits(seconds=1))
            assert draw_sandboxed(other, 1, (), 1.0, owner="another").width == 612
        finally:
            stop.set()
        assert isinstance(slow.exception(), StoppedError)
    assert sandbox._drawing == []


def test_a_page_that_takes_all_memory_costs_its_picture(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "large.pdf", [PAGE])
    with pytest.raises(DocumentError, match=r"not enough memory|more than 64 MiB"):
        draw_sandboxed(path, 1, (), 1.8, limits=Limits(memory_mib=64))
    with pytest.raises(DocumentError, match="has no page 2"):
        draw_sandboxed(path, 2, (), 1.8)


@pytest.mark.parametrize("address", ["", "   "])
def test_an_address_has_to_be_typed(make: Make, address: str) -> None:
    with pytest.raises(DocumentError, match="Type the address"):
        make().add_address(address)


def test_what_stands_in_a_name_or_an_address_is_no_option_of_the_reader(make: Make, tmp_path: Path) -> None:
    own = make()
    own.add_address(f"--keep={tmp_path}")
    own.add_address("file:///etc/passwd")
    own.add_address(str(PROJECT / "README.md"))
    assert [document.state for document in finish(own)] == ["failed"] * 3


@pytest.mark.parametrize(
    ("name", "shown", "stored"),
    [
        ("My Notes.PDF", "My Notes.PDF", "My-Notes.pdf"),
        ("../../etc/passwd", "passwd", "passwd"),
        ("C:\\papers\\a b.docx", "a b.docx", "a-b.docx"),
        ("a\nb\r\nc.md", "a b c.md", "a-b-c.md"),
        ("\u202efdp.exe", "fdp.exe", "fdp"),
        ("論文.txt", "論文.txt", "document.txt"),
        ("", "Document", "Document"),
        ("-rf.txt", "-rf.txt", "rf.txt"),
        ("x" * 300 + ".txt", "x" * 96 + " ….txt", "x" * 60 + ".txt"),
        ("x" * 96 + ".pdf", "x" * 96 + ".pdf", "x" * 60 + ".pdf"),
        ("x" * 97 + ".PDF", "x" * 96 + " ….PDF", "x" * 60 + ".pdf"),
        ("word " * 40 + "end.markdown", "word " * 17 + "word ….markdown", ("word-" * 12)[:60] + ".markdown"),
        ("论" * 200 + ".docx ", "论" * 95 + " ….docx", "document.docx"),
        ("x." + "y" * 200, "x." + "y" * 98 + " …", "x"),
        (".pdf", ".pdf", "pdf"),
    ],
)
def test_a_name_is_shown_and_stored_without_harm(name: str, shown: str, stored: str) -> None:
    assert (shown_name(name), stored_name(name)) == (shown, stored)


def test_two_documents_of_one_name_have_keys_of_their_own() -> None:
    taken = {"your-documents/notes", "your-documents/notes-2"}
    assert unused_key("your-documents/notes", taken) == "notes-3"
    assert unused_key("../Else where", taken) == "else-where"


def test_documents_are_cut_to_the_size_that_is_chosen(make: Make) -> None:
    own, usual = make(), make()
    own.size = PassageSize(100, 30)
    text = " ".join(f"Sentence {number} of the notes tells of rank fusion once more." for number in range(60))
    for visit in (own, usual):
        visit.add_file("notes.txt", text.encode())
        finish(visit)
    assert own.corpus is not None and usual.corpus is not None
    assert own.corpus.passage_sizes() == {UPLOADS: PassageSize(100, 30)}
    assert own.documents()[0].passages > 2 * usual.documents()[0].passages
