"""Zotero libraries as collections: what is in them comes, what changes is followed, nothing is harmed."""

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.encoders.base import Encoder
from corpus.records import Author, Collection, Paper, Scope
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.__main__ import app
from indexer.errors import SourceError
from indexer.sources.library import LibraryPapers
from indexer.sources.zotero import DATABASE, read_zotero
from tests.indexer.build.killable_build import HashEncoder
from tests.indexer.build.small_papers import write_paper_pdf
from tests.indexer.sources.small_zotero import LINKED, SmallZotero

HOSTILE = (
    '<p>Read <b>this</b> twice &amp; think.</p><script>alert(1)</script><img src=x onerror="y"><p>Again.</p>'
)


@pytest.fixture
def zotero(tmp_path: Path) -> SmallZotero:
    library = SmallZotero(tmp_path / "Zotero")
    printed = write_paper_pdf(tmp_path / "a.pdf", "On Bats", ["All bats sleep by day."]).read_bytes()
    bats = library.item(
        "BATS0001",
        authors="Ann Lee; Bo Kim",
        title="On Bats",
        date="2019-05-00 May 2019",
        publicationTitle="Journal of Night",
        pages="1-9",
        DOI="https://doi.org/10.1000/bats",
        url="https://example.org/bats",
        abstractNote="We watch bats. They sleep by day.",
        language="en-GB",
    )
    owls = library.item(
        "OWLS0001", "preprint", title="On Owls", date="2021", extra="arXiv:2101.00001 [cs.CL]"
    )
    cats = library.item("CATS0001", title="On Cats")
    file = library.file("FILE0001", bats, "storage:bats.pdf", printed)
    library.file("FILE0002", owls, "storage:owls.pdf", None)
    library.note("NOTE0001", bats, HOSTILE)
    library.annotation("ANNO0001", file, "They sleep by day.", "Do they?")
    library.tag(bats, "to read")
    library.tag(bats, "Chiroptera", automatic=True)
    night = library.collection("Night", [owls])
    library.collection("Flying", [bats], parent=night)
    gone = library.item("GONE0001", title="In the bin")
    library.delete(gone)
    library.item("FEED0001", library=2, title="From a feed")
    library.item("SAME0001", library=3, title="Of the group")
    assert cats
    library.database.commit()
    return library


def papers_of(zotero: SmallZotero, **options: str) -> dict[str, Paper]:
    library = read_zotero(zotero.folder, **options)  # type: ignore[arg-type]
    source = LibraryPapers(Collection("z", "Z"), library.items)
    return {listed.paper.id: listed.paper for listed in source.papers()}


def index(folder: Path, home: Path, *options: str) -> dict[str, object]:
    done = CliRunner().invoke(
        app,
        ["zotero", str(folder), "--json", *options],
        env={"PAPER_TRAIL_HOME": str(home)},
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_items_come_with_all_that_is_known_of_them_also_from_a_locked_library(zotero: SmallZotero) -> None:
    found = papers_of(zotero)
    assert list(found) == ["z/BATS0001", "z/OWLS0001", "z/CATS0001", "z/77-SAME0001"]
    bats = found["z/BATS0001"]
    assert (bats.title, bats.year, bats.venue, bats.pages) == ("On Bats", 2019, "Journal of Night", "1-9")
    assert bats.authors == (Author("Ann", "Lee"), Author("Bo", "Kim"))
    assert (bats.doi, bats.url, bats.language) == ("10.1000/bats", "https://example.org/bats", "en")
    assert (bats.labels, bats.keywords) == (("Night / Flying", "to read"), ("Chiroptera",))
    assert bats.notes == ("Read this twice & think.\nAgain.", "They sleep by day.\nDo they?")
    assert found["z/OWLS0001"].arxiv_id == "2101.00001"
    with pytest.raises(SourceError, match="collection or has a tag called 'Nigth'"):
        read_zotero(zotero.folder, only="Nigth")
    zotero.database.execute("PRAGMA locking_mode = EXCLUSIVE")
    zotero.database.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        sqlite3.connect(zotero.folder / DATABASE, timeout=0).execute("SELECT * FROM items")
    assert len(papers_of(zotero)) == 4


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        ("Night", ["z/BATS0001", "z/OWLS0001"]),
        ("Night / Flying", ["z/BATS0001"]),
        ("to read", ["z/BATS0001"]),
    ],
)
def test_a_collection_or_a_tag_can_be_taken_alone(zotero: SmallZotero, only: str, wanted: list[str]) -> None:
    assert list(papers_of(zotero, only=only)) == wanted


