"""Long work as jobs in worker threads, which screens watch and stop."""

import hashlib
import logging
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, Literal, TypeVar
from weakref import WeakSet

from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.observing.events import WorkOver
from explorer.observing.observer import observe

logger = logging.getLogger(__name__)

# A stopping job finishes or cancels its current step first.
JobState = Literal["waiting", "running", "stopping", "stopped", "failed", "finished"]


class TooManyJobsError(AssistantError):
    """The queue of a kind of jobs is full."""


class ShareTakenError(TooManyJobsError):
    """A starter has as many running and waiting jobs as allowed."""


class StoppingError(TooManyJobsError):
    """This process is stopping and starts no more jobs."""


# `stopping` is set when this process is told to stop: no job starts, running ones get some time. `is_ending`
# is set when that time is over.
stopping, is_ending = threading.Event(), threading.Event()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView(ABC):
    """The state of a job at one moment; `waited` of its `seconds` were spent in the queue."""

    state: JobState = "waiting"
    seconds: float = 0.0
    waited: float = 0.0
    error: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("stopped", "failed", "finished")

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Return True if the job has its result."""


View = TypeVar("View", bound=JobView)
Event = TypeVar("Event")


class Job(ABC, Generic[View, Event]):
    """Work that yields events, each of which changes a view that its worker writes and screens read.

    `subject` is the stored item that it belongs to; a conversation can have several running questions.
    `on_over` is called once when the job is over, whatever its outcome.
    """

    # The message for an unforeseen error; the reference is in the log.
    crash_message: ClassVar[str]
    kind: ClassVar[str]

    def __init__(
        self,
        view: View,
        subject: str = "",
        starter: str = "",
        *,
        identifier: str = "",
        on_over: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identifier = identifier or uuid.uuid4().hex
        self.subject, self.starter = subject, starter
        self.ended: float | None = None
        self._on_over = on_over
        self._view, self._clock, self._started = view, clock, clock()
        self._stop = threading.Event()
        # Held while an event is taken and stored, so that a job is either stopped or complete, not both.
        self._lock = threading.Lock()

    @abstractmethod
    def take(self, view: View, event: Event) -> View:
        """Return the view of a job after an event; results are stored before they are in the view."""

    def over_event(self, view: View) -> WorkOver:
        """Return the observed event of a finished job, without its question and answer."""
        outcome: Any = "answered" if view.state == "finished" else view.state
        # Hashed: whoever has the id of a comparison may read it.
        name = hashlib.sha256(self.identifier.encode()).hexdigest()[:12]
        return WorkOver(self.kind, name, outcome, view.seconds, view.waited)

    def outlives_stop(self, event: Event) -> bool:  # noqa: ARG002
        """Return True if an event is taken even after the job was asked to stop."""
        return False

    def fail(self, view: View, error: AssistantError | CorpusError) -> View:
        """Return the view of a failed job."""
        return replace(view, error=str(error))

    def run(self, begin: Callable[[], Iterator[Event]]) -> None:
        """Take the events of `begin()` until the job is complete, fails or is stopped."""
        if not self._begin():
            return
        try:
            with closing(begin()) as events:  # type: ignore[type-var]  # a generator: closing it cancels
                for event in events:
                    if not self._take(event):
                        break
        except (AssistantError, CorpusError) as error:
            self._fail(error)
        else:
            self._end("stopped")

    def stop(self) -> None:
        """Ask the job to stop; it has stopped once its view is over."""
        self._stop.set()
        with self._lock:
            if self._view.state == "running":
                self._view = replace(self._view, state="stopping")
        if self._view.state == "waiting":
            self._end("stopped")

    def release_waiters(self) -> None:
        """Release those who wait for the job outside of a screen: the process ends before it."""

    def view(self) -> View:
        return self._timed(self._view)

    def record_crash(self, future: "Future[None]") -> None:
        """Fail the job if its worker raised an unexpected error, which is logged with a reference."""
        if not future.cancelled() and (error := future.exception()):
            reference = uuid.uuid4().hex[:8]
            logger.error("job failed, reference %s", reference, exc_info=error)
            self._fail(AssistantError(self.crash_message.format(reference=reference)))

    def _timed(self, view: View) -> View:
        now = self._clock() if self.ended is None else self.ended
        return replace(view, seconds=now - self._started)

    def _begin(self) -> bool:
        with self._lock:
            if self._view.is_over or self._stop.is_set():
                return False
            self._view = replace(self._view, state="running", waited=self._clock() - self._started)
            return True

    def _take(self, event: Event) -> bool:
        """Take an event unless the job was asked to stop; return True if it was taken."""
        with self._lock:
            if self._stop.is_set() and not self.outlives_stop(event):
                return False
            view = self.take(self._timed(self._view), event)
            if view.is_complete:
                self.ended, view = self._clock(), replace(view, state="finished")
            self._view = view
        if view.is_over:
            self._notify_over()
        return True

    def _fail(self, error: AssistantError | CorpusError) -> None:
        with self._lock:
            if not self._view.is_over:
                self._view = self.fail(self._view, error)
        self._end("failed")

    def _end(self, state: JobState) -> None:
        with self._lock:
            if self._view.is_over:
                return
            self.ended = self._clock()
            self._view = replace(self._view, state=state)
        self._notify_over()

    def _notify_over(self) -> None:
        observe(self.over_event(self.view()))
        self._on_over()


SomeJob = TypeVar("SomeJob", bound=Job[Any, Any])
_STOPPING = "This server is being stopped or updated. Your question is kept; ask it again in a moment."
# The runners of this process, which ends when all their jobs are over.
_runners: "WeakSet[JobRunner[Any]]" = WeakSet()


@dataclass(frozen=True, slots=True)
class Share:
    """The most jobs of one starter that may run, and that may run or wait; unknown starters have no limit."""

    running: int
    under_way: int


class JobRunner(Generic[SomeJob]):
    """Runs the jobs of a kind; a job that is over stays `kept_seconds` for a visitor who reconnects.

    `full` is the message for a job beyond `most_waiting` or beyond its starter's `share`. The next job of the
    queue is that of the starter with the fewest running. `server` is a new id after each restart.
    """

    def __init__(  # its limits, by name
        self,
        name: str,
        full: str,
        *,
        workers: int = 4,
        most_waiting: int = 32,
        kept_seconds: float = 900.0,
        share: Share | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = uuid.uuid4().hex
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._free, self._share = workers, share
        self._queue: list[tuple[SomeJob, Callable[[], Iterator[Any]]]] = []
        self._running: Counter[str] = Counter()  # by starter
        self._full, self._most_waiting, self._kept_seconds = full, most_waiting, kept_seconds
        self._clock = clock
        self._jobs: dict[str, SomeJob] = {}
        self._lock = threading.Lock()
        _runners.add(self)

    def start(self, job: SomeJob, begin: Callable[[], Iterator[Any]]) -> str:
        """Queue a job that takes the events of `begin`, unless it already runs, and return its id.

        Raises TooManyJobsError.
        """
        if stopping.is_set():
            raise StoppingError(_STOPPING)
        with self._lock:
            oldest = self._clock() - self._kept_seconds
            self._jobs = {
                key: job for key, job in self._jobs.items() if job.ended is None or job.ended > oldest
            }
            running = {key: known for key, known in self._jobs.items() if not known.view().is_over}
            if job.identifier in running:
                return job.identifier
            own = sum(active.starter == job.starter for active in running.values())
            if self._share and job.starter and own >= self._share.under_way:
                raise ShareTakenError(self._full)
            if len(running) >= self._most_waiting:
                raise TooManyJobsError(self._full)
            self._jobs[job.identifier] = job
            self._queue.append((job, begin))
        self._submit()
        return job.identifier

    def _submit(self) -> None:
        """Give the queued jobs to free workers, within each starter's share."""
        submitted = []
        with self._lock:
            self._queue = [waiting for waiting in self._queue if not waiting[0].view().is_over]
            while self._free and (ready := [waiting for waiting in self._queue if self._may_run(waiting[0])]):
                chosen = min(ready, key=lambda waiting: self._running[waiting[0].starter])
                self._queue.remove(chosen)
                self._free -= 1
                self._running[chosen[0].starter] += 1
                submitted.append((chosen[0], self._workers.submit(chosen[0].run, chosen[1])))
        # Outside the lock: the callbacks of a future that is already done run here.
        for job, future in submitted:
            future.add_done_callback(job.record_crash)
            future.add_done_callback(partial(self._free_worker, job.starter))

    def _may_run(self, job: SomeJob) -> bool:
        return not (self._share and job.starter) or self._running[job.starter] < self._share.running

    def _free_worker(self, starter: str, _future: "Future[None]") -> None:
        with self._lock:
            self._free += 1
            self._running -= Counter((starter,))
        self._submit()

    def get(self, identifier: str) -> SomeJob | None:
        return self._jobs.get(identifier)

    def under_way(self, subject: str) -> str:
        """Return the id of the latest job of a subject that is not over, "" for none."""
        with self._lock:
            active = [key for key, job in self._of(subject).items() if not job.view().is_over]
        return active[-1] if active else ""

    def forget(self, subject: str) -> None:
        """Stop and drop all jobs of a subject."""
        with self._lock:
            jobs = self._of(subject)
            self._jobs = {key: job for key, job in self._jobs.items() if key not in jobs}
        for job in jobs.values():
            job.stop()

    def all_under_way(self) -> list[SomeJob]:
        """Return the running and waiting jobs."""
        with self._lock:
            return [job for job in self._jobs.values() if not job.view().is_over]

    def _of(self, subject: str) -> dict[str, SomeJob]:
        return {key: job for key, job in self._jobs.items() if job.subject == subject}


def jobs_under_way() -> list[Job[Any, Any]]:
    """Return the running and waiting jobs of this process."""
    return [job for runner in tuple(_runners) for job in runner.all_under_way()]
