"""The index of the vectors: made when there are many, kept up to date, and as good as comparing them all."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from corpus.encoders.base import Runtime, Vectors
from corpus.encoders.scale import cosine_scales
from corpus.places import Folder
from corpus.records import Collection, Scope
from corpus.search.hybrid import search
from corpus.store import rows, tables
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from indexer.maintenance.verify import verify
from tests.small_corpus import make_paper, make_passages

MANY, DIMENSION = 1200, 32
# Eight bits round off more of 32 dimensions than of an encoder's; `evaluation bench` measures those.
GOOD_RECALL = 0.95
RARE = Scope(collections=("rare",))


class DiceEncoder:
    """Gives every text a unit vector of its own, near those of texts with the same first word."""

    name, sha256 = "dice", "0" * 64
    runtime: Runtime = "torch"

    def load(self) -> None:
        """Nothing is to be loaded."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        vector = _dice(text.partition(" ")[0]) + 0.7 * _dice(text)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def _dice(text: str) -> Vectors:
    vector = np.random.default_rng(list(text.encode())).normal(size=DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "INDEX_VECTORS_FROM", 1000)
    monkeypatch.setattr(tables, "_ROWS_PER_PARTITION", 100)


def _add(writer: CorpusWriter, collection: str, first: int, count: int) -> None:
    """Add papers of one passage each; every tenth is about the same."""
    papers = [make_paper(collection, f"{number:04}") for number in range(first, first + count)]
    passages = [make_passages(one, [f"topic{n % 10} case {n}"])[0] for n, one in enumerate(papers, first)]
    texts = [passage.text for passage in passages]
    vectors = DiceEncoder().encode_passages(texts)
    alone = list(np.repeat(vectors[:, None], 2, axis=1))
    table = rows.passage_rows(passages, {one.id: one for one in papers}, texts, vectors, alone)
    writer.put_collections([Collection(collection, collection)])
    writer.add_papers(
        rows.paper_rows([rows.PaperEntry(one, ()) for one in papers]).to_batches(), table.to_batches()
    )


@pytest.fixture
def writer(tmp_path: Path) -> CorpusWriter:
    writer = CorpusWriter(tmp_path, DiceEncoder())
    _add(writer, "many", 0, MANY)
    _add(writer, "rare", MANY, 20)
    writer.publish()
    return writer


def _open(path: Path) -> Corpus:
    return Corpus.open(path, DiceEncoder())


def _recall(corpus: Corpus, scope: Scope, limit: int = 20) -> float:
    """Return how many of the nearest are found, by comparing with all."""
    batches = list(corpus.scan("passages", ["id", "vector", "collection_id"]))
    ids = np.array([one for batch in batches for one in batch["id"].to_pylist()])
    homes = np.array([one for batch in batches for one in batch["collection_id"].to_pylist()])
    vectors = np.concatenate([batch["vector"].flatten().to_numpy() for batch in batches]).reshape(
        -1, DIMENSION
    )
    inside = np.isin(homes, scope.collections) if scope.collections else np.ones(len(ids), bool)
    found = 0
    for number in range(10):
        query = DiceEncoder().encode_query(f"topic{number} asked about")
        nearest = ids[inside][np.argsort(-(vectors[inside] @ query))[:limit]]
        got = [match.passage_id for match in corpus.nearest(query, scope, limit)]
        assert len(got) == min(limit, inside.sum())
        found += len(set(got) & set(nearest))
    return found / (10 * min(limit, int(inside.sum())))


def test_few_vectors_have_no_index_and_all_are_compared(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path, DiceEncoder())
    _add(writer, "many", 0, 200)
    writer.publish()
    corpus = _open(tmp_path)
    assert corpus.not_indexed("vector") == 0
    assert not list((tmp_path / "passages.lance" / "_indices").glob("*/auxiliary.idx"))
    assert _recall(corpus, Scope()) == 1.0


def test_the_index_finds_what_comparing_with_all_finds(writer: CorpusWriter, tmp_path: Path) -> None:
    corpus = _open(tmp_path)
    assert list((tmp_path / "passages.lance" / "_indices").glob("*/auxiliary.idx"))
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert _recall(corpus, Scope(collections=("many",))) >= GOOD_RECALL


def test_the_filter_comes_before_the_index(writer: CorpusWriter, tmp_path: Path) -> None:
    """Regression: a small collection was lost where the partitions looked into hold none of it."""
    corpus = _open(tmp_path)
    assert _recall(corpus, RARE) >= GOOD_RECALL
    found = search(corpus, DiceEncoder(), "topic3 asked about", RARE, papers=15)
    assert {one.paper.collection_id for one in found} == {"rare"}
    assert len(found) == 15


def test_a_filter_finds_rows_in_partitions_that_are_not_looked_into(
    tmp_path: Path, writer: CorpusWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_ROWS_PROBED", 100)
    assert len(_open(tmp_path).nearest(DiceEncoder().encode_query("topic1 x"), RARE, 20)) == 20


def test_similarities_of_hits_are_exact_beside_the_index(writer: CorpusWriter, tmp_path: Path) -> None:
    query = DiceEncoder().encode_query("topic4 asked")
    corpus, encoder = _open(tmp_path), DiceEncoder()
    for one in search(corpus, encoder, "topic4 asked", Scope()):
        exact = float(np.asarray(corpus.vectors([one.hits[0].passage.id])[one.hits[0].passage.id]) @ query)
        assert one.hits[0].dense == pytest.approx(cosine_scales(encoder).asked(exact), abs=1e-6)


def test_a_later_build_brings_the_index_up_to_date(writer: CorpusWriter, tmp_path: Path) -> None:
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 300)
    later.remove_papers(["many/0000"])
    later.publish()
    corpus = _open(tmp_path)
    assert corpus.not_indexed("vector") == 0
    assert corpus.not_indexed("indexed") == 0
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert _recall(corpus, Scope(collections=("new",))) >= GOOD_RECALL
    assert list(verify(corpus, tmp_path)) == []


def test_rows_that_no_index_holds_are_found_all_the_same(writer: CorpusWriter, tmp_path: Path) -> None:
    connection = tables.connect(Folder(tmp_path))
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 50)
    versions = {name: connection.open_table(name).version for name in _open(tmp_path).manifest.versions}
    corpus = Corpus.open_at(tmp_path, DiceEncoder(), versions)
    assert corpus.not_indexed("vector") == 50
    assert _recall(corpus, Scope(collections=("new",))) == 1.0
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert "the index of the vectors" in {problem.item for problem in verify(corpus, tmp_path)}


def test_an_index_that_is_outgrown_is_made_anew(writer: CorpusWriter, tmp_path: Path) -> None:
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 5 * MANY)
    later.publish()
    names = [index.name for index in tables.connect(Folder(tmp_path)).open_table("passages").list_indices()]
    assert [name for name in names if name.startswith("vector")] == [f"vector_{(6 * MANY + 20) // 100}"]
    assert _recall(_open(tmp_path), Scope()) >= GOOD_RECALL


def test_the_version_before_the_index_can_still_be_opened(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path, DiceEncoder())
    _add(writer, "many", 0, 500)
    writer.publish()
    before = _open(tmp_path).manifest.versions
    _add(writer, "new", 5000, 700)
    writer.publish()
    old = Corpus.open_at(tmp_path, DiceEncoder(), before)
    assert old.not_indexed("vector") == 0
    assert _recall(old, Scope()) == 1.0
    assert old.count_papers() == 500
