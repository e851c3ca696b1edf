"""The executor of a comparison's tasks, and the ledger of their calls.

A comparison that is continued or replayed runs from the beginning; each task takes its replies from the
ledger as long as its prompt is the recorded one.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

from assistant.comparing.records import Budget, ComparisonError, WorkCall
from assistant.models.protocol import ModelUnavailableError
from assistant.records import AssistantError, Call, Message, Usage, usage_of

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)

Answers = Callable[[tuple[Message, ...], tuple[Message, ...]], bool]

AT_ONCE = 16
LOOK_AGAIN_SECONDS = 0.2


class CallLedger:
    """The calls of a comparison by task; safe for several threads.

    `keep` is called with every new call as soon as it has ended. `answers` compares the recorded messages
    (first) with the current ones and returns whether the recorded call can be used.
    """

    def __init__(
        self,
        recorded: Iterable[WorkCall] = (),
        keep: Callable[[WorkCall], None] | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.answers = answers or _began_with
        self._recorded: dict[str, list[WorkCall]] = defaultdict(list)
        for entry in recorded:
            self._recorded[entry.work].append(entry)
        self._keep = keep
        self._used: list[WorkCall] = []
        self._new: list[WorkCall] = []
        self._found = 0
        self._budget: Budget | None = None
        self._lock = threading.Lock()

    def allow(self, budget: Budget) -> None:
        """Limit this run to a budget."""
        self._budget = budget

    def check_budget(self) -> None:
        """Raise ComparisonError if the calls made in this run have used up its budget."""
        budget = self._budget
        with self._lock:
            usage, made = usage_of(entry.call for entry in self._new), len(self._new)
        if budget is None or not budget.is_used_up(made, usage):
            return
        raise ComparisonError(
            f"The comparison has used its budget: {made:,} of {budget.most_calls:,} calls,"
            f" {(usage.prompt_tokens or 0) + (usage.completion_tokens or 0):,} of {budget.tokens:,} tokens. "
            "To go on with it allows as much again; fewer samples and votes take less."
        )

    def recorded(self, work: str) -> tuple[WorkCall, ...]:
        return tuple(self._recorded.get(work, ()))

    def reuse(self, calls: Iterable[WorkCall]) -> None:
        """Add calls of an earlier comparison."""
        with self._lock:
            self._used += calls

    def found(self, call: WorkCall) -> None:
        """Add a recorded call that is used again."""
        with self._lock:
            self._used.append(call)
            self._found += 1

    def add(self, call: WorkCall) -> None:
        """Add a new call."""
        with self._lock:
            self._used.append(call)
            self._new.append(call)
        if self._keep:
            self._keep(call)

    @property
    def calls(self) -> tuple[WorkCall, ...]:
        """The calls of this run, new or recorded, in the order in which they ended."""
        with self._lock:
            return tuple(self._used)

    @property
    def made(self) -> int:
        """The number of calls of this comparison so far, including earlier runs."""
        return sum(not entry.reused for entry in self.calls)

    @property
    def found_count(self) -> int:
        return self._found

    @property
    def usage(self) -> Usage:
        return usage_of(entry.call for entry in self.calls if not entry.reused)


class StoppedError(AssistantError):
    """A task did not begin or end because its comparison was stopped."""


class Task:
    """A task of a comparison, which makes one or two calls."""

    def __init__(self, name: str, ledger: CallLedger, stopped: threading.Event | None = None) -> None:
        self.name = name
        self.stopped = stopped or threading.Event()
        self._ledger = ledger
        self._recorded = list(ledger.recorded(name))

    def recorded(self, messages: tuple[Message, ...]) -> tuple[Call, ...]:
        """Return the recorded calls whose prompt starts with `messages`.

        The recorded system message may go on with the form of a typed reply.
        """
        if not self._recorded or not self._ledger.answers(self._recorded[0].call.messages, messages):
            return ()
        for entry in self._recorded:
            self._ledger.found(entry)
        return tuple(entry.call for entry in self._recorded)

    def add(self, call: Call) -> None:
        self._ledger.add(WorkCall(self.name, call))

    def check(self) -> None:
        """Raise ComparisonError if this run's budget is used up, StoppedError if it was stopped."""
        self.check_stopped()
        self._ledger.check_budget()

    def check_stopped(self) -> None:
        """Raise StoppedError if this run was stopped."""
        if self.stopped.is_set():
            raise StoppedError(f"The comparison was stopped before {self.name} had ended.")


def _began_with(sent: tuple[Message, ...], messages: tuple[Message, ...]) -> bool:
    if len(sent) < len(messages):
        return False
    return all(
        was == now or (now.role == "system" == was.role and was.content.startswith(now.content))
        for was, now in zip(sent, messages, strict=False)
    )


class Executor:
    """Runs model calls in several threads, and checks in a single one.

    A context manager: on exit, pending work is cancelled, and running work is not waited for.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.stopped = threading.Event()
        self._asking = ThreadPoolExecutor(at_once, thread_name_prefix="compare")
        self._checking = ThreadPoolExecutor(1, thread_name_prefix="compare-check")

    def __enter__(self) -> "Executor":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self.stopped.set()
        for pool in (self._asking, self._checking):
            pool.shutdown(wait=False, cancel_futures=True)

    def ask(self, work: Callable[[], Result]) -> Future[Result]:
        return self._asking.submit(work)

    def check(self, work: Callable[[], Result]) -> Future[Result]:
        """Submit a check; checks run one after another, so that they need no locks."""
        return self._checking.submit(work)


def asked_or_tick(
    begin: Mapping[Key, Callable[[], Future[Result]]],
) -> Iterator[tuple[Key, Future[Result]] | None]:
    """Start all tasks, yield each with its future when it has ended, and None at intervals while waiting.

    Tasks for which the model was unavailable are started once more at the end if any other succeeded.
    """
    lost: dict[Key, Future[Result]] = {}
    is_there = False
    for ended in completed_or_tick({key: start() for key, start in begin.items()}):
        if ended and isinstance(ended[1].exception(), ModelUnavailableError):
            lost[ended[0]] = ended[1]
            continue
        is_there = is_there or (ended is not None and ended[1].exception() is None)
        yield ended
    if is_there:
        lost = {key: begin[key]() for key in lost}
    yield from completed_or_tick(lost)


def completed_or_tick(futures: Mapping[Key, Future[Result]]) -> Iterator[tuple[Key, Future[Result]] | None]:
    """Yield each future when it has ended, and None at intervals while waiting."""
    waiting = dict(futures)
    while waiting:
        done, _ = wait(waiting.values(), LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
        if not done:
            yield None
        for key in [key for key, future in waiting.items() if future in done]:
            yield key, waiting.pop(key)
