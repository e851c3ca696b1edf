"""Comparisons as jobs, whose calls are stored as they are made."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from assistant.comparing.algorithm import UnusableRoundError
from assistant.comparing.ledger import CallLedger
from assistant.comparing.progress import ComparisonProgress
from assistant.comparing.records import Compared, Comparison, ComparisonEvent, ComparisonRequest, WorkCall
from assistant.records import AssistantError
from assistant.storage.comparisons import ComparisonStore, TakenUpError
from corpus.errors import CorpusError
from explorer.jobs.runner import Job, JobRunner, JobView, Share

UNKEPT = "A reload would lose it: download the trail when it is finished."


class ComparisonKeeper:
    """Stores the calls of one comparison as they are made, and the comparison when it is complete.

    If storing fails, `problem` gives the reason followed by the advice `unkept`, and the comparison goes on.
    Without a store the calls are held in memory, so that a stopped comparison can be resumed. `by` are the
    owner ids of the visitor who runs it, empty for its owner.
    """

    def __init__(
        self,
        identifier: str,
        store: ComparisonStore | None = None,
        problem: str = "",
        by: tuple[str, ...] = (),
        unkept: str = UNKEPT,
    ) -> None:
        self.problem, self._unkept = problem, unkept
        self._identifier = identifier
        self._store = store
        self._by = by
        self._run = ""
        self._unstored: list[WorkCall] = []
        self._lock = threading.Lock()

    def ledger(self) -> CallLedger:
        """Claim the comparison in the store and return the ledger of earlier calls; raises AssistantError."""
        if self._store:
            try:
                self._run = self._store.take(self._identifier)
            except AssistantError as error:
                self._note(error)
        return CallLedger(self.recorded(), self._keep)

    def recorded(self) -> tuple[WorkCall, ...]:
        """Return the calls made in earlier runs; raises AssistantError."""
        stored = self._store.calls(self._identifier) if self._store else ()
        with self._lock:
            return (*stored, *self._unstored)

    def finish(self, comparison: Comparison) -> None:
        self._try(lambda store: store.finish(self._identifier, comparison, self._run, self._by))

    def fail(self, message: str) -> None:
        self._try(lambda store: store.fail(self._identifier, message, self._run))

    def drop_round(self, number: int) -> None:
        """Delete the calls of a failed round, so that resuming makes them again."""
        self._try(lambda store: store.drop_round(self._identifier, number, self._run))
        with self._lock:
            self._unstored = [call for call in self._unstored if call.round != number]

    def _try(self, write: Callable[[ComparisonStore], None]) -> None:
        if self._store:
            try:
                write(self._store)
            except AssistantError as error:
                self._note(error)

    def _keep(self, call: WorkCall) -> None:
        # Not tried again after a failure: a comparison makes a hundred calls, and a disk stays full.
        if self._store and not self.problem:
            try:
                self._store.add_call(self._identifier, call, self._run, self._by)
                return
            except TakenUpError:
                raise
            except AssistantError as error:
                self._note(error)
        with self._lock:
            self._unstored.append(call)

    def _note(self, error: AssistantError) -> None:
        with self._lock:
            self.problem = self.problem or f"{error} {self._unkept}"


@dataclass(frozen=True, kw_only=True)
class ComparisonView(ComparisonProgress, JobView):
    """The state and progress of a comparison at one moment; `problem` is the reason why it is not stored."""

    request: ComparisonRequest
    problem: str = ""

    @property
    def is_complete(self) -> bool:
        return self.comparison is not None


class ComparisonJob(Job[ComparisonView, ComparisonEvent]):
    """One comparison as a job under its own id; a visitor who closed the page finds it in the store."""

    kind = "comparison"
    crash_message = (
        "Paper Trail itself failed on this comparison. What is done of it is kept; go on, and if it "
        "happens again, look for {reference} in the log of the server."
    )

    def __init__(
        self, identifier: str, request: ComparisonRequest, keeper: ComparisonKeeper, starter: str = ""
    ) -> None:
        self.keeper = keeper
        super().__init__(ComparisonView(request=request), identifier, starter, identifier=identifier)

    def view(self) -> ComparisonView:
        return replace(super().view(), problem=self.keeper.problem)

    def take(self, view: ComparisonView, event: ComparisonEvent) -> ComparisonView:
        if isinstance(event, Compared):
            self.keeper.finish(event.comparison)
        return view.after(event)

    def outlives_stop(self, event: ComparisonEvent) -> bool:
        return isinstance(event, Compared)

    def fail(self, view: ComparisonView, error: AssistantError | CorpusError) -> ComparisonView:
        if isinstance(error, UnusableRoundError):
            self.keeper.drop_round(error.round)
        self.keeper.fail(str(error))
        return super().fail(view, error)


def comparison_runner(**limits: Any) -> JobRunner[ComparisonJob]:
    """Return the runner of comparisons."""
    full = "Too many comparisons run at the moment. What you chose is kept; try again in a minute."
    share = Share(running=2, under_way=8)
    usual: dict[str, Any] = {"most_waiting": 16, "kept_seconds": 3600.0, "share": share}
    return JobRunner("comparison", full, **usual | limits)
