"""The app while its model server and its database fail at random: every path of programs, and the screen."""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from assistant.storage.conversations import ConversationStore
from corpus.settings import Settings
from explorer.presenters.safe_text import escaped
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.demo_home import build_demo_home
from tests.postgres_server import PROGRAMS, PostgresServer, postgres_server
from tests.standin_chat import (
    KEY_CANARY,
    Behaviour,
    Received,
    StandinChat,
    cut_off,
    dropped,
    malformed,
    refusal,
    reply,
    silence,
)
from tests.torture.asking import seen
from tests.torture.counts import Counts
from tests.torture.killed_comparisons import PAPERS
from tests.torture.running_app import KEY, PENDING, RunningApp, running_app, with_model

QUESTION = "How does BM25 rank passages?"
TEXT = "BM25 ranks passages by weighted words [1]. Rankings are fused by their ranks [2]."
SECRETS = (KEY_CANARY, KEY, "secret@")
SECONDS_PER_COMPARISON = 120
# The shares of requests that find the model server failing, and the database stopped.
MODEL_FAILS, DATABASE_STOPS = 0.6, 0.1
FAULTS: tuple[Callable[[], Behaviour], ...] = (
    *(partial(refusal, status, f"no: {KEY_CANARY}") for status in (400, 401, 404, 413, 429, 500, 503)),
    dropped,
    lambda: cut_off(TEXT),
    lambda: cut_off(TEXT, "clean"),
    lambda: malformed(TEXT),
    lambda: malformed(TEXT, b"\xff\xfe\x00"),
    lambda: reply(""),
    lambda: reply("[1] " * 3000),
    lambda: reply(TEXT, status=502, content_type="text/html"),
    lambda: reply(TEXT, finish_reason="length"),
    lambda: silence(3.0),
)  # fmt: skip


def failing_servers(seed: int, requests: int, home: Path | None = None) -> Counts:
    """Ask the app of a home, by default the demonstration's, so often; with PostgreSQL where there is one."""
    drawn, counts = random.Random(seed), Counts("servers that fail")
    model = _Model(drawn)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        corpus = home or build_demo_home(folder)
        chat = stack.enter_context(StandinChat(default=model))
        settings = {**with_model(folder, chat.url), "PAPER_TRAIL_MODEL_API_KEY": KEY_CANARY}
        database = stack.enter_context(postgres_server()) if PROGRAMS else None
        if database:
            settings["PAPER_TRAIL_CONVERSATIONS"] = database.new_database()
        app = stack.enter_context(running_app(corpus, folder, **settings))
        trial = _Trial(app, database, drawn, counts)
        trial.torture(requests)
        model.is_well = True
        trial.ask_when_well()
        counts.look_for(SECRETS, app.log.read_text(), "the log")
    return counts


class _Model:
    """Fails as it is drawn, else writes what it is asked for."""

    def __init__(self, drawn: random.Random) -> None:
        self.drawn, self.is_well = random.Random(drawn.random()), False
        self.comparing = ComparingModel()

    def __call__(self, request: Received) -> Behaviour:
        if not self.is_well and self.drawn.random() < MODEL_FAILS:
            return self.drawn.choice(FAULTS)()
        system = request.body["messages"][0]["content"]
        is_comparing = "seven questions" in system or "Several drafts" in system
        return self.comparing(request) if is_comparing or "⟦references⟧" in str(request.body) else reply(TEXT)


class _Trial:
    def __init__(
        self, app: RunningApp, database: PostgresServer | None, drawn: random.Random, counts: Counts
    ) -> None:
        self.app, self.database, self.drawn, self.counts = app, database, drawn, counts
        self.kept: dict[str, list[str]] = {}

    def torture(self, requests: int) -> None:
        with self.app.api() as api:
            for number in range(requests):
                with ExitStack() as stack:
                    if self.database and self.drawn.random() < DATABASE_STOPS:
                        self.database.stop()
                        stack.callback(self.database.start)
                    self.ask_once(api, number)
                self.counts.tried += 1
            self.compare()

    def ask_when_well(self) -> None:
        """Look whether the app goes on as if nothing had been, once nothing fails any more."""
        with self.app.api() as api:
            told = api.post("/ask", json={"question": QUESTION, "writer": "standin"})
        if told.status_code != 200 or TEXT[:20] not in told.text:
            self.counts.note("unexplained", f"nothing fails any more: {told.status_code} {told.text[:200]}")

    def ask_once(self, api: httpx.Client, number: int) -> None:
        path, form = self.drawn.choice(list(self.requests(number)))
        told = api.get(path) if form is None else api.post(path, json=form)
        self.counts.look_for(SECRETS, told.text, path)
        if told.status_code == 200 and path == "/ask":
            self.take_answer(told.json(), str(form and form["question"]))
        elif told.status_code == 202:
            self.watch(api, told.json())
        elif told.status_code >= 400:
            self.take_error(path, told)

    def requests(self, number: int) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """Yield the requests to try: to models, to the corpus and to the database."""
        question = f"{QUESTION} ({number})"
        own = list(self.kept)
        for writer in ("standin", "standin", "extractive"):
            yield "/ask", {"question": question, "writer": writer, "conversation": ""}
            if own:
                form = {"question": question, "writer": writer, "conversation": self.drawn.choice(own)}
                yield "/ask", form
                yield f"/conversations/{self.drawn.choice(own)}/trail", None
        yield "/search", {"query": question}
        sizes = {"samples": 1, "votes": 1, "keep": 1}
        yield "/comparisons", {"papers": list(PAPERS[:2]), "about": question, "writer": "standin", **sizes}

    def take_answer(self, document: dict[str, Any], question: str) -> None:
        if document["conversation"]:
            self.kept.setdefault(document["conversation"], []).append(question)
        elif not document["problem"]:
            self.counts.note("lost", f"not kept, without a word: {question}")

    def take_error(self, path: str, told: httpx.Response) -> None:
        self.counts.told += 1
        if told.status_code == 500 or not str(told.json().get("message", "")).strip():
            self.counts.note("unexplained", f"{path}: {told.status_code} {told.text[:200]}")

    def watch(self, api: httpx.Client, begun: dict[str, Any]) -> None:
        """Wait for a comparison: it finishes, or says why not."""
        deadline = time.monotonic() + SECONDS_PER_COMPARISON
        while begun["state"] in PENDING:
            if time.monotonic() > deadline:
                self.counts.note("unexplained", "a comparison neither goes on nor ends")
                return
            time.sleep(0.1)
            told = api.get(f"/comparisons/{begun['id']}")
            self.counts.look_for(SECRETS, told.text, "a comparison")
            if told.status_code != 200:
                self.take_error("/comparisons", told)
                return
            begun = told.json()
        if begun["state"] == "finished":
            return
        self.counts.told += 1
        if not begun["message"].strip():
            self.counts.note("unexplained", f"a comparison is {begun['state']} without a word")

    def compare(self) -> None:
        """Look whether all that was told to be kept is, and the screen still shows it."""
        with closing(ConversationStore.open(Settings(conversations=self.app.database))) as store:
            for conversation, questions in self.kept.items():
                found = store.get(conversation)
                kept = [turn.question for turn in found.turns] if found else []
                for question in questions:
                    if kept.count(question) != 1:
                        self.counts.note("doubled" if question in kept else "lost", question)
        for conversation, questions in list(self.kept.items())[:3]:
            if escaped(questions[-1]) not in seen(self.app.address, conversation):
                self.counts.note("lost", f"the screen does not show {questions[-1]}")
