"""Time until the first words of a model's answer, beyond the model's own time."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import ClassVar

from assistant.chat import Assistant
from assistant.generators import open_generator
from assistant.models import available_models
from assistant.records import AskOptions, Retrieved, Rewritten, Written
from corpus.encoder_choice import open_encoder
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.harness import Report, command, plain_table
from evaluation.input_files import EvaluationError

QUESTIONS = (
    "How are ranked lists of two search methods combined?",
    "Which metrics tell how good a summary is?",
    "What makes retrieval with dense vectors fail on new domains?",
    "How is it checked that an answer is supported by its source?",
    "Which methods make inference with language models faster?",
)
ANSWER = ("The papers say so [1]", ". And so on [2].")


class _Handler(BaseHTTPRequestHandler):
    """A model server that waits `seconds` before each reply; `taken` has its own times."""

    protocol_version = "HTTP/1.1"
    seconds: ClassVar[float]
    taken: ClassVar[list[float]]

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:  # the name that http.server looks for
        began = time.perf_counter()
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.seconds)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.taken.append(time.perf_counter() - began)
        for piece, reason in zip(ANSWER, (None, "stop"), strict=True):
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": reason}
            self._write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
        self._write(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, event: bytes) -> None:
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


@contextmanager
def _serving(handler: type[_Handler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@command("latency")
def latency(home: Path | None = None, delay: float = 0.3, rounds: int = 4) -> Report:
    home = home or read_settings().home
    taken: list[float] = []
    settings = Settings(home=home, model_url="http://set.below")
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    waits = []
    with _serving(type("Handler", (_Handler,), {"seconds": delay, "taken": taken})) as url:
        settings = Settings(home=home, model_url=url)
        for question in QUESTIONS * rounds:
            taken.clear()
            clock = time.perf_counter()
            # As a screen does, with a generator opened for this question.
            name = available_models(settings)[0].id
            generator = open_generator(name, settings, encoder, session="measured")
            moments: dict[type, float] = {}
            for event in Assistant(corpus, encoder, generator).ask(question, (), AskOptions()):
                # An empty piece only says that the model is waited for.
                if event != Written(""):
                    moments.setdefault(type(event), time.perf_counter() - clock)
            waits.append((moments, sum(taken)))
    # The first question warms up; refused questions have no first words.
    counted = [(moments, model) for moments, model in waits[1:] if Written in moments]
    if not counted:
        raise EvaluationError(f"The corpus in {home} answers none of the questions. Index more papers.")
    added = sorted((moments[Written] - model) * 1000 for moments, model in counted)
    figures = {
        "papers": corpus.count_papers(AskOptions().scope),
        "questions": len(counted),
        "model_ms": median(model for _, model in counted) * 1000,
        "first_words_ms": median(moments[Written] for moments, _ in counted) * 1000,
        "rewritten_ms": median(moments[Rewritten] for moments, _ in counted) * 1000,
        "retrieved_ms": median(moments[Retrieved] for moments, _ in counted) * 1000,
        "added_ms_p50": median(added),
        "added_ms_p95": added[int(0.95 * (len(added) - 1))],
    }
    return Report(figures, [plain_table(figures, 1)])
