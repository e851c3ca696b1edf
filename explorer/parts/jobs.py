"""Questions being answered in worker threads, so that no click on a screen stops or delays one."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from assistant.chat import Assistant
from assistant.models.protocol import ModelError
from assistant.records import (
    Answered,
    AskOptions,
    AssistantError,
    Checking,
    Event,
    Retrieved,
    Rewrite,
    Rewritten,
    Step,
    StepTime,
    Turn,
    Written,
)
from corpus.errors import CorpusError
from corpus.records import PaperHits
from explorer.parts.allowance import TooSoonError
from explorer.parts.keeping import Kept

logger = logging.getLogger(__name__)

WORKERS = 4
KEPT_SECONDS = 900.0
MOST_WAITING = 32

JobState = Literal["waiting", "running", "answered", "failed", "stopped"]
Keep = Callable[[Turn], Kept]


class TooManyQuestionsError(AssistantError):
    """No more questions can wait at the moment."""


def may_succeed_again(error: AssistantError | CorpusError) -> bool:
    """Return whether the same question may be answered at another try; one refused at the door may not."""
    return isinstance(error, ModelError | TooManyQuestionsError | TooSoonError | CorpusError)


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as it stands at one moment; `text` is the draft so far, unchecked.

    `done` are the steps behind it with what each took, `step` is the one it is at, for `step_seconds`;
    `replaces` is the turn whose place its own is to take. `kept` says what of the conversation could not be
    stored when its turn was complete, `search_query` is the reader's own.
    """

    question: str
    state: JobState
    seconds: float
    rewrite: Rewrite | None = None
    papers: tuple[PaperHits, ...] | None = None
    text: str = ""
    turn: Turn | None = None
    error: str = ""
    can_retry: bool = True
    kept: Kept = field(default_factory=Kept)
    search_query: str = ""
    done: tuple[StepTime, ...] = ()
    step: Step = "rewrite"
    step_seconds: float = 0.0
    replaces: Turn | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("answered", "failed", "stopped")


