"""Questions being answered in worker threads, so that no click on a screen stops or delays one."""

import logging
import threading
import time
import uuid
from collections.abc import Iterator
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
    Event,
    Retrieved,
    Rewrite,
    Rewritten,
    Turn,
    Written,
)
from corpus.errors import CorpusError
from corpus.records import PaperHits

logger = logging.getLogger(__name__)

WORKERS = 4
KEPT_SECONDS = 900.0
MOST_WAITING = 32

JobState = Literal["waiting", "running", "answered", "failed", "stopped"]


class TooManyQuestionsError(AssistantError):
    """No more questions can wait at the moment."""


def may_succeed_again(error: AssistantError | CorpusError) -> bool:
    """Return whether the same question may be answered at another try; one refused at the door may not."""
    return isinstance(error, ModelError | TooManyQuestionsError | CorpusError)


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as it stands at one moment; `text` is the draft so far, unchecked."""

    question: str
    state: JobState
    seconds: float
    rewrite: Rewrite | None = None
    papers: tuple[PaperHits, ...] | None = None
    text: str = ""
    turn: Turn | None = None
    error: str = ""
    can_retry: bool = True

    @property
    def is_over(self) -> bool:
        return self.state in ("answered", "failed", "stopped")


@dataclass
class Job:
    """One question on its way to an answer; written by its worker, read by screens."""

    question: str
    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _state: JobState = "waiting"
    _rewrite: Rewrite | None = None
    _papers: tuple[PaperHits, ...] | None = None
    _pieces: list[str] = field(default_factory=list)
    _turn: Turn | None = None
    _error: str = ""
    _can_retry: bool = True
    _ended: float | None = None

    def run(self, events: Iterator[Event]) -> None:
        """Take the events of one question until it is answered, fails or is stopped."""
        self._enter("running")
        try:
            with closing(events):  # type: ignore[type-var]  # a generator: closing it stops the model
                for event in events:
                    if self._stop.is_set():
                        self._enter("stopped")
                        return
                    self._take(event)
        except (AssistantError, CorpusError) as error:
            self._fail(str(error), can_retry=may_succeed_again(error))

    def stop(self) -> None:
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

    def _take(self, event: Event) -> None:
        with self._lock:
            match event:
                case Rewritten(rewrite):
                    self._rewrite = rewrite
                case Retrieved(papers):
                    self._papers = papers
                case Written(text):
                    self._pieces.append(text)
                case Answered(turn):
                    self._turn, self._state, self._ended = turn, "answered", time.monotonic()

    def _fail(self, message: str, *, can_retry: bool = True) -> None:
        with self._lock:
            self._error, self._can_retry = message, can_retry
        self._enter("failed")

    def _enter(self, state: JobState) -> None:
        with self._lock:
            if self._state not in ("stopped", "failed", "answered"):
                self._state = state
                self._ended = None if state == "running" else time.monotonic()


class JobStore:
    """All questions being answered, by id; a finished one is kept a while for a visitor who reconnects."""

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="question")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(
        self, assistant: Assistant, question: str, history: tuple[Turn, ...], options: AskOptions
    ) -> str:
        """Start answering a question and return the job's id; raises TooManyQuestionsError."""
        job = Job(question)
        identifier = uuid.uuid4().hex
        with self._lock:
            self._drop_old()
            if len([one for one in self._jobs.values() if not one.view().is_over]) >= MOST_WAITING:
                raise TooManyQuestionsError(
                    "Too many questions are being answered at the moment. Your question is kept; ask again "
                    "in a minute."
                )
            self._jobs[identifier] = job
        future = self._workers.submit(lambda: job.run(assistant.ask(question, history, options)))
        future.add_done_callback(job.notice_crash)
        return identifier

    def get(self, identifier: str) -> Job | None:
        return self._jobs.get(identifier)

    def _drop_old(self) -> None:
        now = time.monotonic()
        self._jobs = {key: job for key, job in self._jobs.items() if now - job.started < KEPT_SECONDS}
