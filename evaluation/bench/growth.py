"""Measures time and memory of large corpora of synthetic papers: build, links, map, search and lists.

Synthetic words have the frequencies of natural text, vectors are clustered, and papers cite each other.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise, product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Vectors
from corpus.records import Author, Collection, Paper, Passage, Reference, Scope, Sentence, Topic, passage_id
from corpus.search.hybrid import WEIGHTS, search
from corpus.settings import Settings
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.statistics import PaperOrder
from corpus.store.writer import CorpusWriter
from evaluation.harness import Figures
from indexer.paper_map.map import draw_map

COLLECTIONS, PASSAGES_PER_PAPER, PAPERS_PER_BATCH = 20, 10, 1000
TOPICS, SPREAD = 1000, 1.2
VOCABULARY, WORDS, SENTENCES = 50_000, 60, 2
TITLE_WORDS, AUTHORS_PER_PAPER, AUTHORS, SUBJECTS = 9, 3, 20_000, 200
# Entries of a bibliography; one in `PER_CITED_PAPER` of them cites a paper of the corpus.
REFERENCES, PER_CITED_PAPER = 20, 5
QUERIES, QUERY_WORDS, WARMING = 60, 8, 5
PAPERS_LATER, PAGE = 10, 20
ORDERS: tuple[PaperOrder, ...] = ("position", "title", "newest", "oldest", "cited")


class SyntheticText:
    """Generates texts of words with Zipf frequencies, and vectors near one of `TOPICS` centres."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._topics = np.random.default_rng(0).normal(size=(TOPICS, dimension))
        self._topics /= np.linalg.norm(self._topics, axis=1, keepdims=True)
        self._deviation = SPREAD / dimension**0.5
        frequency = 1 / np.arange(1, VOCABULARY + 1)
        self._cumulative = np.cumsum(frequency / frequency.sum())

    def text(self, words: int) -> str:
        numbers = np.searchsorted(self._cumulative, self._random.random(words))
        return " ".join(f"word{number}" for number in numbers)

    def vectors(self, count: int) -> Vectors:
        centres = self._topics[self._random.integers(TOPICS, size=count)]
        vectors = centres + self._random.normal(size=centres.shape, scale=self._deviation)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def collection_id(number: int) -> str:
    return f"synthetic-{number % COLLECTIONS}"


