"""Passages in memory: nearly as good as comparing all vectors, in any scope, and never behind the tables."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lancedb.index import IvfSq

from corpus.encoders.base import Runtime, Vectors
from corpus.encoders.scale import cosine_scales
from corpus.places.folder import Folder
from corpus.records import Collection, Scope
from corpus.search.hybrid import search
from corpus.store import rows, tables
from corpus.store.corpus import Corpus
from corpus.store.passage_index import PassageIndex
from corpus.store.writer import CorpusWriter
from indexer.maintenance.verify import verify
from tests.small_corpus import make_paper, make_passages

MANY, DIMENSION = 1200, 32
# The signs of 32 dimensions say less than those of an encoder's; `evaluation bench` measures those.
GOOD_RECALL = 0.95
RARE = Scope(collections=("rare",))
HIGHEST = 10_000  # of the rows of an index that is made here


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


def _add(writer: CorpusWriter, collection: str, first: int, count: int) -> None:
    """Add papers of one passage each; every tenth is about the same."""
    papers = [make_paper(collection, f"{number:04}") for number in range(first, first + count)]
    passages = [make_passages(paper, [f"topic{n % 10} case {n}"])[0] for n, paper in enumerate(papers, first)]
    texts = [passage.text for passage in passages]
    vectors = DiceEncoder().encode_passages(texts)
    alone = list(np.repeat(vectors[:, None], 2, axis=1))
    table = rows.passage_rows(passages, {paper.id: paper for paper in papers}, texts, vectors, alone)
    writer.put_collections([Collection(collection, collection)])
    writer.add_papers(
        rows.paper_rows([rows.PaperEntry(paper, ()) for paper in papers]).to_batches(), table.to_batches()
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
    """Return the share of the exact nearest neighbours that the index finds."""
    batches = list(corpus.scan("passages", ["id", "vector", "collection_id"]))
    ids = np.array([identifier for batch in batches for identifier in batch["id"].to_pylist()])
    homes = np.array([home for batch in batches for home in batch["collection_id"].to_pylist()])
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


def test_of_few_passages_all_are_compared(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path, DiceEncoder())
    _add(writer, "many", 0, 200)
    writer.publish()
    assert _recall(_open(tmp_path), Scope()) >= GOOD_RECALL


def test_nearest_passages_are_found_within_the_scope(writer: CorpusWriter, tmp_path: Path) -> None:
    corpus = _open(tmp_path)
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert _recall(corpus, Scope(collections=("many",))) >= GOOD_RECALL
    # Regression: a small collection was lost where what was looked into held none of it.
    assert _recall(corpus, RARE) == 1.0
    found = search(corpus, DiceEncoder(), "topic3 asked about", RARE, papers=15)
    assert {paper.paper.collection_id for paper in found} == {"rare"}
    assert len(found) == 15
    nowhere = Scope(collections=("rare",), papers=("many/0001",))
    assert _open(tmp_path).nearest(DiceEncoder().encode_query("topic1 x"), nowhere, 20) == []
    query = DiceEncoder().encode_query("topic4 asked")
    corpus, encoder = _open(tmp_path), DiceEncoder()
    for paper in search(corpus, encoder, "topic4 asked", Scope()):
        exact = float(
            np.asarray(corpus.vectors([paper.hits[0].passage.id])[paper.hits[0].passage.id]) @ query
        )
        assert paper.hits[0].dense == pytest.approx(cosine_scales(encoder).asked(exact), abs=1e-6)


def test_a_later_build_is_searched_as_a_whole(writer: CorpusWriter, tmp_path: Path) -> None:
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 300)
    later.remove_papers(["many/0000"])
    later.publish()
    corpus = _open(tmp_path)
    assert corpus.not_indexed() == 0
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert _recall(corpus, Scope(collections=("new",))) >= GOOD_RECALL
    assert list(verify(corpus, tmp_path)) == []


def test_rows_that_no_index_holds_are_found_all_the_same(writer: CorpusWriter, tmp_path: Path) -> None:
    connection = tables.connect(Folder(tmp_path))
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 50)
    versions = {name: connection.open_table(name).version for name in _open(tmp_path).manifest.versions}
    corpus = Corpus.open_at(tmp_path, DiceEncoder(), versions)
    assert corpus.not_indexed() == 50
    assert _recall(corpus, Scope(collections=("new",))) >= GOOD_RECALL
    assert _recall(corpus, Scope()) >= GOOD_RECALL
    assert {match.paper_id for match in corpus.matching("5003", Scope(), 5)} == {"new/5003"}
    assert "the full-text index" in {problem.item for problem in verify(corpus, tmp_path)}


def test_a_vector_index_of_an_earlier_release_is_dropped(writer: CorpusWriter, tmp_path: Path) -> None:
    passages = tables.connect(Folder(tmp_path)).open_table("passages")
    passages.create_index("vector", config=IvfSq(distance_type="cosine", num_partitions=1), name="vector_1")
    before = dict(_open(tmp_path).manifest.versions, passages=passages.version)
    assert _recall(Corpus.open_at(tmp_path, DiceEncoder(), before), Scope()) >= GOOD_RECALL
    later = CorpusWriter(tmp_path, DiceEncoder())
    _add(later, "new", 5000, 50)
    later.publish()
    passages = tables.connect(Folder(tmp_path)).open_table("passages")
    assert "vector" not in {column for index in passages.list_indices() for column in index.columns}
    assert _recall(_open(tmp_path), Scope()) >= GOOD_RECALL


def test_an_earlier_version_is_searched_as_it_was(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path, DiceEncoder())
    _add(writer, "many", 0, 500)
    writer.publish()
    before = _open(tmp_path).manifest.versions
    _add(writer, "new", 5000, 700)
    writer.publish()
    old = Corpus.open_at(tmp_path, DiceEncoder(), before)
    assert _recall(old, Scope()) >= GOOD_RECALL
    assert old.count_papers() == 500
    assert {match.paper_id for match in old.matching("topic3", Scope(), 700)} == {
        f"many/{number:04}" for number in range(3, 500, 10)
    }


def test_readers_at_once_wait_for_one_reading_of_the_passages(
    writer: CorpusWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    scan = tables.scan_numbered

    def counted(table: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        read.append(table.name)
        return scan(table, columns)

    monkeypatch.setattr(tables, "scan_numbered", counted)
    corpus, query = _open(tmp_path), DiceEncoder().encode_query("topic1 x")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: corpus.nearest(query, Scope(), 5), range(8)))
    assert read == ["passages"]
    assert all(papers == found[0] for papers in found)


def _index(vectors: Vectors) -> PassageIndex:
    """Return an index of passages of two papers in turns, in rows that go down."""
    count = len(vectors)
    batch = pa.record_batch(
        {
            "paper_id": pa.array([f"paper/{number % 2}" for number in range(count)], pa.string()),
            "number": pa.array([number // 2 for number in range(count)], pa.int32()),
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(vectors.reshape(-1), pa.float32()), vectors.shape[1]
            ),
            "_rowid": pa.array([HIGHEST - number for number in range(count)], pa.uint64()),
        }
    )
    cuts = [batch.slice(0, count // 3), batch.slice(count // 3)]
    return PassageIndex(count, vectors.shape[1], cuts)


@given(st.integers(0, 60), st.integers(1, 200), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_all_passages_are_found_by_cosine(count: int, dimension: int, limit: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = np.asarray(random.normal(size=(count, dimension)), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = np.asarray(random.normal(size=dimension), np.float32)
    query /= np.linalg.norm(query)
    index = _index(vectors)
    positions, cosines = index.nearest(query, limit)
    assert len(positions) == min(limit, count)
    # A half step of 127 to a dimension at most, and what a query's numbers make of it.
    near = np.abs(vectors).max(initial=0) / 254 * np.abs(query).sum() + 1e-6
    assert np.abs(cosines - vectors[positions] @ query).max(initial=0) <= near
    assert (np.diff(cosines) <= 0).all()
    matches = index.matches(positions, cosines.tolist())
    rows = index.rows([match.position for match in matches])
    assert rows == [HIGHEST - at for at in positions]
    assert index.at_rows(rows).tolist() == positions.tolist()
    assert sorted(index.of_ids(match.passage_id for match in matches)) == sorted(positions)


def test_nearest_at_a_first_look_holds_what_is_nearest_and_zero_vectors_are_near_nothing() -> None:
    random = np.random.default_rng(0)
    vectors = np.asarray(random.normal(size=(4_000, 192)), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index, half = _index(vectors), np.arange(0, 4_000, 2)
    for within in (None, half):
        found = 0
        for _ in range(20):
            query = random.normal(size=192) / 14 + vectors[random.integers(4_000)]
            query = np.asarray(query / np.linalg.norm(query), np.float32)
            there = np.arange(4_000) if within is None else within
            exact = there[np.argsort(-(vectors[there] @ query))[:5]]
            found += len(set(index.nearest(query, 5, within)[0]) & set(exact))
        assert found >= 0.9 * 20 * 5
    vectors = np.concatenate([np.zeros((1, 8), np.float32), np.eye(8, dtype=np.float32)])
    positions, cosines = _index(vectors).nearest(np.eye(8, dtype=np.float32)[2], 9)
    assert positions[0] == 3
    assert cosines[0] == pytest.approx(1.0, abs=0.005)
    assert np.isfinite(cosines).all()


@given(st.one_of(st.text(max_size=20), st.from_regex(r"paper/[01]#.{1,30}")))
def test_an_id_that_no_passage_has_is_none(identifier: str) -> None:
    index = _index(np.eye(8, dtype=np.float32))
    positions = index.of_ids([identifier])
    found = index.matches(positions, [1.0] * len(positions))
    paper, _, number = identifier.rpartition("#")
    assert [match.paper_id for match in found] == ([paper] if found else [])
    assert not found or int(number) < 4
    assert len(index.of_paper(identifier)) == 0
