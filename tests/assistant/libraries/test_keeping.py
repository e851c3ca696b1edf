"""Libraries of one's own: there as a whole or not at all, for their owner alone, and gone without a trace."""

import io
import json
import random
import re
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.libraries.export import file_name
from assistant.libraries.keeping import Libraries, LibraryLimits
from assistant.records import Conversation
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationError, ConversationStore
from assistant.storage.libraries import LibraryError, LibraryStore, RenamedError
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.kept.documents import unused_id
from corpus.records import Paper, Passage, PassageSize, Scope, is_upload, library_of
from corpus.search.hybrid import search
from corpus.store.corpus import Corpus
from indexer.build.encode import encode_passages
from indexer.uploads.encoding import encode_texts
from indexer.uploads.session import UploadSession
from tests.assistant.libraries.own_documents import MARKER, brought, files_with, notes, opened, pdf, visit
from tests.assistant.storage.test_comparison_store import CORPUS, REQUEST
from tests.assistant.storage.test_conversations import make_turn
from tests.indexer.build.killable_build import HashEncoder

ME, OTHER = "browser-me", "browser-other"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def libraries(home: Path) -> Iterator[Libraries]:
    found = opened(home)
    yield found
    found.store.close()


@pytest.fixture
def uploads(home: Path, encoder: Encoder, tmp_path: Path) -> Iterator[UploadSession]:
    """Return a visit that has brought a PDF and notes."""
    made = visit(home, encoder, ("Rank fusion.pdf", pdf(tmp_path)), ("../my notes.md", notes()))
    yield made
    made.close()


def kept(libraries: Libraries, uploads: UploadSession, encoder: Encoder, owner: str = ME) -> str:
    return libraries.keep(owner, "Reading", brought(uploads), encoder).library_id


def test_a_visits_documents_are_kept_and_answer_when_the_visit_is_over(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, home: Path
) -> None:
    grown = libraries.keep(ME, "  Reading\n", brought(uploads), encoder)
    uploads.close()
    corpus = opened(home).opened(grown.library_id, encoder)
    assert [paper.source for paper in corpus.papers()] == ["Rank fusion.pdf", "my notes.md"]
    assert set(grown.added) == {"your-documents/rank-fusion", "your-documents/my-notes"}
    for paper in corpus.papers():
        assert library_of(paper.id) == grown.library_id
        assert is_upload(paper.id)
    (best, *_) = search(corpus, encoder, f"{MARKER} pages", Scope(), papers=1)
    assert best.paper.title == f"On {MARKER} pages"
    assert best.hits[0].passage.paper_id == best.paper.id
    assert [library.title for library in libraries.store.list(ME)] == ["Reading"]
    folder = libraries.folder(grown.library_id)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert not folder.is_marked