class SyntheticPapers:
    """Generates numbered papers with `passages` passages in all; the last paper may have fewer."""

    def __init__(self, dimension: int, passages: int) -> None:
        self.count = -(-passages // PASSAGES_PER_PAPER)
        self._passages = passages
        self._texts = SyntheticText(dimension, seed=1)
        self._titles = [self._texts.text(TITLE_WORDS) for _ in range(self.count)]
        self._random = np.random.default_rng(4)

    def write(self, writer: CorpusWriter, count: int) -> None:
        """Write and publish the first `count` papers."""
        writer.put_collections(
            [Collection(collection_id(number), f"Synthetic {number}") for number in range(COLLECTIONS)]
        )
        for start in range(0, count, PAPERS_PER_BATCH):
            self.add(writer, range(start, min(start + PAPERS_PER_BATCH, count)))
        writer.publish()

    def add(self, writer: CorpusWriter, numbers: Sequence[int]) -> None:
        """Write the papers with these numbers, without publishing."""
        papers = [self._paper(number) for number in numbers]
        entries = [rows.PaperEntry(paper, self._references()) for paper in papers]
        passages = []
        for paper, number in product(papers, range(PASSAGES_PER_PAPER)):
            name, text = passage_id(paper.id, number), self._texts.text(WORDS)
            edges = [len(text) * part // SENTENCES for part in range(SENTENCES + 1)]
            sentences = tuple(Sentence(start, end) for start, end in pairwise(edges))
            passages.append(Passage(name, paper.id, paper.collection_id, number, "body", (), text, sentences))
        passages = passages[: self._passages - numbers[0] * PASSAGES_PER_PAPER]
        vectors = self._texts.vectors(len(passages))
        # Title and sentences get the passage's vector: their values do not affect the measurement.
        sentence_vectors = list(np.repeat(vectors[:, None], 1 + SENTENCES, axis=1))
        texts, by_id = [passage.text for passage in passages], {paper.id: paper for paper in papers}
        passage_rows = rows.passage_rows(passages, by_id, texts, vectors, sentence_vectors)
        writer.add_papers(rows.paper_rows(entries).to_batches(), passage_rows.to_batches())

    def _paper(self, number: int) -> Paper:
        authors = []
        for _ in range(AUTHORS_PER_PAPER):
            author = int(self._random.integers(AUTHORS))
            authors.append(Author(f"Given{author % 100}", f"Family{author}"))
        collection = collection_id(number)
        return Paper(
            id=f"{collection}/{number}",
            collection_id=collection,
            title=self._titles[number],
            authors=tuple(authors),
            year=2000 + number % 25,
            venue=f"Venue {number % COLLECTIONS}",
            abstract="",
            position=number,
            topics=(Topic("task", f"task {self._random.integers(SUBJECTS)}", 1.0),),
        )

    def _references(self) -> tuple[Reference, ...]:
        cited = self._random.integers(self.count, size=REFERENCES // PER_CITED_PAPER)
        titles = [self._titles[number] for number in cited]
        titles += [self._texts.text(TITLE_WORDS) for _ in range(REFERENCES - len(titles))]
        return tuple(
            Reference(f"Given Family and Given Other. {title}. In Proceedings, pages 1–12.")
            for title in titles
        )


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall-clock seconds that a call takes."""
    clock = time.perf_counter()
    work()
    return time.perf_counter() - clock


def percentiles(name: str, seconds: Sequence[float]) -> Figures:
    """Return the median and the 95th percentile of times in milliseconds."""
    return {
        f"{name}_ms_p50": 1000 * statistics.median(seconds),
        f"{name}_ms_p95": 1000 * statistics.quantiles(seconds, n=20)[-1],
    }


class _TimedEncoder:
    """Encodes a query with the real encoder for its time, but returns a vector near those of the corpus."""

    def __init__(self, encoder: Encoder, vectors: Vectors) -> None:
        self.name, self.sha256, self.runtime = encoder.name, encoder.sha256, encoder.runtime
        self.load, self.encode_passages = encoder.load, encoder.encode_passages
        self._encoder = encoder
        self._vectors = iter(vectors)

    def encode_query(self, text: str) -> Vectors:
        self._encoder.encode_query(text)
        return np.asarray(next(self._vectors), np.float32)


def measure_growth(passages: int) -> Figures:
    """Measure a corpus of `passages` synthetic passages; one process writes it, another reads it."""
    with tempfile.TemporaryDirectory() as folder:
        figures: Figures = {}
        for work, arguments in ((write, (Path(folder), passages)), (read, (Path(folder),))):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                figures |= process.submit(work, *arguments).result()
        return figures


def write(home: Path, passages: int) -> Figures:
    """Measure building a synthetic corpus and adding a few papers to it: seconds and size on disk."""
    settings = Settings(home=home)
    encoder = open_encoder(settings)
    later_passages = PAPERS_LATER * PASSAGES_PER_PAPER
    papers = SyntheticPapers(len(encoder.encode_query("dimension")), passages + later_passages)
    writer = CorpusWriter(settings.corpus_path, encoder)
    build = seconds_of(lambda: papers.write(writer, papers.count - PAPERS_LATER))
    # Each build opens a new writer on the published corpus.
    later_writer = CorpusWriter(settings.corpus_path, encoder)
    papers.add(later_writer, range(papers.count - PAPERS_LATER, papers.count))
    return {
        "passages": passages,
        "build_seconds": build,
        "map_seconds": seconds_of(lambda: draw_map(later_writer)),
        "publication_seconds": seconds_of(later_writer.publish),
        "mb": sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) / 1e6,
    }


def read(home: Path, queries: Sequence[str] = ()) -> Figures:
    """Search and list a home's papers, all and of one collection; return times, recall and peak memory.

    Without `queries` they are synthetic, for a home of synthetic papers. Recall is of the nearest vectors.
    """
    settings = Settings(home=home)
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    loading = seconds_of(corpus.load)
    texts, near = [*queries[-WARMING:], *queries], None
    if queries:
        vectors = np.stack([encoder.encode_query(query) for query in queries[:QUERIES]])
        collection = max(corpus.collections(), key=lambda listed: listed.papers).collection.id
    else:
        text = SyntheticText(corpus.manifest.dimension, seed=2)
        near = text.vectors(QUERIES + WARMING)
        texts = [text.text(QUERY_WORDS) for _ in near]
        vectors = SyntheticText(corpus.manifest.dimension, seed=3).vectors(QUERIES)
        collection = collection_id(1)
    everything, one_collection = Scope(), Scope(collections=(collection,))

    def search_times(scope: Scope) -> list[float]:
        """Return the seconds of each query; the first `WARMING` queries are not counted."""
        query_encoder = _TimedEncoder(encoder, near) if near is not None else encoder
        return [seconds_of(partial(search, corpus, query_encoder, query, scope)) for query in texts][WARMING:]

    searches = percentiles("search", search_times(everything))
    searches |= percentiles("filtered", search_times(one_collection))
    sorting = 1000 * seconds_of(corpus.statistics.sort_all)
    first_lists, later_lists = _list_times(corpus), _list_times(corpus)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        **searches,
        "loading_seconds": loading,
        "sorting_ms": sorting,
        "list_first_ms_max": max(first_lists),
        "list_ms_p95": statistics.quantiles(later_lists, n=20)[-1],
        "memory_mib": int(peak // (1024**2 if sys.platform == "darwin" else 1024)),
        "recall": _recall(corpus, vectors, everything),
        "filtered_recall": _recall(corpus, vectors, one_collection),
    }


def _list_times(corpus: Corpus) -> list[float]:
    """Return the milliseconds of reading each page of a list with its count, as the Collection page does."""
    topics = tuple(corpus.statistics.topic_counts())[:1]
    scopes = (Scope(), Scope(topics=topics), Scope(years=(2010, 2012)))

    def draw(scope: Scope, order: PaperOrder, offset: int) -> None:
        corpus.papers(scope, order, offset, PAGE)
        corpus.count_papers(scope)

    pages = product(scopes, ORDERS, (0, PAGE))
    return [1000 * seconds_of(partial(draw, *page)) for page in pages]


def _recall(corpus: Corpus, queries: Vectors, scope: Scope) -> float:
    """Return the share of the true nearest passages of each query that the corpus finds, on average."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    for batch in corpus.scan("passages", ["id", "collection_id", "vector"]):
        collections = np.asarray(batch["collection_id"].to_pylist())
        in_scope = (
            np.isin(collections, scope.collections) if scope.collections else np.ones(len(collections), bool)
        )
        vectors = batch["vector"].flatten().to_numpy().reshape(len(collections), -1)[in_scope]
        ids = np.asarray(batch["id"].to_pylist())[in_scope].tolist()
        for nearest, similarities in zip(best, queries @ vectors.T, strict=True):
            top = np.argsort(-similarities)[: WEIGHTS.depth]
            nearest += [(float(similarities[place]), ids[place]) for place in top]
            nearest.sort(reverse=True)
            del nearest[WEIGHTS.depth :]
    shares = []
    for query, nearest in zip(queries, best, strict=True):
        matches = {match.passage_id for match in corpus.nearest(query, scope, WEIGHTS.depth)}
        shares.append(sum(identifier in matches for _, identifier in nearest) / len(nearest))
    return statistics.fmean(shares)
