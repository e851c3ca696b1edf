"""The app killed under questions: of programs, each in a conversation of its own, and of a visitor."""

import random
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from assistant.storage.conversations import ConversationStore
from corpus.settings import Settings
from explorer.ask.runs import LEFT
from explorer.presenters.safe_text import escaped
from tests.demo_home import build_demo_home
from tests.standin_chat import Behaviour, Received, StandinChat, reply
from tests.torture.asking import asked, seen
from tests.torture.counts import Counts
from tests.torture.running_app import RunningApp, running_app, with_model

PROGRAMS = 3
# Within that time several questions of each have been answered, after all was loaded for the first.
LONGEST_WAIT = 15.0
SUBJECTS = ("How does BM25 rank passages?", "What is late interaction?", "How are rankings fused?")


def killed_app(seed: int, kills: int, home: Path | None = None) -> Counts:
    """Kill the app of a home, by default the demonstration's, under questions."""
    counts, drawn = Counts("app killed under questions"), random.Random(seed)
    with tempfile.TemporaryDirectory() as name, StandinChat(default=_write) as model:
        folder = Path(name)
        corpus = home or build_demo_home(folder)
        with running_app(corpus, folder, **with_model(folder, model.url)) as app:
            under_way = _Killed(app, counts)
            for _ in range(kills):
                under_way.kill_once(drawn)
    return counts


def _write(request: Received) -> Behaviour:
    """Write slowly enough to be killed at it."""
    text = "BM25 ranks passages by weighted words [1]. Rankings are fused by their ranks [2]."
    return reply(text, wait_between=0.02)


@dataclass
class _Program:
    """Asks in a conversation of its own; `answers` are those it was given, by question."""

    number: int
    conversation: str = ""
    asked: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)


@dataclass
class _Killed:
    app: RunningApp
    counts: Counts
    over: threading.Event = field(default_factory=threading.Event)
    programs: list[_Program] = field(default_factory=lambda: [_Program(number) for number in range(PROGRAMS)])

    def kill_once(self, drawn: random.Random) -> None:
        question = f"{SUBJECTS[0]} (visit {self.counts.tried})"
        self.over.clear()
        with ThreadPoolExecutor(PROGRAMS + 1) as threads:
            programs = [threads.submit(self.ask_on, program) for program in self.programs]
            visit = threads.submit(asked, self.app.address, question)
            time.sleep(drawn.uniform(0.0, LONGEST_WAIT))
            self.app.kill()
            self.over.set()
        self.counts.tried += 1
        self.app.start()
        for done, program in zip(programs, self.programs, strict=True):
            done.result()
            self.compare(program)
        if conversation := visit.result():
            self.look(conversation, question)

    def ask_on(self, program: _Program) -> None:
        """Ask until the app is gone."""
        with self.app.api() as api:
            while not self.over.is_set():
                number = len(program.asked)
                question = f"{SUBJECTS[number % len(SUBJECTS)]} ({program.number}-{number})"
                program.asked.append(question)
                form = {"question": question, "conversation": program.conversation}
                if number % 2:
                    form["writer"] = "standin"
                try:
                    told = api.post("/ask", json=form)
                except httpx.TransportError:
                    self.counts.told += 1
                    return
                if told.status_code != 200:
                    self.counts.note("unexplained", f"{told.status_code}: {told.text[:200]}")
                    return
                document = told.json()
                program.conversation = document["conversation"]
                program.answers[question] = document["answer"]["answer"]["text"]

    def compare(self, program: _Program) -> None:
        """Look whether every answer that was given is kept once, as it was given, and nothing else is."""
        if not program.conversation:
            return
        with closing(ConversationStore.open(Settings(conversations=self.app.database))) as store:
            stored = store.read(program.conversation)
        for fault in stored.faults if stored else ():
            self.counts.note("corrupted", fault)
        turns = stored.conversation.turns if stored else ()
        kept = [turn.question for turn in turns]
        texts = {turn.question: turn.answer.text for turn in turns}
        for question, text in program.answers.items():
            if question not in kept:
                self.counts.note("lost", question)
            elif texts[question] != text:
                self.counts.note("corrupted", question)
        for question in set(kept):
            if kept.count(question) > 1 or question not in program.asked:
                self.counts.note("doubled", question)

    def look(self, conversation: str, question: str) -> None:
        """Look whether the visitor's question was answered, or is told to be unanswered."""
        with closing(ConversationStore.open(Settings(conversations=self.app.database))) as store:
            stored = store.get(conversation)
        if stored and any(turn.question == question for turn in stored.turns):
            return
        self.counts.told += 1
        if escaped(LEFT) not in seen(self.app.address, conversation):
            self.counts.note("lost", f"without a word: {question}")
