"""The executor of a comparison's tasks, and the ledger of their calls.

What has been asked and answered once is not asked again: a comparison that is gone on with, or replayed,
runs from its beginning, and each piece of work takes its replies from the record as long as what it would
send is what was sent.
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
    """Calls by the piece of work they were made for; safe for several threads.

    `keep` is called with every new call as soon as it has ended, so that it can be stored. `answers` tells
    from the messages that were sent, and those that would be sent now, whether a recorded call is for them.
    """

    def __init__(
        self,
        recorded: Iterable[WorkCall] = (),
        keep: Callable[[WorkCall], None] | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.answers = answers or _began_with
        self._recorded: dict[str, list[WorkCall]] = defaultdict(list)
        for one in recorded:
            self._recorded[one.work].append(one)
        self._keep = keep
        self._used: list[WorkCall] = []
        self._new: list[WorkCall] = []
        self._found = 0
        self._budget: Budget | None = None
        self._lock = threading.Lock()

    def allow(self, budget: Budget) -> None:
        """Let this run cost as much as its budget, and no more."""
        self._budget = budget

    def check_budget(self) -> None:
        """Raise ComparisonError where the calls made in this run have used up its budget."""
        budget = self._budget
        with self._lock:
            usage, made = usage_of(one.call for one in self._new), len(self._new)
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
        """Take calls of an earlier comparison into this one's record."""
        with self._lock:
            self._used += calls

    def found(self, call: WorkCall) -> None:
        """Note that a call was in the record and is used again."""
        with self._lock:
            self._used.append(call)
            self._found += 1

    def add(self, call: WorkCall) -> None:
        """Note a call that has just been made."""
        with self._lock:
            self._used.append(call)
            self._new.append(call)
        if self._keep:
            self._keep(call)

    @property
    def calls(self) -> tuple[WorkCall, ...]:
        """The calls of this run, whether made or found, in the order in which they ended."""
        with self._lock:
            return tuple(self._used)

    @property
    def made(self) -> int:
        """The number of calls of this comparison so far, with those of earlier runs."""
        return sum(not one.reused for one in self.calls)

    @property
    def found_count(self) -> int:
        return self._found

    @property
    def usage(self) -> Usage:
        return usage_of(one.call for one in self.calls if not one.reused)


class StoppedError(AssistantError):
    """A piece of work was not begun, or not ended, because its comparison was stopped."""


class Task:
    """One piece of work, for which one or two calls are made."""

    def __init__(self, name: str, ledger: CallLedger, stopped: threading.Event | None = None) -> None:
        self.name = name
        self.stopped = stopped or threading.Event()
        self._ledger = ledger
        self._recorded = list(ledger.recorded(name))

    def recorded(self, messages: tuple[Message, ...]) -> tuple[Call, ...]:
        """Return the recorded calls that began by sending these messages, as if they had been made now.

        What was sent may have said more at the end of the system's part: the form of a typed reply.
        """
        if not self._recorded or not self._ledger.answers(self._recorded[0].call.messages, messages):
            return ()
        for one in self._recorded:
            self._ledger.found(one)
        return tuple(one.call for one in self._recorded)

    def add(self, call: Call) -> None:
        self._ledger.add(WorkCall(self.name, call))

    def check(self) -> None:
        """Raise ComparisonError where this run's budget is used up, StoppedError where it was stopped."""
        self.check_stopped()
        self._ledger.check_budget()

    def check_stopped(self) -> None:
        """Raise StoppedError where this run was stopped."""
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
    """Runs what is asked of models in several threads, and checks in a single one.

    For a `with` block; at its end what has not begun is dropped, and nobody waits for what is under way.
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
        """Have something checked; checks run one after the other, so what they share needs no lock."""
        return self._checking.submit(work)


def asked_or_tick(
    begin: Mapping[Key, Callable[[], Future[Result]]],
) -> Iterator[tuple[Key, Future[Result]] | None]:
    """Begin all these pieces of work, yield each when it has ended, and None every now and then.

    What the model was not there for is begun once more when all else has ended, and something of it well.
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
    """Yield each future when it has ended, and None every now and then while none has."""
    waiting = dict(futures)
    while waiting:
        done, _ = wait(waiting.values(), LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
        if not done:
            yield None
        for key in [key for key, future in waiting.items() if future in done]:
            yield key, waiting.pop(key)
