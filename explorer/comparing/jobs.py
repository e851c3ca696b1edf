"""Comparisons that run in worker threads, so that no click on a screen stops or delays one."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from assistant.comparing.algorithm import UnusableRoundError
from assistant.comparing.records import (
    Candidate,
    Compared,
    Comparison,
    ComparisonEvent,
    ComparisonRequest,
    Extracted,
    KeyElements,
    Planned,
    Round,
    RoundFinished,
    Sampled,
    Vote,
    Voted,
    Working,
)
from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.comparing.keeping import Keeper

logger = logging.getLogger(__name__)

WORKERS = 4
KEPT_SECONDS = 3600.0
MOST_WAITING = 16

# A comparison that is told to stop lets the calls that are under way end first, or breaks them off.
ComparisonState = Literal["waiting", "running", "stopping", "stopped", "failed", "finished"]


class TooManyComparisonsError(AssistantError):
    """No more comparisons can wait at the moment."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison as it stands at one moment.

    `candidates` and `votes` are those of the round going on; `problem` says what could not be stored.
    """

    request: ComparisonRequest
    state: ComparisonState = "waiting"
    seconds: float = 0.0
    planned: Planned | None = None
    elements: tuple[KeyElements, ...] = ()
    rounds: tuple[Round, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    votes: tuple[Vote, ...] = ()
    working: Working | None = None
    comparison: Comparison | None = None
    error: str = ""
    problem: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("stopped", "failed", "finished")

    @property
    def has_begun(self) -> bool:
        """Whether anything has been done that could be shown."""
        return bool(self.elements or self.rounds or self.candidates)


def after(view: ComparisonView, event: ComparisonEvent) -> ComparisonView:
    """Return how a comparison stands after an event."""
    changes: dict[str, Any] = {}
    match event:
        case Planned():
            changes = {"planned": event}
        case Extracted(elements):
            changes = {"elements": (*view.elements, elements)}
        case Sampled(_, candidate):
            changes = {"candidates": (*view.candidates, candidate)}
        case Voted(_, vote):
            changes = {"votes": (*view.votes, vote)}
        case RoundFinished(finished):
            changes = {"rounds": (*view.rounds, finished), "candidates": (), "votes": ()}
        case Working():
            changes = {"working": event}
        case Compared(comparison):
            changes = {"comparison": comparison}
    return replace(view, **changes)


@dataclass
class ComparisonJob:
    """One comparison on its way; written by its worker, read by screens.

    Its worker stores what is done before anyone is told of it: a reader who has closed the page finds it.
    """

    identifier: str
    request: ComparisonRequest
    keeper: Keeper
    starter: str = ""
    _view: ComparisonView = field(init=False)
    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._view = ComparisonView(self.request)

    def run(self, begin: Callable[[], Iterator[ComparisonEvent]]) -> None:
        """Take the events of a comparison until it is complete, fails or is stopped."""
        if not self._enter("running"):
            return
        try:
            with closing(begin()) as events:  # type: ignore[type-var]  # a generator: closing it cancels
                for event in events:
                    if self._stop.is_set() and not isinstance(event, Compared):
                        break
                    self._take(event)
        except (AssistantError, CorpusError) as error:
            if isinstance(error, UnusableRoundError):
                self.keeper.drop_round(error.round)
            self._fail(str(error))
        else:
            self._settle()

    def stop(self) -> None:
        """Have the comparison stop; it has stopped when its view says so."""
        self._stop.set()
        with self._lock:
            now: dict[ComparisonState, ComparisonState] = {"waiting": "stopped", "running": "stopping"}
            self._view = replace(self._view, state=now.get(self._view.state, self._view.state))

    def view(self) -> ComparisonView:
        with self._lock:
            taken = self._view.seconds if self._view.is_over else time.monotonic() - self.started
            return replace(self._view, seconds=taken, problem=self.keeper.problem)

    def notice_crash(self, future: "Future[None]") -> None:
        """Fail the job when its worker died of an error that nobody foresaw."""
        if not future.cancelled() and (error := future.exception()):
            reference = uuid.uuid4().hex[:8]
            logger.error("comparison failed, reference %s", reference, exc_info=error)
            self._fail(
                "Paper Trail itself failed on this comparison. What is done of it is kept; go on, and if it "
                f"happens again, look for {reference} in the log of the server."
            )

    def _take(self, event: ComparisonEvent) -> None:
        if isinstance(event, Compared):
            self.keeper.finish(event.comparison)
        with self._lock:
            self._view = after(self._view, event)

    def _enter(self, state: ComparisonState) -> bool:
        """Enter a state, unless the comparison is over or told to stop; return whether that was so."""
        with self._lock:
            if self._view.is_over or self._stop.is_set():
                return False
            self._view = replace(self._view, state=state)
            return True

    def _fail(self, message: str) -> None:
        self.keeper.fail(message)
        with self._lock:
            taken = time.monotonic() - self.started
            self._view = replace(self._view, state="failed", error=message, seconds=taken)

    def _settle(self) -> None:
        """Say that a comparison whose events have ended is finished, or else that it has stopped."""
        with self._lock:
            if not self._view.is_over:
                state: ComparisonState = "finished" if self._view.comparison else "stopped"
                taken = time.monotonic() - self.started
                self._view = replace(self._view, state=state, seconds=taken)


class ComparisonJobs:
    """All comparisons on their way, by their ids; one that is over is kept a while for who reconnects."""

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="comparison")
        self._jobs: dict[str, ComparisonJob] = {}
        self._lock = threading.Lock()

    def start(self, job: ComparisonJob, begin: Callable[[], Iterator[ComparisonEvent]]) -> None:
        """Have a worker take the events that `begin` returns; a comparison that runs already goes on."""
        with self._lock:
            self._drop_old()
            if job.identifier in self._running():
                return
            if len(self._running()) >= MOST_WAITING:
                raise TooManyComparisonsError(
                    "Too many comparisons run at the moment. What you chose is kept; try again in a minute."
                )
            self._jobs[job.identifier] = job
        self._workers.submit(job.run, begin).add_done_callback(job.notice_crash)

    def get(self, identifier: str) -> ComparisonJob | None:
        return self._jobs.get(identifier)

    def is_running(self, identifier: str) -> bool:
        with self._lock:
            return identifier in self._running()

    def _running(self) -> tuple[str, ...]:
        return tuple(key for key, job in self._jobs.items() if not job.view().is_over)

    def _drop_old(self) -> None:
        now = time.monotonic()
        running = self._running()
        self._jobs = {
            key: job for key, job in self._jobs.items() if key in running or now - job.started < KEPT_SECONDS
        }