def test_it_grows_loses_single_documents_and_takes_none_twice(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, home: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    later = visit(home, encoder, ("my notes.md", b"# Other notes\n\nOf other things."), ("n.md", notes()))
    grown = libraries.grow(identifier, [ME], brought(later), encoder)
    later.close()
    assert list(grown.added.values()) == [f"your-documents.{identifier}/my-notes-2"]
    assert list(grown.there.values()) == [f"your-documents.{identifier}/my-notes"]
    uploads.close()
    assert files_with(home / "libraries")
    assert libraries.take_out(identifier, [ME], [f"your-documents.{identifier}/my-notes"], encoder) == 1
    assert files_with(home) == []
    titles = [paper.title for paper in libraries.opened(identifier, encoder).papers()]
    assert titles == ["Rank fusion", "Other notes"]
    assert libraries.take_out(identifier, [ME], [f"your-documents.{identifier}/my-notes"], encoder) == 0


def test_a_library_keeps_the_size_of_its_passages_and_takes_no_other(
    libraries: Libraries, encoder: Encoder, home: Path
) -> None:
    sizes = PassageSize(100), PassageSize(300)
    first, second = (
        visit(home, encoder, (f"{size.words}.md", notes(f"sized{size.words}")), size=size) for size in sizes
    )
    identifier = kept(libraries, first, encoder)
    libraries.encode_anew(identifier, [ME], encoder, lambda pairs: encode_texts(pairs, encoder))
    assert set(libraries.opened(identifier, encoder).passage_sizes().values()) == {sizes[0]}
    with pytest.raises(LibraryError, match="have 100 words, those of these documents 300 words"):
        libraries.grow(identifier, [ME], brought(second), encoder)


def test_nothing_of_a_deleted_library_stays_on_disk(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, home: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    conversations = ConversationStore(home / "conversations.sqlite")
    comparisons = ComparisonStore(home / "conversations.sqlite")
    turn = replace(make_turn(), question=f"What of {MARKER}?")
    mine = conversations.start(ME, MARKER, identifier)
    conversations.add_turn(mine.id, turn)
    readers = conversations.put(OTHER, Conversation("", "t", (turn,)), identifier, from_file=False)
    request = replace(REQUEST, about=MARKER)
    compared = comparisons.start(ME, request, "model", None, CORPUS, library=identifier)
    elsewhere = conversations.start(ME, "about the collection")
    uploads.close()
    assert {name.split("/")[0] for name in files_with(home)} >= {"libraries", "conversations.sqlite-wal"}

    gone = libraries.delete(identifier, [ME])
    assert gone.documents == 2
    assert set(gone.over.conversations) == {mine.id, readers.id}
    assert gone.over.comparisons == (compared.id,)
    assert files_with(home) == []
    assert files_with(home, identifier) == []
    assert [path.name for path in (home / "libraries").iterdir()] == ["room.lock"]
    assert conversations.read(elsewhere.id) is not None
    with pytest.raises(ConversationError, match="There is no conversation"):
        conversations.add_turn(mine.id, turn)
    with pytest.raises(ConversationError, match="has been deleted"):
        conversations.start(ME, MARKER, identifier)
    assert files_with(home) == []
    for store in (conversations, comparisons):
        store.close()


def test_nobody_else_reads_or_changes_it_but_by_its_link_and_that_can_be_taken_back(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder
) -> None:
    identifier, store = kept(libraries, uploads, encoder), libraries.store
    assert store.reads(identifier, [ME])
    assert store.reads(identifier, [OTHER]) is None
    assert store.list(OTHER) == store.seen_by([OTHER]) == ()
    for guess in ("", "nonsense", identifier, "%", "' OR 1=1"):
        assert store.open_by_link(guess, OTHER) == ""
    link = libraries.share(identifier, [ME])
    assert libraries.share(identifier, [ME]) == link
    assert store.open_by_link(link, OTHER) == store.open_by_link(link, OTHER) == identifier
    assert store.reads(identifier, [OTHER])
    assert [library.id for library in store.seen_by([OTHER])] == [identifier]
    for change in (
        lambda: libraries.rename(identifier, [OTHER], "Reading", "Mine"),
        lambda: libraries.grow(identifier, [OTHER], brought(uploads), encoder),
        lambda: libraries.take_out(identifier, [OTHER], [], encoder),
        lambda: libraries.share(identifier, [OTHER]),
        lambda: libraries.unshare(identifier, [OTHER]),
        lambda: libraries.delete(identifier, [OTHER]),
    ):
        with pytest.raises(LibraryError, match="only its owner can change it"):
            change()
    libraries.unshare(identifier, [ME])
    assert store.reads(identifier, [OTHER]) is None
    assert store.open_by_link(link, OTHER) == ""
    assert libraries.share(identifier, [ME]) != link
    assert store.reads(identifier, [OTHER]) is None, "an old reader has the new link without being given it"


def test_what_a_person_may_keep_is_limited_and_nothing_is_left_of_what_is_refused(
    home: Path, uploads: UploadSession, encoder: Encoder
) -> None:
    limited = opened(home, LibraryLimits(libraries=1, documents=1))
    with pytest.raises(LibraryError, match="holds 1 documents at most; this would be 2"):
        kept(limited, uploads, encoder)
    assert [path.name for path in (home / "libraries").iterdir()] == ["room.lock"]
    limited = opened(home, LibraryLimits(libraries=1))
    identifier = kept(limited, uploads, encoder)
    with pytest.raises(LibraryError, match="1 libraries are the most"):
        kept(limited, uploads, encoder)
    kept(limited, uploads, encoder, owner=OTHER)
    assert len(list((home / "libraries").glob("*/"))) == 2
    with pytest.raises(LibraryError, match="1 MB are the most that is kept for one person"):
        padded = visit(home, encoder, ("long.txt", b"Words of a long text. " * 60_000))
        opened(home, LibraryLimits(megabytes=1)).grow(identifier, [ME], brought(padded), encoder)
    with pytest.raises(LibraryError, match="Give the library a name"):
        limited.keep(ME, " \n", brought(uploads), encoder)


def test_it_is_taken_away_with_its_files_as_they_were_brought_and_what_was_read(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, tmp_path: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    written = io.BytesIO()
    libraries.export(identifier, [ME], written)
    with zipfile.ZipFile(written) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            "documents/001-Rank-fusion.pdf",
            "documents/002-my-notes.md",
            "library.json",
            "papers.bib",
        ]
        assert archive.read("documents/001-Rank-fusion.pdf") == pdf(tmp_path)
        assert archive.read("documents/002-my-notes.md") == notes()
        listed = json.loads(archive.read("library.json"))
        assert b"On xylophonicmarker pages" in archive.read("papers.bib")
    assert listed["title"] == "Reading"
    assert [document["brought_as"] for document in listed["documents"]] == ["Rank fusion.pdf", "my notes.md"]
    assert all(
        document["passages"] and isinstance(document["references"], list) for document in listed["documents"]
    )


def test_two_tabs_lose_no_document_and_are_told_of_each_other(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, home: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    visits = [visit(home, encoder, (f"{number}.md", notes(f"tab{number}"))) for number in range(4)]
    with ThreadPoolExecutor() as pool:
        tabs = [pool.submit(opened(home).grow, identifier, [ME], brought(visit), encoder) for visit in visits]
        out = pool.submit(
            opened(home).take_out, identifier, [ME], [f"your-documents.{identifier}/my-notes"], encoder
        )
        assert all(len(tab.result().added) == 1 for tab in tabs)
        assert out.result() == 1
    titles = sorted(paper.title for paper in libraries.opened(identifier, encoder).papers())
    assert titles == ["On tab0 pages", "On tab1 pages", "On tab2 pages", "On tab3 pages", "Rank fusion"]
    positions = [paper.position for paper in libraries.opened(identifier, encoder).papers()]
    assert len(set(positions)) == 5

    libraries.rename(identifier, [ME], "Reading", "In one tab")
    with pytest.raises(RenamedError, match="to “In one tab”"):
        libraries.rename(identifier, [ME], "Reading", "In the other")
    libraries.delete(identifier, [ME])
    for late in (
        lambda: libraries.grow(identifier, [ME], brought(visits[0]), encoder),
        lambda: libraries.rename(identifier, [ME], "In one tab", "Late"),
        lambda: libraries.delete(identifier, [ME]),
    ):
        with pytest.raises(LibraryError, match="has been deleted"):
            late()
    assert [path.name for path in (home / "libraries").iterdir()] == ["room.lock"]
    for held in visits:
        held.close()


def test_a_library_of_another_encoder_says_so_and_is_encoded_anew(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, tmp_path: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    before = _papers_with_passages(libraries.as_kept(identifier))
    other = HashEncoder(tmp_path / "log")
    with pytest.raises(CorpusError, match="encoder"):
        libraries.opened(identifier, other)
    libraries.encode_anew(
        identifier, [ME], other, lambda pairs: encode_passages(pairs, other.encode_passages)
    )
    anew = libraries.opened(identifier, other)
    assert _papers_with_passages(anew) == before
    assert search(anew, other, f"{MARKER} pages", Scope(), papers=1)[0].paper.title == f"On {MARKER} pages"
    assert sorted(path.name for path in libraries.folder(identifier).path.iterdir()) == [
        "corpus",
        "files",
        "pdf",
        "room",
    ]
    assert libraries.grow(identifier, [ME], brought(uploads), other).added == {}


def _papers_with_passages(corpus: Corpus) -> list[tuple[Paper, tuple[Passage, ...]]]:
    return [(paper, corpus.passages(paper.id)) for paper in corpus.papers()]


def test_what_cannot_be_written_is_said_and_leaves_the_library_as_it_was(
    libraries: Libraries,
    uploads: UploadSession,
    encoder: Encoder,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    identifier = kept(libraries, uploads, encoder)
    later = visit(home, encoder, ("later.md", notes("later")))
    with monkeypatch.context() as patch:
        patch.setattr("corpus.kept.documents.shutil.copyfile", full)
        with pytest.raises(CorpusError, match="No space left on device"):
            kept(libraries, uploads, encoder)
        with pytest.raises(CorpusError, match="No space left on device"):
            libraries.grow(identifier, [ME], brought(later), encoder)
    assert [library.id for library in libraries.store.list(ME)] == [identifier]
    assert len(list((home / "libraries").glob("*/"))) == 1
    assert libraries.opened(identifier, encoder).count_papers() == 2
    assert len(libraries.grow(identifier, [ME], brought(later), encoder).added) == 1
    libraries.sweep(encoder)
    assert not libraries.folder(identifier).is_marked
    assert libraries.opened(identifier, encoder).count_papers() == 3
    later.close()


def test_a_folder_without_a_row_that_nobody_was_making_is_left_alone(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder, home: Path
) -> None:
    identifier = kept(libraries, uploads, encoder)
    elsewhere = Libraries(home / "libraries", LibraryStore(home / "another.sqlite"), LibraryLimits())
    elsewhere.sweep(encoder)
    assert libraries.opened(identifier, encoder).count_papers() == 2


def test_fault_a_start_with_another_database_removed_libraries(
    libraries: Libraries,
    uploads: UploadSession,
    encoder: Encoder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    home = libraries.place.parent

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    identifier = kept(libraries, uploads, encoder)
    later = visit(home, encoder, ("later.md", notes("later")))
    with monkeypatch.context() as patch, pytest.raises(CorpusError):
        patch.setattr("corpus.kept.documents.shutil.copyfile", full)
        libraries.grow(identifier, [ME], brought(later), encoder)
    later.close()
    elsewhere = Libraries(home / "libraries", LibraryStore(home / "another.sqlite"), LibraryLimits())
    folder = libraries.folder(identifier)
    for work in (None, "making", "changing", "removing"):
        if work:
            folder.mark(work)
        elsewhere.sweep(encoder)
        assert libraries.opened(identifier, encoder).count_papers() == 2
    assert "may be in another" in caplog.text
    elsewhere.store.close()
    libraries.sweep(encoder)
    assert not folder.is_marked


def test_fault_a_library_that_an_older_copy_of_the_database_does_not_know_was_removed(
    libraries: Libraries, uploads: UploadSession, encoder: Encoder
) -> None:
    identifier = kept(libraries, uploads, encoder)
    folder = libraries.folder(identifier)
    libraries.store.delete_with_all(identifier)
    for mark in ("changing", "changing " + libraries.store.database, "", "making"):
        (folder.path / "under-way").write_text(mark)
        libraries.sweep(encoder)
        assert libraries.opened(identifier, encoder).count_papers() == 2
    folder.mark("removing")
    libraries.sweep(encoder)
    assert not folder.path.exists()


def _killed(home: Path, doing: str, seconds: float, library_id: str = "") -> None:
    command = [sys.executable, "-m", "tests.assistant.libraries.own_documents", str(home), doing, library_id]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()


def test_what_is_killed_while_it_is_kept_is_there_whole_or_not_at_all(
    libraries: Libraries, home: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    encoder, moments = HashEncoder(tmp_path / "log"), random.Random(2026)
    for _ in range(2):
        _killed(home, "keep", moments.uniform(0.05, 0.9))
        libraries.sweep(encoder)
        rows = {library.id for library in libraries.store.list("me", limit=1000)}
        folders = {path.name for path in (home / "libraries").glob("*/")}
        assert rows == folders
        for identifier in rows:
            assert not libraries.folder(identifier).is_marked
            assert libraries.opened(identifier, encoder).count_papers() == 3
            assert len(list(libraries.folder(identifier).files.iterdir())) == 3


@pytest.mark.long
def test_what_is_killed_while_a_library_grows_and_shrinks_leaves_what_was_there(
    libraries: Libraries, home: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    encoder, moments = HashEncoder(tmp_path / "log"), random.Random(7)
    first = visit(home, encoder, ("first.md", notes("first")))
    identifier = libraries.keep("me", "grown", brought(first), encoder).library_id
    first.close()
    for _ in range(2):
        _killed(home, "grow", moments.uniform(0.05, 0.9), identifier)
        libraries.sweep(encoder)
        corpus = libraries.opened(identifier, encoder)
        assert "On first pages" in {paper.title for paper in corpus.papers()}
        assert corpus.count_papers() in {1, 4}
        files = {path.stem for path in libraries.folder(identifier).files.iterdir()}
        assert files == {paper.id.rpartition("/")[2] for paper in corpus.papers()}
    libraries.take_out(
        identifier, ["me"], [paper.id for paper in corpus.papers() if "grow" in paper.title], encoder
    )
    libraries.sweep(encoder)
    assert [path for path in files_with(home, "grow0") if path.startswith("libraries")] == []


@given(st.text(max_size=80), st.text(max_size=40))
def test_whatever_a_document_is_called_its_file_stays_in_its_folder(source: str, key: str) -> None:
    paper = Paper(f"your-documents.x/{key}", "your-documents.x", "t", (), None, "", "", source=source)
    name = file_name(1, paper, Path("a.md"))
    assert re.fullmatch(r"documents/001-[A-Za-z0-9-]+\.md", name)
    identifier = unused_id("x", paper.id, ())
    assert re.fullmatch(r"your-documents\.x/[a-z0-9.-]*", identifier)
    assert unused_id("x", paper.id, {identifier}) == f"{identifier}-2"
    assert library_of(identifier) == "x"
