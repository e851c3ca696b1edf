"""What a corpus costs as it grows: synthetic papers, our own store, links, map, search and lists."""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np

from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Vectors
from corpus.records import Scope
from corpus.search import WEIGHTS, search
from corpus.settings import Settings
from corpus.store import Corpus, CorpusWriter, PaperOrder
from evaluation.bench.synthetic import PASSAGES_PER_PAPER, SyntheticPapers, SyntheticText, collection_id
from indexer.paper_map import draw_map

QUERIES, QUERY_WORDS = 60, 8
WARMING = 5
# What is published later, as a reader's own papers would be.
PAPERS_LATER = 10
PAGE = 20
ORDERS: tuple[PaperOrder, ...] = ("position", "title", "newest", "oldest", "cited")
Measured = TypeVar("Measured")


class Written(TypedDict):
    """What writing takes in seconds, with all but parsing and encoding; `mb` is its size on the disk."""

    passages: int
    build_seconds: float
    map_seconds: float
    publication_seconds: float
    mb: float


class Read(TypedDict):
    """What reading takes; searches with the query's encoding, recall of the nearest vectors.

    What searches need is read and everything sorted once, as when the app starts. Lists are pages in several
    orders, of everything, of a topic and of some years: first asked for, and then again. The memory is the
    most that a process had which does no more than this.
    """

    search_ms_p50: float
    search_ms_p95: float
    filtered_ms_p50: float
    filtered_ms_p95: float
    recall: float
    filtered_recall: float
    loading_seconds: float
    sorting_ms: float
    list_first_ms_max: float
    list_ms_p95: float
    memory_mib: int


class Growth(Written, Read):
    """What a corpus of a size costs."""


def measure_growth(passages: int) -> Growth:
    """Return what a corpus of so many passages costs, written and read by a process each."""
    with tempfile.TemporaryDirectory() as folder:
        written = _apart(write, Path(folder), passages)
        return Growth(**written, **_apart(read, Path(folder)))


def _apart(work: Callable[..., Measured], *arguments: object) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def write(home: Path, passages: int) -> Written:
    """Write a corpus into a home, then publish a few papers more, the map drawn anew as in every build."""
    settings = Settings(home=home)
    encoder = open_encoder(settings)
    later = PAPERS_LATER * PASSAGES_PER_PAPER
    papers = SyntheticPapers(len(encoder.encode_query("dimension")), passages + later)
    writer = CorpusWriter(settings.corpus_path, encoder)
    clock = _Clock()
    papers.write(writer, papers.count - PAPERS_LATER)
    build = clock.lap()
    # Whoever writes next finds what was published, as a build does.
    writer = CorpusWriter(settings.corpus_path, encoder)
    papers.add(writer, range(papers.count - PAPERS_LATER, papers.count))
    clock.lap()
    draw_map(writer)
    drawn = clock.lap()
    writer.publish()
    publication = clock.lap()
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
    return Written(
        passages=passages,
        build_seconds=build,
        map_seconds=drawn,
        publication_seconds=publication,
        mb=size / 1e6,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a corpus is asked: texts in turn, the first few to warm up, and a collection to look in as well.

    The encoder is asked for once for each turn at all the texts; of the vectors the nearest are compared.
    """

    texts: Sequence[str]
    encoder: Callable[[], Encoder]
    vectors: Vectors
    collection: str


def read(home: Path) -> Read:
    """Search and list what a home of synthetic papers holds."""
    return _read(home, _synthetic)


def read_real(home: Path, queries: Sequence[str]) -> Read:
    """Search and list what any home holds, by real queries: of everything and of the largest collection."""

    def real(corpus: Corpus, encoder: Encoder) -> _Asked:
        vectors = np.stack([encoder.encode_query(query) for query in queries[:QUERIES]])
        largest = max(corpus.collections(), key=lambda one: one.papers)
        texts = [*queries[-WARMING:], *queries]
        return _Asked(texts, lambda: encoder, vectors, largest.collection.id)

    return _read(home, real)


def _synthetic(corpus: Corpus, encoder: Encoder) -> _Asked:
    asked = SyntheticText(corpus.manifest.dimension, seed=2)
    vectors = asked.vectors(QUERIES + WARMING)
    return _Asked(
        texts=[asked.text(QUERY_WORDS) for _ in range(QUERIES + WARMING)],
        encoder=lambda: _TimedEncoder(encoder, vectors),
        vectors=SyntheticText(corpus.manifest.dimension, seed=3).vectors(QUERIES),
        collection=collection_id(1),
    )


def _read(home: Path, asking: Callable[[Corpus, Encoder], _Asked]) -> Read:
    settings = Settings(home=home)
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    clock = _Clock()
    corpus.load()
    loading = clock.lap()
    asked = asking(corpus, encoder)
    everything, one = Scope(), Scope(collections=(asked.collection,))
    times, filtered = (_times(corpus, asked, scope) for scope in (everything, one))
    clock.lap()
    corpus.statistics.sort_all()
    sorting = 1000 * clock.lap()
    lists, again = _list_times(corpus), _list_times(corpus)
    return Read(
        search_ms_p50=statistics.median(times),
        search_ms_p95=statistics.quantiles(times, n=20)[-1],
        filtered_ms_p50=statistics.median(filtered),
        filtered_ms_p95=statistics.quantiles(filtered, n=20)[-1],
        loading_seconds=loading,
        sorting_ms=sorting,
        list_first_ms_max=max(lists),
        list_ms_p95=statistics.quantiles(again, n=20)[-1],
        memory_mib=_peak_mib(),
        recall=_recall(corpus, asked.vectors, everything),
        filtered_recall=_recall(corpus, asked.vectors, one),
    )


class _Clock:
    def __init__(self) -> None:
        self._since = time.perf_counter()

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        now = time.perf_counter()
        seconds, self._since = now - self._since, now
        return seconds


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


def _times(corpus: Corpus, asked: _Asked, scope: Scope) -> list[float]:
    """Return the milliseconds of each query after a few that are not measured."""
    encoder, found = asked.encoder(), []
    for query in asked.texts:
        clock = time.perf_counter()
        search(corpus, encoder, query, scope)
        found.append(1000 * (time.perf_counter() - clock))
    return found[WARMING:]


def _list_times(corpus: Corpus) -> list[float]:
    """Return the milliseconds of each page of a list, with its count, as the Collection page asks for it."""
    topics = tuple(corpus.statistics.topic_counts())[:1]
    found = []
    for scope in (Scope(), Scope(topics=topics), Scope(years=(2010, 2012))):
        for order in ORDERS:
            for offset in (0, PAGE):
                clock = time.perf_counter()
                corpus.papers(scope, order, offset, PAGE)
                corpus.count_papers(scope)
                found.append(1000 * (time.perf_counter() - clock))
    return found


def _recall(corpus: Corpus, queries: Vectors, scope: Scope) -> float:
    """Return the share of the nearest passages of some queries that the corpus finds."""
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


def _peak_mib() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak // (1024**2 if sys.platform == "darwin" else 1024))
