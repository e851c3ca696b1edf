"""Measures the time to the first words of a model's answer, without the model's own time."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import ClassVar

from assistant.chat import Assistant
from assistant.generators.choice import open_generator
from assistant.models.menu import available_models
from assistant.models.protocol import ChatModel, Completion
from assistant.records import (
    Answered,
    AskOptions,
    Message,
    Parameters,
    Retrieved,
    Rewrite,
    Rewritten,
    Written,
)
from assistant.retrieve import retrieve
from corpus.encoder_choice import open_encoder
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from evaluation.answers.asking import open_assistant
from evaluation.harness import Figures, Report, command, figures_table, plain_table
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
    """A model server that waits `seconds` before each reply; `times` collects how long it really took."""

    protocol_version = "HTTP/1.1"
    seconds: ClassVar[float]
    times: ClassVar[list[float]]

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:  # called by http.server
        began = time.perf_counter()
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.seconds)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.times.append(time.perf_counter() - began)
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


@dataclass(slots=True)
class _Times:
    """Seconds and tokens of asking a model in one way, one value for each question.

    `known_tokens` counts tokens of the prompt that the server had in its cache.
    """

    first_words: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    known_tokens: list[int] = field(default_factory=list)

    def figures(self) -> Figures:
        lists = {name: getattr(self, name) for name in self.__slots__}
        return {name: median(values) if values else None for name, values in lists.items()}


def _ask_product(assistant: Assistant, question: str, times: _Times) -> None:
    clock, first = time.perf_counter(), None
    for event in assistant.ask(question, (), AskOptions()):
        if isinstance(event, Written) and event.text and first is None:
            first = time.perf_counter() - clock
        if isinstance(event, Answered) and first is not None:
            times.first_words.append(first)
            times.whole.append(time.perf_counter() - clock)
            (call, *_) = [call for call in event.turn.calls if call.step == "write"]
            times.prompt_tokens.append(call.prompt_tokens or 0)
            times.known_tokens.append(call.cached_tokens or 0)


def _ask_plainly(assistant: Assistant, model: ChatModel, question: str, times: _Times) -> None:
    """Ask a model with the first ten retrieved passages in the prompt, as in plain RAG."""
    clock, first = time.perf_counter(), None
    papers = retrieve(assistant.corpus, assistant.encoder, Rewrite(question, question), AskOptions())
    hits = sorted((hit for paper in papers for hit in paper.hits), key=lambda hit: -hit.score)
    passages = "\n\n".join(f"[{number}] {hit.passage.text}" for number, hit in enumerate(hits[:10], 1))
    prompt = f"Answer the question from these passages, and cite them.\n\n{passages}\n\nQuestion: {question}"
    reply = model.stream((Message("user", prompt),), Parameters())
    while True:
        try:
            piece = next(reply)
        except StopIteration as end:
            completion: Completion = end.value
            break
        if piece and first is None:
            first = time.perf_counter() - clock
    times.first_words.append(first or 0.0)
    times.whole.append(time.perf_counter() - clock)
    times.prompt_tokens.append(completion.prompt_tokens or 0)


def _compare_with_plain_prompt(home: Path, name: str) -> Report:
    models: list[ChatModel] = []

    def record(model: ChatModel) -> ChatModel:
        models.append(model)
        return model

    assistant = open_assistant(home, name, wrap=record)
    ours, plain = _Times(), _Times()
    # Not measured: the first question loads the model.
    _ask_product(assistant, QUESTIONS[0], _Times())
    for question in QUESTIONS:
        _ask_product(assistant, question, ours)
        _ask_plainly(assistant, models[0], question, plain)
    if not ours.whole:
        raise EvaluationError(f"The corpus in {home} answers none of the questions. Index more papers.")
    rows = {"product": ours.figures(), "plain prompt": plain.figures()}
    figures = {
        "model": models[0].id,
        "questions": len(ours.whole),
        "times_as_quick_first_words": median(plain.first_words) / median(ours.first_words),
        "times_as_quick_whole": median(plain.whole) / median(ours.whole),
        **{f"{name}_{key}": value for name, row in rows.items() for key, value in row.items()},
    }
    columns = {key: key.replace("_", " ") for key in _Times.__slots__}
    return Report(figures, [figures_table("medians", rows, columns, 1)])


@command("latency")
def latency(home: Path | None = None, delay: float = 0.3, rounds: int = 4, model: str = "") -> Report:
    home = home or read_settings().home
    if model:
        return _compare_with_plain_prompt(home, model)
    model_times: list[float] = []
    settings = Settings(home=home, model_url="http://set.below")
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    waits = []
    with _serving(type("Handler", (_Handler,), {"seconds": delay, "times": model_times})) as url:
        settings = Settings(home=home, model_url=url)
        for question in QUESTIONS * rounds:
            model_times.clear()
            clock = time.perf_counter()
            # Like the Ask page, which opens a generator for each question.
            name = available_models(settings)[0].id
            generator = open_generator(name, settings, encoder, session="measured")
            moments: dict[type, float] = {}
            for event in Assistant(corpus, encoder, generator).ask(question, (), AskOptions()):
                # An empty text only announces that the model was called.
                if event != Written(""):
                    moments.setdefault(type(event), time.perf_counter() - clock)
            waits.append((moments, sum(model_times)))
    # Without the first question, which warms up, and refused ones, which have no first words.
    counted = [(moments, model_time) for moments, model_time in waits[1:] if Written in moments]
    if not counted:
        raise EvaluationError(f"The corpus in {home} answers none of the questions. Index more papers.")
    added = sorted((moments[Written] - model_time) * 1000 for moments, model_time in counted)
    figures = {
        "papers": corpus.count_papers(AskOptions().scope),
        "questions": len(counted),
        "model_ms": median(model_time for _, model_time in counted) * 1000,
        "first_words_ms": median(moments[Written] for moments, _ in counted) * 1000,
        "rewritten_ms": median(moments[Rewritten] for moments, _ in counted) * 1000,
        "retrieved_ms": median(moments[Retrieved] for moments, _ in counted) * 1000,
        "added_ms_p50": median(added),
        "added_ms_p95": added[int(0.95 * (len(added) - 1))],
    }
    return Report(figures, [plain_table(figures, 1)])