def test_a_library_is_indexed_and_followed(zotero: SmallZotero, tmp_path: Path, encoder: Encoder) -> None:
    home = tmp_path / "home"
    before = hashlib.sha256((zotero.folder / DATABASE).read_bytes()).hexdigest()
    report = index(zotero.folder, home)
    (build,) = report["builds"]  # type: ignore[misc]
    assert (build["added"], build["failures"]) == (4, [])
    assert "owls.pdf is missing" in json.dumps(build)
    assert hashlib.sha256((zotero.folder / DATABASE).read_bytes()).hexdigest() == before

    zotero.database.execute("UPDATE itemDataValues SET value = 'On Tame Cats' WHERE value = 'On Cats'")
    zotero.database.execute(
        "INSERT INTO deletedItems(itemID) SELECT itemID FROM items WHERE key = 'OWLS0001'"
    )
    zotero.database.commit()
    (again,) = index(zotero.folder, home)["builds"]  # type: ignore[misc]
    assert (again["added"], again["changed"], again["unchanged"], again["removed"]) == (0, 1, 2, 1)

    corpus = Corpus.open(Settings(home=home).corpus_path, encoder)
    assert {paper.title for paper in corpus.papers()} == {"On Bats", "On Tame Cats", "Of the group"}
    assert [paper.title for paper in corpus.papers(Scope(labels=("Night / Flying",)))] == ["On Bats"]
    assert corpus.paper("zotero/BATS0001").full_text


def test_what_changed_since_is_read_whatever_its_collections_and_letters(zotero: SmallZotero) -> None:
    zotero.database.execute("PRAGMA journal_mode = WAL")
    zotero.item("NEWS0001", title="Just added")
    zotero.database.commit()
    assert (zotero.folder / f"{DATABASE}-wal").stat().st_size
    assert papers_of(zotero)["z/NEWS0001"].title == "Just added"
    zotero.database.execute("UPDATE collections SET parentCollectionID = collectionID")
    zotero.database.commit()
    assert papers_of(zotero)["z/OWLS0001"].labels == ("Night",)
    zotero.database.execute(
        "UPDATE itemDataValues SET value = CAST(? AS TEXT) WHERE value = 'On Bats'", (b"Bats\xff",)
    )
    zotero.database.commit()
    assert papers_of(zotero)["z/BATS0001"].title == "Bats"
    zotero.item("../../x", title="Evil")
    zotero.database.commit()
    library = read_zotero(zotero.folder)
    assert "../../x" not in [item.key for item in library.items]
    assert [remark for remark in library.remarks if remark.startswith("The item ../../x is left out")]
    zotero.database.execute("UPDATE version SET version = ?", (b"x",))
    zotero.database.commit()
    with pytest.raises(SourceError, match="damaged"):
        read_zotero(zotero.folder)


