"""The room that visitors' files have together: uploads, libraries and exports, in several processes."""

import io
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assistant.libraries.keeping import LibraryLimits
from assistant.storage.libraries import LibraryError
from corpus.encoders.base import Encoder
from corpus.kept.documents import pack
from corpus.kept.room import Room
from corpus.places.disk import MB, NoRoomError
from indexer.uploads.document import DocumentError
from indexer.uploads.session import UploadSession, UploadWorkers
from tests.assistant.libraries.own_documents import brought, notes, opened, pdf, visit
from tests.demo_home import PROJECT
from tests.indexer.build.killable_build import HashEncoder

MORE_THAN_ANY_DISK = 10**12
TAKER = """
import sys
from pathlib import Path
from corpus.places.disk import NoRoomError
from corpus.kept.room import Room
home, name = Path(sys.argv[1]), sys.argv[2]
folder = home / "libraries" / name
folder.mkdir(parents=True)
taken = 0
for _ in range(20):
    try:
        Room(home, megabytes=10).take(folder, 1_000_000, "me")
        taken += 1
    except NoRoomError:
        break
print(taken)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def uploads(home: Path, encoder: Encoder, tmp_path: Path) -> Iterator[UploadSession]:
    made = visit(home, encoder, ("Rank fusion.pdf", pdf(tmp_path)), ("notes.md", notes()))
    yield made
    made.close()


def test_two_that_kept_at_once_both_passed_the_check(
    home: Path, uploads: UploadSession, encoder: Encoder
) -> None:
    documents = brought(uploads)
    size = pack(documents.corpus, documents.pdfs, documents.documents, "library").size
    # One of these fits into what one person may have, and no two.
    limits = LibraryLimits(megabytes=1)
    other = home / "libraries" / "filled"
    other.mkdir()
    (other / "file").write_bytes(bytes(MB - size - size // 2))
    Room(home).settle(other, "me")

    def keep(_: int) -> str:
        try:
            return opened(home, limits).keep("me", "Reading", documents, encoder).library_id
        except LibraryError as error:
            return str(error)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(keep, range(4)))
    refused = [note for note in found if note.startswith("1 MB are the most that is kept for one person")]
    assert len(refused) == 3, found


def test_processes_that_kept_at_once_took_more_than_all_visitors_may(home: Path) -> None:
    command = [sys.executable, "-c", TAKER, str(home)]
    takers = [
        subprocess.Popen([*command, f"taker-{number}"], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    assert sum(int(taker.communicate(timeout=120)[0]) for taker in takers) == 10
    assert Room(home).size() == 10 * MB


def test_visitors_without_number_filled_the_disk_with_libraries(
    home: Path, uploads: UploadSession, encoder: Encoder
) -> None:
    opened(home).keep("browser-0", "Reading", brought(uploads), encoder)
    filled = home / "libraries" / "filled"
    filled.mkdir()
    (filled / "file").write_bytes(bytes(MB))
    limited = opened(home, LibraryLimits(megabytes_of_all=1))
    with pytest.raises(NoRoomError, match="of all visitors together take the 1 MB that they may"):
        limited.keep("browser-1", "Reading", brought(uploads), encoder)
    assert limited.store.list("browser-1") == ()
    assert len(list((home / "libraries").glob("*/"))) == 2
    (filled / "file").unlink()
    limited.room.settle(filled)
    assert limited.keep("browser-1", "Reading", brought(uploads), encoder).added


def test_visits_filled_the_disk_with_uploads(home: Path, encoder: Encoder) -> None:
    first = UploadSession(home, encoder, UploadWorkers(), room=Room(home, megabytes=1))
    first.add_file("large.txt", b"words " * 100_000)
    second = UploadSession(home, encoder, UploadWorkers(), room=Room(home, megabytes=1))
    with pytest.raises(DocumentError, match=r"large\.txt was left out\. The documents of all visitors"):
        second.add_file("large.txt", b"other " * 100_000)
    assert not second.documents()
    second.add_file("small.txt", b"Some words.")
    first.close()
    second.add_file("large.txt", b"other " * 100_000)
    second.close()
    assert Room(home).size() == 0


def test_visitors_documents_filled_the_disk_to_the_last_byte(
    home: Path, uploads: UploadSession, encoder: Encoder, caplog: pytest.LogCaptureFixture
) -> None:
    libraries = opened(home)
    identifier = libraries.keep("me", "Reading", brought(uploads), encoder).library_id
    room = Room(home, free_megabytes=MORE_THAN_ANY_DISK)
    full = UploadSession(home, encoder, UploadWorkers(), room=room)
    for bring in (lambda: full.add_file("a.txt", b"words"), lambda: full.add_address("https://example.org")):
        with pytest.raises(DocumentError, match="disk of this server is nearly full"):
            bring()
    limited = opened(home, LibraryLimits(free_disk_megabytes=MORE_THAN_ANY_DISK))
    with pytest.raises(NoRoomError, match="disk of this server is nearly full"):
        limited.keep("me", "More", brought(uploads), encoder)
    assert "PAPER_TRAIL_FREE_DISK_MEGABYTES" in caplog.text
    # Room can be made.
    (paper, *_) = limited.opened(identifier, encoder).papers()
    assert limited.take_out(identifier, ["me"], [paper.id], encoder) == 1
    assert limited.delete(identifier, ["me"]).documents == 1
    full.close()


def test_what_is_removed_takes_no_room_any_more(home: Path, uploads: UploadSession, encoder: Encoder) -> None:
    libraries = opened(home)
    identifier = libraries.keep("me", "Reading", brought(uploads), encoder).library_id
    whole = libraries.room.size_of(libraries.folder(identifier).path)
    libraries.take_out(identifier, ["me"], [libraries.opened(identifier, encoder).papers()[0].id], encoder)
    assert 0 < libraries.room.size_of(libraries.folder(identifier).path) < whole
    libraries.delete(identifier, ["me"])
    uploads.close()
    assert Room(home).size() == 0


def test_a_library_was_exported_otherwise_each_time(
    home: Path, uploads: UploadSession, encoder: Encoder
) -> None:
    libraries = opened(home)
    identifier = libraries.keep("me", "Reading", brought(uploads), encoder).library_id
    first, second = io.BytesIO(), io.BytesIO()
    libraries.export(identifier, ["me"], first)
    for path in libraries.folder(identifier).path.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700)
    libraries.export(identifier, ["me"], second)
    assert first.getvalue() == second.getvalue()
    with zipfile.ZipFile(second) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with pytest.raises(LibraryError, match="only its owner"):
        libraries.export(identifier, ["another"], io.BytesIO())


def test_an_export_took_as_much_memory_as_the_library_is_large(home: Path, tmp_path: Path) -> None:
    encoder = HashEncoder(tmp_path / "log")
    uploads = visit(home, encoder, ("Rank fusion.pdf", pdf(tmp_path)))
    libraries = opened(home)
    identifier = libraries.keep("me", "Reading", brought(uploads), encoder).library_id
    uploads.close()
    (held,) = libraries.folder(identifier).pdfs.glob("*")
    held.write_bytes(bytes(40 * MB))
    with (tmp_path / "library.zip").open("wb") as file:
        tracemalloc.start()
        libraries.export(identifier, ["me"], file)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (tmp_path / "library.zip").stat().st_size > 40 * MB
    assert peak < 10 * MB


def test_fault_a_folder_that_went_while_a_visit_was_measured_refused_what_came(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit_folder = home / "visits" / "server-a" / "visit-a"
    (visit_folder / "document-1").mkdir(parents=True)
    (visit_folder / "notes.md").write_bytes(bytes(1000))
    look = os.scandir

    def look_too_late(path: str | Path | int) -> object:
        if not isinstance(path, int) and Path(path).name == "document-1":
            Path(path).rmdir()
        return look(path)

    monkeypatch.setattr(os, "scandir", look_too_late)
    Room(home, megabytes=1).take(visit_folder, 500)
    assert Room(home).size() == 1500
