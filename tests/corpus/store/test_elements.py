"""The element cache: a real table in a real corpus folder, several processes, damage."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementKey, ElementStore
from indexer.maintenance.compact import compact_home
from indexer.maintenance.verify import verify
from tests.small_corpus import make_paper, make_passages, write_with_sentences


def key(paper="c/one", fingerprint="f1", generator="extractive", version="1"):
    return ElementKey(paper, fingerprint, generator, version)


@pytest.fixture
def store(tmp_path):
    return ElementStore.open(tmp_path / "corpus")


def warnings_of(caplog):
    own = (record for record in caplog.records if record.name == "corpus.store.element_cache")
    return [record.getMessage() for record in own if record.levelname == "WARNING"]


def test_a_fresh_or_unwritable_folder_costs_the_work_again_and_no_more(tmp_path, caplog) -> None:
    assert ElementStore.open(tmp_path / "corpus").get([key()]) == {}
    assert list(tmp_path.iterdir()) == []
    assert warnings_of(caplog) == []
    (tmp_path / "corpus").write_text("a file where the folder should be")
    store = ElementStore.open(tmp_path / "corpus")
    assert not store.put({key(): "kept"})
    assert store.get([key()]) == {}
    assert "cannot be used" in warnings_of(caplog)[0]


@pytest.mark.parametrize(
    "other",
    [key("c/two"), key(fingerprint="f2"), key(generator="model"), key(version="2")],
    ids=["paper", "fingerprint", "generator", "version"],
)
def test_another_text_or_another_reader_is_another_document(store, other):
    store.put({key(): "this"})
    assert store.get([other]) == {}
    store.put({other: "that"})
    assert store.get([key(), other]) == {key(): "this", other: "that"}


def test_what_was_put_is_there_for_the_next_and_the_newest_counts(store, tmp_path) -> None:
    assert store.put({})
    assert store.get([]) == {}
    documents = {key(f"c/{number}"): f'{{"number": {number}}}' for number in range(30)}
    assert store.put(documents)
    assert ElementStore.open(tmp_path / "corpus").get(list(documents)) == documents
    for number in range(5):
        store.put({key(): str(number), key("c/two"): "two"})
    assert store.get([key()]) == {key(): "4"}


hostile = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=20)
@given(paper=hostile, fingerprint=hostile, document=hostile)
def test_any_text_is_kept_as_text(tmp_path_factory, paper, fingerprint, document):
    store = ElementStore.open(tmp_path_factory.mktemp("corpus"))
    quoted = key(f"{paper}' OR '1'='1", fingerprint)
    assert store.put({quoted: document})
    assert store.get([quoted, key()]) == {quoted: document}


def test_half_a_surrogate_pair_is_said_and_fails_nothing(store, caplog):
    assert not store.put({key(): "half \ud83d a pair"})
    assert store.get([key("\ud83d")]) == {}
    assert len(warnings_of(caplog)) == 1


WRITER = """
import sys
from pathlib import Path
from corpus.store.element_cache import ElementKey, ElementStore
store = ElementStore.open(Path(sys.argv[1]))
for number in range(10):
    assert store.put({ElementKey(f"{sys.argv[2]}/{number}", "f", "g", "v"): "x" * 2000})
"""


def test_two_processes_that_begin_and_write_at_once_lose_nothing(root, tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", WRITER, str(tmp_path), name], cwd=root)
        for name in "ab"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    keys = [ElementKey(f"{name}/{number}", "f", "g", "v") for name in "ab" for number in range(10)]
    assert set(ElementStore.open(tmp_path).get(keys)) == set(keys)


def test_many_small_additions_are_put_together(store, tmp_path):
    for number in range(70):
        assert store.put({key(f"c/{number}"): str(number)})
    assert len(store.get([key(f"c/{number}") for number in range(70)])) == 70
    (data,) = (tmp_path / "corpus").glob("*.lance/data")
    # Files that were put together lie there for an hour, for those who read them just now.
    assert store.get([key("c/69")]) == {key("c/69"): "69"}
    assert len(list(data.iterdir())) < 80


def damage(folder: Path, part: str) -> None:
    for file in folder.glob(f"*.lance/{part}/*"):
        file.write_bytes(b"damaged")


@pytest.mark.parametrize("part", ["data", "_versions"])
def test_a_damaged_table_costs_the_work_again_and_no_more(store, tmp_path, caplog, part):
    store.put({key(): "kept"})
    damage(tmp_path / "corpus", part)
    assert store.get([key()]) == {}
    (warning,) = warnings_of(caplog)
    assert "can be deleted" in warning
    store.keep_only([])
    store.put({key(): "again"})


def test_builds_neither_lose_what_is_kept_nor_are_disturbed(tmp_path, encoder):
    home = Settings(home=tmp_path)
    store = ElementStore.open(home.corpus_path)
    first, second = make_paper("c", "first"), make_paper("d", "second")
    kept = {key(first.id): "kept before the first build", key("c/gone"): "of a paper that is gone"}
    assert store.put(kept)
    for paper in (first, second):
        passages = make_passages(paper, ["A text about fusion."])
        write_with_sentences(home.corpus_path, encoder, [paper], passages)
        assert store.get(list(kept)) == kept
    corpus = Corpus.open(home.corpus_path, encoder)
    assert corpus.count_papers() == 2
    assert list(verify(corpus, tmp_path)) == []
    compact_home(home, encoder, timedelta(days=1))
    assert store.get(list(kept)) == {key(first.id): "kept before the first build"}
    assert store.put({key(second.id): "kept after"})
    assert store.get([key(second.id)]) == {key(second.id): "kept after"}
    assert list(verify(Corpus.open(home.corpus_path, encoder), tmp_path)) == []