@dataclass
class Job:
    """One question on its way to an answer; written by its worker, read by screens.

    Its worker stores the turn before anyone is told that there is one: a reader who has closed the page
    finds it.
    """

    question: str
    options: AskOptions = field(default_factory=AskOptions)
    conversation_id: str = ""
    keep: Keep = lambda _turn: Kept()
    asker: str = ""
    replaces: Turn | None = None
    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    # Held while a turn is stored, so that a question is either stopped or stored.
    _completing: threading.Lock = field(default_factory=threading.Lock)
    _state: JobState = "waiting"
    _rewrite: Rewrite | None = None
    _papers: tuple[PaperHits, ...] | None = None
    _pieces: list[str] = field(default_factory=list)
    _turn: Turn | None = None
    _error: str = ""
    _can_retry: bool = True
    _ended: float | None = None
    _kept: Kept = field(default_factory=Kept)
    _done: tuple[StepTime, ...] = ()
    _step: Step = "rewrite"
    _step_began: float = field(default_factory=time.monotonic)

    def run(self, events: Iterator[Event]) -> None:
        """Take the events of one question until it is answered, fails or is stopped."""
        self._enter("running")
        try:
            with closing(events):  # type: ignore[type-var]  # a generator: closing it stops the model
                for event in events:
                    if not self._take(event):
                        self._enter("stopped")
                        return
        except (AssistantError, CorpusError) as error:
            self._fail(str(error), can_retry=may_succeed_again(error))

    def stop(self) -> None:
        with self._completing:
            self._stop.set()
        if self.view().state == "waiting":
            self._enter("stopped")

    def view(self) -> JobView:
        with self._lock:
            return JobView(
                self.question,
                self._state,
                (self._ended or time.monotonic()) - self.started,
                self._rewrite,
                self._papers,
                "".join(self._pieces),
                self._turn,
                self._error,
                self._can_retry,
                self._kept,
                self.options.search_query,
                self._done,
                self._step,
                time.monotonic() - self._step_began,
                self.replaces,
            )

    def notice_crash(self, future: "Future[None]") -> None:
        """Fail the job when its worker died of an error that nobody foresaw."""
        if not future.cancelled() and (error := future.exception()):
            reference = uuid.uuid4().hex[:8]
            logger.error("question failed, reference %s", reference, exc_info=error)
            self._fail(
                "Paper Trail itself failed on this question. It is kept; try again, and if it happens again, "
                f"look for {reference} in the log of the server."
            )

    def _take(self, event: Event) -> bool:
        """Take an event, unless the question was stopped; return whether it was taken."""
        with self._completing:
            if self._stop.is_set():
                return False
            if isinstance(event, Answered):
                self._complete(event.turn)
            else:
                self._note(event)
            return True

    def _complete(self, turn: Turn) -> None:
        """Store a turn and show it; it is shown even if storing fails in a way that nobody foresaw."""
        kept = Kept((turn,), "This answer could not be stored. The log of the server says why.")
        try:
            kept = self.keep(turn)
        finally:
            with self._lock:
                self._turn, self._kept = turn, kept
                self._state, self._ended = "answered", time.monotonic()

    def _note(self, event: Event) -> None:
        with self._lock:
            match event:
                case Rewritten(rewrite):
                    self._rewrite = rewrite
                    self._go_on_to("retrieve")
                case Retrieved(papers):
                    self._papers = papers
                    self._go_on_to("write")
                case Written(text):
                    self._pieces.append(text)
                case Checking():
                    self._go_on_to("check")

    def _go_on_to(self, step: Step) -> None:
        now = time.monotonic()
        self._done = (*self._done, StepTime(self._step, now - self._step_began))
        self._step, self._step_began = step, now

    def _fail(self, message: str, *, can_retry: bool = True) -> None:
        with self._lock:
            self._error, self._can_retry = message, can_retry
        self._enter("failed")

    def _enter(self, state: JobState) -> None:
        with self._lock:
            if self._state not in ("stopped", "failed", "answered"):
                now = time.monotonic()
                self._state = state
                self._ended = None if state == "running" else now
                if state == "running":
                    self._step_began = now


class JobStore:
    """All questions being answered, by id; a finished one is kept a while for a visitor who reconnects."""

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="question")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, assistant: Assistant, history: tuple[Turn, ...], job: Job) -> str:
        """Start answering a job's question and return its id; raises TooManyQuestionsError."""
        identifier = uuid.uuid4().hex
        with self._lock:
            self._drop_old()
            if len([one for one in self._jobs.values() if not one.view().is_over]) >= MOST_WAITING:
                raise TooManyQuestionsError(
                    "Too many questions are being answered at the moment. Your question is kept; ask again "
                    "in a minute."
                )
            self._jobs[identifier] = job
        future = self._workers.submit(lambda: job.run(assistant.ask(job.question, history, job.options)))
        future.add_done_callback(job.notice_crash)
        return identifier

    def get(self, identifier: str) -> Job | None:
        return self._jobs.get(identifier)

    def under_way(self, conversation_id: str) -> str:
        """Return the id of the job that answers a question of a conversation now, "" when none does."""
        with self._lock:
            found = [
                key
                for key, job in self._jobs.items()
                if job.conversation_id == conversation_id and not job.view().is_over
            ]
        return found[-1] if found else ""

    def forget(self, conversation_id: str) -> None:
        """Stop the question of a conversation that is under way, and drop all that is left of its others."""
        with self._lock:
            jobs = {key: job for key, job in self._jobs.items() if job.conversation_id == conversation_id}
            self._jobs = {key: job for key, job in self._jobs.items() if key not in jobs}
        for job in jobs.values():
            job.stop()

    def _drop_old(self) -> None:
        now = time.monotonic()
        self._jobs = {key: job for key, job in self._jobs.items() if now - job.started < KEPT_SECONDS}
