"""The record of calls that a comparison makes: what has been asked and answered once is not asked again.

A comparison that is gone on with, or replayed, runs from its beginning; each piece of work takes its replies
from the record as long as what it would send is what was sent.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable

from assistant.comparing.records import Budget, ComparisonError, WorkCall
from assistant.records import AssistantError, Call, Message, Usage, usage_of


class Journal:
    """Calls by the piece of work they were made for; safe for several threads.

    `keep` is told of every new call as soon as it has ended, so that it can be stored.
    """

    def __init__(
        self, recorded: Iterable[WorkCall] = (), keep: Callable[[WorkCall], None] | None = None
    ) -> None:
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
            f"The comparison has used its budget: {budget.most_calls:,} calls, {budget.tokens:,} tokens. "
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
        """How many calls this comparison has by now, those of runs before among them."""
        return sum(not one.reused for one in self.calls)

    @property
    def found_count(self) -> int:
        return self._found

    @property
    def usage(self) -> Usage:
        return usage_of(one.call for one in self.calls if not one.reused)


class StoppedError(AssistantError):
    """A piece of work was not begun, because its comparison was stopped."""


class Work:
    """One piece of work, for which one or two calls are made."""

    def __init__(self, name: str, journal: Journal, stopped: threading.Event | None = None) -> None:
        self.name = name
        self.stopped = stopped or threading.Event()
        self._journal = journal
        self._recorded = list(journal.recorded(name))

    def recorded(self, messages: tuple[Message, ...]) -> tuple[Call, ...]:
        """Return the recorded calls that began by sending these messages, as if they had been made now.

        What was sent may have said more at the end of the system's part: the form of a typed reply.
        """
        if not self._recorded or not _began_with(self._recorded[0].call.messages, messages):
            return ()
        for one in self._recorded:
            self._journal.found(one)
        return tuple(one.call for one in self._recorded)

    def add(self, call: Call) -> None:
        self._journal.add(WorkCall(self.name, call))

    def check(self) -> None:
        """Raise ComparisonError where this run's budget is used up, StoppedError where it was stopped."""
        if self.stopped.is_set():
            raise StoppedError(f"The comparison was stopped before {self.name}.")
        self._journal.check_budget()


def _began_with(sent: tuple[Message, ...], messages: tuple[Message, ...]) -> bool:
    if len(sent) < len(messages):
        return False
    return all(
        was == now or (now.role == "system" == was.role and was.content.startswith(now.content))
        for was, now in zip(sent, messages, strict=False)
    )
