"""Speed of search over many passages: synthetic texts, clustered vectors, our own store and search."""

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow as pa

from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Vectors
from corpus.places import Place
from corpus.records import Collection, Paper, Passage, Scope, Sentence, passage_id
from corpus.search import WEIGHTS, search
from corpus.settings import Settings
from corpus.store import Corpus, CorpusWriter, rows

COLLECTIONS, PASSAGES_PER_PAPER, PAPERS_PER_BATCH = 20, 10, 1000
TOPICS, SPREAD = 1000, 1.2
VOCABULARY, WORDS, QUERY_WORDS, SENTENCES = 50_000, 60, 8, 2
QUERIES = 60


class SearchSpeed(TypedDict):
    """What is measured; times include encoding the query, recall is of the nearest vectors by the index."""

    search_rows: int
    search_build_seconds: float
    search_rows_ms_p50: float
    search_rows_ms_p95: float
    search_filtered_ms_p50: float
    search_filtered_ms_p95: float
    search_recall: float
    search_filtered_recall: float


class _SyntheticText:
    """Texts of words as frequent as Zipf says, and vectors near one of many topics."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._topics = np.random.default_rng(0).normal(size=(TOPICS, dimension))
        self._topics /= np.linalg.norm(self._topics, axis=1, keepdims=True)
        self._deviation = SPREAD / dimension**0.5
        frequency = 1 / np.arange(1, VOCABULARY + 1)
        self._cumulated = np.cumsum(frequency / frequency.sum())

    def text(self, words: int) -> str:
        drawn = np.searchsorted(self._cumulated, self._random.random(words))
        return " ".join(f"word{number}" for number in drawn)

    def vectors(self, count: int) -> Vectors:
        near = self._topics[self._random.integers(TOPICS, size=count)]
        vectors = near + self._random.normal(size=near.shape, scale=self._deviation)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class _TimedEncoder:
    """Takes the real encoder's time for a query and gives a vector that has something near it."""

    def __init__(self, encoder: Encoder, vectors: Vectors) -> None:
        self.name, self.sha256, self.runtime = encoder.name, encoder.sha256, encoder.runtime
        self._encoder = encoder
        self._vectors = iter(vectors)

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        self._encoder.encode_query(text)
        return np.asarray(next(self._vectors), np.float32)


def measure_search(count: int) -> SearchSpeed:
    """Return how fast `count` passages are searched, with and without a filter, and what the index misses."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        encoder = open_encoder(settings)
        clock = time.perf_counter()
        _write(settings.corpus_path, encoder, count)
        built = time.perf_counter() - clock
        corpus = Corpus.open(settings.corpus_path, encoder)
        everything, one = Scope(), Scope(collections=(_collection(1).id,))
        times, filtered = (_times(corpus, encoder, scope) for scope in (everything, one))
        return SearchSpeed(
            search_rows=count,
            search_build_seconds=built,
            search_rows_ms_p50=statistics.median(times),
            search_rows_ms_p95=statistics.quantiles(times, n=20)[-1],
            search_filtered_ms_p50=statistics.median(filtered),
            search_filtered_ms_p95=statistics.quantiles(filtered, n=20)[-1],
            search_recall=_recall(corpus, everything),
            search_filtered_recall=_recall(corpus, one),
        )


def _write(path: Place, encoder: Encoder, count: int) -> None:
    writer = CorpusWriter(path, encoder)
    writer.put_collections([_collection(number) for number in range(COLLECTIONS)])
    synthetic = _SyntheticText(len(encoder.encode_query("dimension")), seed=1)
    papers = [_paper(number) for number in range(-(-count // PASSAGES_PER_PAPER))]
    for start in range(0, len(papers), PAPERS_PER_BATCH):
        batch = papers[start : start + PAPERS_PER_BATCH]
        room = count - start * PASSAGES_PER_PAPER
        writer.add_papers(
            rows.paper_rows([rows.PaperEntry(paper, ()) for paper in batch]).to_batches(),
            _passages(batch, synthetic, room).to_batches(),
        )
    writer.publish()


def _passages(papers: Sequence[Paper], synthetic: _SyntheticText, room: int) -> pa.Table:
    passages = [
        _passage(paper, number, synthetic.text(WORDS))
        for paper in papers
        for number in range(PASSAGES_PER_PAPER)
    ][:room]
    texts = [passage.text for passage in passages]
    vectors = synthetic.vectors(len(passages))
    # A title and sentences of their own would measure no different.
    alone = np.repeat(vectors[:, None], 1 + SENTENCES, axis=1)
    return rows.passage_rows(passages, {paper.id: paper for paper in papers}, texts, vectors, list(alone))


def _collection(number: int) -> Collection:
    return Collection(f"synthetic-{number}", f"Synthetic {number}")


def _paper(number: int) -> Paper:
    home = _collection(number % COLLECTIONS).id
    return Paper(f"{home}/{number}", home, f"Paper {number}", (), 2000 + number % 25, "", "", position=number)


def _passage(paper: Paper, number: int, text: str) -> Passage:
    edges = [len(text) * part // SENTENCES for part in range(SENTENCES + 1)]
    sentences = tuple(Sentence(start, end) for start, end in pairwise(edges))
    identifier = passage_id(paper.id, number)
    return Passage(identifier, paper.id, paper.collection_id, number, "body", (), text, sentences)


def _times(corpus: Corpus, encoder: Encoder, scope: Scope) -> list[float]:
    """Return the milliseconds of each query after a few that are not measured."""
    asked = _SyntheticText(corpus.manifest.dimension, seed=2)
    timed = _TimedEncoder(encoder, asked.vectors(QUERIES + 5))
    found = []
    for _ in range(QUERIES + 5):
        query = asked.text(QUERY_WORDS)
        clock = time.perf_counter()
        search(corpus, timed, query, scope)
        found.append(1000 * (time.perf_counter() - clock))
    return found[5:]


def _recall(corpus: Corpus, scope: Scope) -> float:
    """Return the share of the nearest passages of some queries that the corpus finds."""
    queries = _SyntheticText(corpus.manifest.dimension, seed=3).vectors(QUERIES)
    shares = []
    for query, exact in zip(queries, _exactly_nearest(corpus, queries, scope), strict=True):
        found = {match.passage_id for match in corpus.nearest(query, scope, WEIGHTS.depth)}
        shares.append(len(found & exact) / len(exact))
    return statistics.fmean(shares)


def _exactly_nearest(corpus: Corpus, queries: Vectors, scope: Scope) -> list[set[str]]:
    """Return the ids of the passages nearest to each query, by comparing with all, a batch at a time."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    for ids, vectors in _scanned(corpus, scope):
        for nearest, similarities in zip(best, queries @ vectors.T, strict=True):
            top = np.argsort(-similarities)[: WEIGHTS.depth]
            nearest += [(float(similarities[place]), ids[place]) for place in top]
            nearest.sort(reverse=True)
            del nearest[WEIGHTS.depth :]
    return [{identifier for _, identifier in nearest} for nearest in best]


def _scanned(corpus: Corpus, scope: Scope) -> Iterator[tuple[list[str], Vectors]]:
    for batch in corpus.scan("passages", ["id", "collection_id", "vector"]):
        homes = np.asarray(batch["collection_id"].to_pylist())
        inside = np.isin(homes, scope.collections) if scope.collections else np.ones(len(homes), bool)
        vectors = batch["vector"].flatten().to_numpy().reshape(len(homes), -1)
        yield np.asarray(batch["id"].to_pylist())[inside].tolist(), vectors[inside]