def test_a_newer_zotero_is_said_to_be_newer_and_refused_where_its_tables_are_others(tmp_path: Path) -> None:
    library = SmallZotero(tmp_path / "Zotero", version=900)
    library.item("BATS0001", title="On Bats")
    library.database.commit()
    assert "newer than those known here" in read_zotero(library.folder).remarks[0]
    library.database.execute("ALTER TABLE itemNotes RENAME COLUMN note TO content")
    library.database.commit()
    with pytest.raises(SourceError, match=r"newer Zotero, whose tables \(version 900\) are not known"):
        read_zotero(library.folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged"),
        (b"SQLite format 3\0" + b"\xff" * 4096, "damaged"),
        (b"no database at all" * 50, "damaged"),
    ],
)
def test_fault_a_damaged_database(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(SourceError, match=said):
        read_zotero(tmp_path)


def test_fault_a_folder_without_a_library_or_of_an_old_zotero(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no data directory of Zotero"):
        read_zotero(tmp_path)
    SmallZotero(tmp_path / "old", version=60).database.close()
    with pytest.raises(SourceError, match="too old"):
        read_zotero(tmp_path / "old")


@pytest.mark.parametrize("path", ["storage:../../secret.pdf", "storage:/etc/passwd", "../../secret.pdf"])
def test_fault_an_attachment_that_leads_out_of_its_folder(
    zotero: SmallZotero, tmp_path: Path, path: str
) -> None:
    write_paper_pdf(tmp_path / "secret.pdf", "Secret", ["It is secret."])
    item = zotero.item("EVIL0001", title="Evil")
    zotero.file("FILE0009", item, path, None)
    zotero.database.commit()
    (found,) = (item for item in read_zotero(zotero.folder).items if item.key == "EVIL0001")
    assert found.files == ()
    assert len(found.outside) == 1


@pytest.mark.parametrize("key", ["../..", "..", "/", "FILE/../..", "file0009", ""])
def test_attachment_keys_stay_within_the_library(zotero: SmallZotero, tmp_path: Path, key: str) -> None:
    write_paper_pdf(tmp_path / "secret.pdf", "Secret", ["It is secret."])
    (zotero.folder / "secret.pdf").write_bytes((tmp_path / "secret.pdf").read_bytes())
    key = str(tmp_path) if key == "/" else key
    zotero.file(key, zotero.item("EVIL0001", title="Evil"), "storage:secret.pdf", None)
    zotero.database.commit()
    found = {item.key: item for item in read_zotero(zotero.folder).items}
    assert (found["EVIL0001"].files, found["EVIL0001"].outside) == ((), ("secret.pdf",))


def test_a_linked_storage_folder_is_not_read(zotero: SmallZotero, tmp_path: Path) -> None:
    write_paper_pdf(tmp_path / "elsewhere" / "secret.pdf", "Secret", ["It is secret."])
    (zotero.folder / "storage" / "FILE0009").symlink_to(tmp_path / "elsewhere")
    zotero.file("FILE0009", zotero.item("EVIL0001", title="Evil"), "storage:secret.pdf", None)
    zotero.database.commit()
    found = {item.key: item for item in read_zotero(zotero.folder).items}
    assert found["EVIL0001"].files == ()


OF_WRONG_TYPE = {
    "path": "UPDATE itemAttachments SET path = ? WHERE parentItemID = :item",
    "mode": "UPDATE itemAttachments SET linkMode = ? WHERE parentItemID = :item",
    "key of the file": "UPDATE items SET key = ? WHERE key = 'FILE0001'",
    "value": "UPDATE itemDataValues SET value = ? WHERE value = 'On Bats'",
    "name": "UPDATE creators SET lastName = ? WHERE lastName = 'Lee'",
    "role": "UPDATE creatorTypes SET creatorType = ? WHERE creatorType = 'author'",
    "tag": "UPDATE tags SET name = ? WHERE name = 'to read'",
    "collection": "UPDATE collections SET collectionName = ? WHERE collectionName = 'Flying'",
    "note": "UPDATE itemNotes SET note = ? WHERE parentItemID = :item",
    "annotation": "UPDATE itemAnnotations SET comment = ?",
}


@pytest.mark.parametrize("change", OF_WRONG_TYPE.values(), ids=OF_WRONG_TYPE.keys())
def test_bytes_in_a_column_of_text_cost_one_item_that_is_named(zotero: SmallZotero, change: str) -> None:
    zotero.database.execute(change.replace(":item", "1"), (b"\xff\x00bats",))
    zotero.database.commit()
    library = read_zotero(zotero.folder)
    found = [item.key for item in library.items]
    assert "BATS0001" not in found
    assert "CATS0001" in found
    assert [remark.split(" is ")[0] for remark in library.remarks] == ["The item BATS0001"]


def test_bytes_for_the_key_of_an_item_cost_that_item(zotero: SmallZotero) -> None:
    zotero.database.execute("UPDATE items SET key = ? WHERE key = 'BATS0001'", (b"BATS0001",))
    zotero.database.commit()
    library = read_zotero(zotero.folder)
    assert [item.key for item in library.items] == ["OWLS0001", "CATS0001", "77-SAME0001"]
    assert library.remarks[0].startswith("The item of number 1 is left out")


def test_linked_files_are_taken_below_the_folder_that_is_named(zotero: SmallZotero, tmp_path: Path) -> None:
    linked = tmp_path / "papers"
    file = write_paper_pdf(linked / "deep" / "x.pdf", "Linked", ["It is linked."])
    item = zotero.item("LINK0001", title="Linked")
    zotero.file("FILE0007", item, "attachments:deep/x.pdf", None, LINKED)
    other = zotero.item("LINK0002", title="Elsewhere")
    zotero.file("FILE0008", other, str(tmp_path / "a.pdf"), None, LINKED)
    zotero.database.commit()
    with_folder = {item.key: item.files for item in read_zotero(zotero.folder, linked=linked).items}
    assert with_folder["LINK0001"] == (file.resolve(),)
    assert with_folder["LINK0002"] == ()
    assert all(not item.files for item in read_zotero(zotero.folder).items if item.key.startswith("LINK"))


@pytest.mark.long
def test_a_build_of_a_library_that_was_killed_goes_on_without_doubles(tmp_path: Path, root: Path) -> None:
    library = SmallZotero(tmp_path / "Zotero")
    for number in range(60):
        item = library.item(
            f"ITEM{number:04}", title=f"On animal {number}", abstractNote=f"It is animal {number}."
        )
        library.tag(item, f"tag {number}")
    library.database.commit()
    home = tmp_path / "home"
    for wait in (0.05, 0.3, 0.8):
        process = _start(root, library.folder, home, tmp_path / "log")
        time.sleep(wait)
        process.kill()
        process.wait()
    assert _start(root, library.folder, home, tmp_path / "log").wait(120) == 0
    corpus = Corpus.open(Settings(home=home).corpus_path, HashEncoder(tmp_path / "log"))  # type: ignore[arg-type]
    found = list(corpus.papers())
    assert sorted(paper.title for paper in found) == sorted(f"On animal {number}" for number in range(60))
    assert len({paper.id for paper in found}) == 60


def _start(root: Path, folder: Path, home: Path, log: Path) -> "subprocess.Popen[bytes]":
    command = [
        sys.executable,
        "-m",
        "tests.indexer.sources.killable_zotero",
        str(folder),
        str(home),
        str(log),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root)
    assert process.stdout
    assert process.stdout.readline() == b"begins\n"
    process.stdout.close()
    return process


def test_a_thousand_items_are_read_in_one_pass(tmp_path: Path) -> None:
    library = SmallZotero(tmp_path / "Zotero")
    for number in range(1000):
        library.item(f"ITEM{number:04}", title=f"Title {number}", authors="Ann Lee" if not number else "")
    library.database.commit()
    read = read_zotero(library.folder)
    assert len(read.items) == 1000
