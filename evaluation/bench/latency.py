"""How long readers wait for the first words of a model's answer beyond the model's own time."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import TypedDict

from assistant.chat import Assistant
from assistant.generators import open_generator
from assistant.models import available_models
from assistant.records import AskOptions, Retrieved, Rewritten, Written
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder
from corpus.settings import Settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError

QUESTIONS = (
    "How are ranked lists of two search methods combined?",
    "Which metrics tell how good a summary is?",
    "What makes retrieval with dense vectors fail on new domains?",
    "How is it checked that an answer is supported by its source?",
    "Which methods make inference with language models faster?",
)
ANSWER = ("The papers say so [1]", ". And so on [2].")


class Figures(TypedDict):
    """Milliseconds; `added_*` is what the product adds to the model's own time to the first words."""

    papers: int
    questions: int
    model_ms: float
    first_words_ms: float
    rewritten_ms: float
    retrieved_ms: float
    added_ms_p50: float
    added_ms_p95: float


@dataclass(slots=True)
class _Model:
    """A model server that takes its time: `seconds` before each reply begins."""

    seconds: float
    taken: list[float] = field(default_factory=list)
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: _Model

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:  # the name that http.server looks for
        began = time.perf_counter()
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.model.seconds)
        pieces = ANSWER
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.model.taken.append(time.perf_counter() - began)
        for number, piece in enumerate(pieces, start=1):
            reason = "stop" if number == len(pieces) else None
            self._send({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": reason}]})
        self._write(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, chunk: object) -> None:
        self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _write(self, event: bytes) -> None:
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


@contextmanager
def _serving(seconds: float) -> Iterator[_Model]:
    model = _Model(seconds)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def measure_latency(home: Path, seconds: float = 0.3, rounds: int = 4) -> Figures:
    """Ask the corpus of `home` with a model server that takes `seconds` to begin each of its replies.

    Every question is asked `rounds` times, the first is not counted, nor are those that are refused. Raises
    EvaluationError where all are, CorpusError where there is no corpus.
    """
    settings = Settings(home=home, model_url="http://set.below")
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    with _serving(seconds) as model:
        settings = Settings(home=home, model_url=model.url)
        asked = [_ask(settings, corpus, encoder, model, question) for question in QUESTIONS * rounds]
    waits = [wait for wait in asked[1:] if wait]
    if not waits:
        raise EvaluationError(f"The corpus in {home} answers none of the questions. Index more papers.")
    added = sorted((wait.first_words - wait.model) * 1000 for wait in waits)
    return Figures(
        papers=corpus.count_papers(AskOptions().scope),
        questions=len(waits),
        model_ms=median(wait.model for wait in waits) * 1000,
        first_words_ms=median(wait.first_words for wait in waits) * 1000,
        rewritten_ms=median(wait.rewritten for wait in waits) * 1000,
        retrieved_ms=median(wait.retrieved for wait in waits) * 1000,
        added_ms_p50=median(added),
        added_ms_p95=added[int(0.95 * (len(added) - 1))],
    )


@dataclass(frozen=True, slots=True)
class _Wait:
    """Seconds from asking to each event, and the model's own time to its first words."""

    rewritten: float
    retrieved: float
    first_words: float
    model: float


def _ask(settings: Settings, corpus: Corpus, encoder: Encoder, model: _Model, question: str) -> _Wait | None:
    """Ask as a screen does, with a generator opened for this question; None where it is refused."""
    model.taken.clear()
    clock = time.perf_counter()
    generator = open_generator(available_models(settings)[0].id, settings, encoder, session="measured")
    moments: dict[type, float] = {}
    for event in Assistant(corpus, encoder, generator).ask(question, (), AskOptions()):
        # An empty piece only says that the model is waited for.
        if event != Written(""):
            moments.setdefault(type(event), time.perf_counter() - clock)
    if Written not in moments:
        return None
    return _Wait(moments[Rewritten], moments[Retrieved], moments[Written], sum(model.taken))
