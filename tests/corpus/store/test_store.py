"""The corpus on disk: opening it, its published versions, its filters and what it refuses."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.places.folder import Folder
from corpus.records import Build, Collection, Failure, Scope
from corpus.search.hybrid import search
from corpus.store import rows, tables
from corpus.store.corpus import Corpus
from corpus.store.manifest import TABLES
from corpus.store.statistics import PaperOrder
from corpus.store.writer import CorpusWriter
from tests.counting_encoder import CountingEncoder
from tests.small_corpus import HOSTILE_IDS, add, make_paper, write_corpus

Damage = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    """Return a corpus of five papers in two collections, written in no particular order."""
    path = tmp_path_factory.mktemp("store") / "corpus"
    write_corpus(
        path,
        encoder,
        {
            make_paper("notes", "cat", year=2019, position=2, title="zebra"): ["Cats sleep.", "Cats purr."],
            make_paper("letters", "owl", year=2021, position=0, title="Apple"): ["Owls hoot."],
            make_paper("notes", "dog", year=2021, position=0, title="apple"): ["Dogs bark."],
            make_paper("notes", "it's", year=None, position=1, title="Mango"): ["Quotes are fine."],
            make_paper("letters", "bat", year=2019, position=1, title="Berry"): ["Bats fly."],
        },
    )
    return Corpus.open(path, encoder)


def _ids(corpus: Corpus, scope: Scope | None = None, **options: Any) -> list[str]:
    return [paper.id for paper in corpus.papers(scope, **options)]


def _build(collection: str, started: str, failures: tuple[Failure, ...] = ()) -> Build:
    return Build(f"{collection}@{started}", collection, started, 1.0, "e", "ff", 0, 0, 0, 0, 0, failures)


# Opening


def test_without_a_corpus_one_is_told_how_to_build_it_and_where_that_cannot_be(
    tmp_path: Path, encoder: Encoder
) -> None:
    with pytest.raises(CorpusError, match=r"no corpus at .*paper-trail index demo"):
        Corpus.open(tmp_path / "corpus", encoder)
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file", tmp_path / "file" / "corpus"):
        with pytest.raises(CorpusError, match="cannot be written"):
            CorpusWriter(path, encoder)


@pytest.mark.parametrize(
    ("name", "sha256", "message"),
    [
        ("another/encoder", "", r"built with the encoder 'all-MiniLM-L6-v2'.*PAPER_TRAIL_ENCODER"),
        ("", "0" * 64, r"other weights .*fresh PAPER_TRAIL_HOME"),
    ],
)
def test_another_encoder_refused(
    notes: Corpus, encoder: Encoder, name: str, sha256: str, message: str
) -> None:
    for refuse in (Corpus.open, CorpusWriter):
        with pytest.raises(CorpusError, match=message):
            refuse(notes.path, CountingEncoder(encoder, name, sha256))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read"),
        ('{"schema": 1', "cannot be read"),
        ("\udc80", "cannot be read"),
        ("[]", "not one of ours"),
        ('"corpus"', "not one of ours"),
        ("{}", "has schema None"),
    ],
)
def test_a_broken_manifest_is_named(tmp_path: Path, encoder: Encoder, content: str, message: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    for refuse in (Corpus.open, CorpusWriter):
        with pytest.raises(CorpusError, match=rf"{message}.*Move the folder .* away and build"):
            refuse(tmp_path, encoder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda manifest: manifest.update(schema=3, colour="blue"), "has schema 3; .* reads schema 5"),
        (lambda manifest: manifest.pop("versions"), "not one of ours"),
        (lambda manifest: manifest.update(versions=[]), "not one of ours"),
        (lambda manifest: manifest["versions"].pop("papers"), "not one of ours"),
        (lambda manifest: manifest["versions"].update(papers="x"), "not one of ours"),
        (lambda manifest: manifest.update(dimension="many"), "not one of ours"),
        (lambda manifest: manifest["versions"].update(papers=9999), "damaged"),
    ],
)
def test_a_manifest_that_is_not_ours_is_refused(
    tmp_path: Path, notes: Corpus, encoder: Encoder, damage: Damage, message: str
) -> None:
    path = shutil.copytree(notes.path, tmp_path / "corpus")
    manifest = json.loads((path / "manifest.json").read_text())
    damage(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))
    for refuse in (Corpus.open, CorpusWriter):
        with pytest.raises(CorpusError, match=message):
            refuse(path, encoder)


def test_a_corpus_that_lost_a_table_is_refused(tmp_path: Path, notes: Corpus, encoder: Encoder) -> None:
    path = shutil.copytree(notes.path, tmp_path / "corpus")
    shutil.rmtree(path / "passages.lance")
    for refuse in (Corpus.open, CorpusWriter):
        with pytest.raises(CorpusError, match="damaged"):
            refuse(path, encoder)


# Published versions


def test_a_reader_sees_the_old_corpus_until_it_opens_again(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    reader = Corpus.open(tmp_path, encoder)
    writer = CorpusWriter(tmp_path, encoder)
    writer.remove_papers(["notes/cat"])
    add(writer, encoder, {make_paper("notes", "dog"): ["Dogs bark."]})
    writer.publish()
    assert _ids(reader) == ["notes/cat"]
    assert [match.passage_id for match in reader.matching("sleep bark", Scope(), 10)] == ["notes/cat#0"]
    assert [match.passage_id for match in reader.nearest([1.0] + [0.0] * 383, Scope(), 10)] == ["notes/cat#0"]
    again = Corpus.open(tmp_path, encoder)
    assert _ids(again) == ["notes/dog"]
    assert [match.passage_id for match in again.matching("sleep bark", Scope(), 10)] == ["notes/dog#0"]


def test_a_writer_that_dies_leaves_the_old_corpus(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    dying = CorpusWriter(tmp_path, encoder)
    dying.remove_collection("notes")
    add(dying, encoder, {make_paper("letters", "owl"): ["Owls hoot."]})
    del dying
    assert _ids(Corpus.open(tmp_path, encoder)) == ["notes/cat"]
    writer = CorpusWriter(tmp_path, encoder)
    add(writer, encoder, {make_paper("notes", "dog", position=1): ["Dogs bark."]})
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert _ids(corpus) == ["notes/cat", "notes/dog"]
    assert corpus.collection_ids() == ("notes",)
    assert {match.paper_id for match in corpus.matching("owls sleep bark", Scope(), 10)} == {
        "notes/cat",
        "notes/dog",
    }


def test_a_first_build_that_dies_leaves_no_corpus(tmp_path: Path, encoder: Encoder) -> None:
    add(CorpusWriter(tmp_path, encoder), encoder, {make_paper("letters", "owl"): ["Owls hoot."]})
    with pytest.raises(CorpusError, match="no corpus"):
        Corpus.open(tmp_path, encoder)
    with pytest.raises(CorpusError, match=r"no manifest\.json"):
        CorpusWriter(tmp_path, encoder)
    writer = CorpusWriter(tmp_path, encoder, unfinished=True)
    add(writer, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    writer.publish()
    assert _ids(Corpus.open(tmp_path, encoder)) == ["notes/cat"]


def test_an_old_version_can_be_opened_until_it_is_dropped(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    before = Corpus.open(tmp_path, encoder).manifest.versions
    writer = CorpusWriter(tmp_path, encoder)
    writer.remove_papers(["notes/cat"])
    add(writer, encoder, {make_paper("notes", "dog"): ["Dogs bark."]})
    writer.publish()
    old = Corpus.open_at(tmp_path, encoder, before)
    assert (old.manifest.versions, _ids(old)) == (before, ["notes/cat"])
    assert [hit.paper.id for hit in search(old, encoder, "sleep bark", Scope())] == ["notes/cat"]
    assert [
        hit.paper.id for hit in search(Corpus.open(tmp_path, encoder), encoder, "sleep bark", Scope())
    ] == ["notes/dog"]
    writer.compact(timedelta(milliseconds=1))
    with pytest.raises(CorpusError, match=r"no longer kept as it was: version \d+ of the table"):
        Corpus.open_at(tmp_path, encoder, before)


@pytest.mark.parametrize(
    "versions", [{}, {"papers": 1}, dict.fromkeys(TABLES, 9999), dict.fromkeys(TABLES, -1), {"papers": 2**70}]
)
def test_a_version_that_never_was_is_named(notes: Corpus, encoder: Encoder, versions: dict[str, int]) -> None:
    with pytest.raises(CorpusError, match=r"version -?\d+ of the table '\w+' does not exist"):
        Corpus.open_at(notes.path, encoder, versions)


def test_moved_papers_change_places_and_nothing_else(tmp_path: Path, encoder: Encoder) -> None:
    cat, dog = make_paper("notes", "cat", position=0), make_paper("notes", "dog", position=1)
    write_corpus(tmp_path, encoder, {cat: ["Cats sleep."], dog: ["Dogs bark."]})
    writer = CorpusWriter(tmp_path, encoder)
    writer.move_papers({"notes/cat": 5})
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert corpus.papers() == (dog, replace(cat, position=5))
    assert corpus.paper("notes/cat").title == cat.title


def test_an_older_corpus_is_read(tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    cat, dog = make_paper("notes", "cat", position=0), make_paper("notes", "dog", position=1)
    with monkeypatch.context() as earlier:
        earlier.setattr(rows, "RECORDS", {})
        write_corpus(tmp_path, encoder, {cat: ["Cats sleep.", "They purr."]})
    writer = CorpusWriter(tmp_path, encoder)
    add(writer, encoder, {dog: ["Dogs bark."]})
    writer.move_papers({"notes/cat": 0})
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert corpus.papers() == (cat, dog)
    assert [passage.text for passage in corpus.passages("notes/cat")] == ["Cats sleep.", "They purr."]
    assert [passage.text for passage in corpus.passages("notes/dog")] == ["Dogs bark."]
    assert corpus.columns_of("papers") == rows.PAPER_COLUMNS
    assert corpus.columns_of("passages") == rows.PASSAGE_COLUMNS


@pytest.mark.parametrize("kept_whole", [True, False], ids=["whole records", "columns"])
def test_a_corpus_made_before_hidden_text_was_counted_opens_and_is_added_to(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch, *, kept_whole: bool
) -> None:
    cat, dog = make_paper("notes", "cat", position=0), make_paper("notes", "dog", position=1)
    dog = replace(dog, hidden_text=12, hidden_pages=(2, 5))
    with monkeypatch.context() as earlier:
        if not kept_whole:
            earlier.setattr(rows, "RECORDS", {})
        write_corpus(tmp_path, encoder, {cat: ["Cats sleep."]})
    papers = tables.connect(Folder(tmp_path)).open_table("papers")
    papers.drop_columns(list(rows.ADDED["papers"]))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["versions"]["papers"] = papers.version
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert Corpus.open(tmp_path, encoder).papers() == (cat,)
    writer = CorpusWriter(tmp_path, encoder)
    add(writer, encoder, {dog: ["Dogs bark."]})
    writer.move_papers({"notes/cat": 0})
    writer.publish()
    assert Corpus.open(tmp_path, encoder).papers() == (cat, dog)


# Reading


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("position", ["letters/owl", "letters/bat", "notes/dog", "notes/it's", "notes/cat"]),
        ("title", ["letters/owl", "notes/dog", "letters/bat", "notes/it's", "notes/cat"]),
        ("newest", ["letters/owl", "notes/dog", "letters/bat", "notes/cat", "notes/it's"]),
        ("oldest", ["letters/bat", "notes/cat", "letters/owl", "notes/dog", "notes/it's"]),
    ],
)
def test_papers_are_sorted_ignoring_case(notes: Corpus, order: PaperOrder, expected: list[str]) -> None:
    assert _ids(notes, order=order) == expected
    assert _ids(notes, order=order, offset=1, limit=2) == expected[1:3]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(collections=("letters",)), {"letters/owl", "letters/bat"}),
        (Scope(collections=("letters", "notes"), years=(2019, 2019)), {"letters/bat", "notes/cat"}),
        (Scope(years=(2020, 2030)), {"letters/owl", "notes/dog"}),
        (Scope(years=(2030, 2020)), set()),
        (Scope(years=(-(10**12), 10**12)), {"letters/owl", "letters/bat", "notes/cat", "notes/dog"}),
        (Scope(papers=("notes/it's", "notes/cat", "notes/none")), {"notes/it's", "notes/cat"}),
        (Scope(collections=("letters",), papers=("notes/cat",)), set()),
    ],
)
def test_a_scope_is_one_for_all(notes: Corpus, encoder: Encoder, scope: Scope, expected: set[str]) -> None:
    vector = encoder.encode_query("animals")
    words = "cats sleep owls hoot dogs bark quotes fine bats fly"
    assert set(_ids(notes, scope)) == expected
    assert notes.count_papers(scope) == len(expected)
    assert {match.paper_id for match in notes.nearest(vector, scope, 50)} == expected
    assert {match.paper_id for match in notes.matching(words, scope, 50)} == expected


@pytest.mark.parametrize("identifier", HOSTILE_IDS)
def test_a_hostile_id_finds_nothing(notes: Corpus, encoder: Encoder, identifier: str) -> None:
    for scope in (Scope(collections=(identifier,)), Scope(papers=(identifier,))):
        assert notes.papers(scope) == ()
        assert notes.count_papers(scope) == 0
        assert notes.nearest(encoder.encode_query("cats"), scope, 10) == []
        assert notes.matching("cats", scope, 10) == []
    assert notes.passages(identifier) == ()
    assert notes.references(identifier) == ()
    assert notes.passages_by_id([identifier]) == ()
    with pytest.raises(CorpusError, match="no paper"):
        notes.paper(identifier)


def test_a_removed_collection_leaves_the_others_and_a_hostile_id_removes_nothing(
    tmp_path: Path, encoder: Encoder
) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    writer = CorpusWriter(tmp_path, encoder)
    for identifier in HOSTILE_IDS:
        writer.remove_collection(identifier)
        writer.remove_papers([identifier])
    writer.publish()
    assert _ids(Corpus.open(tmp_path, encoder)) == ["notes/cat"]
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    papers = {make_paper("notes", "cat"): ["Cats sleep."], make_paper("letters", "owl"): ["Owls hoot."]}
    write_corpus(tmp_path, encoder, papers)
    writer = CorpusWriter(tmp_path, encoder)
    writer.remove_collection("notes")
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert _ids(corpus) == ["letters/owl"]
    assert corpus.collection_ids() == ("letters",)
    assert corpus.passages("notes/cat") == ()


def test_passages_papers_and_collections_are_read_in_the_order_asked_for(notes: Corpus) -> None:
    assert [passage.text for passage in notes.passages("notes/cat")] == ["Cats sleep.", "Cats purr."]
    asked = ["notes/cat#1", "notes/none#0", "letters/owl#0", "notes/cat#0"]
    found = [passage.id for passage in notes.passages_by_id(asked)]
    assert found == ["notes/cat#1", "letters/owl#0", "notes/cat#0"]
    asked = [*(f"notes/none-{n}" for n in range(1200)), "notes/cat", "letters/owl"]
    assert [paper.id for paper in notes.papers_by_id(asked)] == ["notes/cat", "letters/owl"]
    letters, papers = notes.collections()
    assert (letters.collection.id, letters.collection.title) == ("letters", "Title of letters")
    assert (letters.papers, letters.passages, letters.full_texts) == (2, 2, 0)
    assert (papers.papers, papers.passages, papers.first_year, papers.last_year) == (3, 4, 2019, 2021)


def test_the_last_build_of_a_collection_says_what_failed(tmp_path: Path, encoder: Encoder) -> None:
    writer = CorpusWriter(tmp_path, encoder)
    writer.put_collections([Collection("notes", "Notes")])
    late = _build("notes", "2026-01-02T00:00:00+00:00", (Failure("b.pdf", "broken"),))
    writer.add_builds([late, _build("notes", "2026-01-01T00:00:00+00:00")])
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert [build.started[:10] for build in corpus.builds()] == ["2026-01-01", "2026-01-02"]
    (summary,) = corpus.collections()
    assert (summary.failed, summary.papers, summary.first_year, summary.built[:10]) == (
        1,
        0,
        None,
        "2026-01-02",
    )


def test_a_corpus_without_passages_answers_that_it_found_nothing(tmp_path: Path, encoder: Encoder) -> None:
    CorpusWriter(tmp_path, encoder).publish()
    corpus = Corpus.open(tmp_path, encoder)
    assert corpus.matching("cats", Scope(), 10) == []
    assert corpus.nearest(encoder.encode_query("cats"), Scope(), 10) == []
    assert corpus.papers() == ()
    assert corpus.collections() == ()


def test_many_readers_at_once_get_what_one_gets(notes: Corpus, encoder: Encoder) -> None:
    def read(_: int) -> tuple[object, ...]:
        matches = notes.matching("cats bark", Scope(), 10)
        return (_ids(notes), notes.collections(), matches, encoder.encode_query("cats").tolist())

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(read, range(24)))
    assert all(result == results[0] for result in results)
