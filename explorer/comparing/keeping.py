"""A comparison put into the store while it runs. No Streamlit."""

import threading
from collections.abc import Callable
from typing import Protocol

from assistant.comparing.journal import Journal
from assistant.comparing.records import Comparison, WorkCall
from assistant.comparing.store import TakenUpError
from assistant.records import AssistantError

UNKEPT = "A reload would lose it: download the trail when it is finished."


class Store(Protocol):
    """What of the store of comparisons is needed while one runs; every method raises AssistantError."""

    def calls(self, identifier: str, /) -> tuple[WorkCall, ...]: ...

    def take(self, identifier: str, /) -> str: ...

    def add_call(self, identifier: str, call: WorkCall, run: str, /) -> None: ...

    def finish(self, identifier: str, comparison: Comparison, run: str, /) -> None: ...

    def fail(self, identifier: str, message: str, run: str, /) -> None: ...

    def drop_round(self, identifier: str, number: int, run: str, /) -> None: ...


class Keeper:
    """Stores the calls of one comparison as they end, and the comparison when it is complete.

    What cannot be stored is said in `problem`, and the comparison goes on. Without a store they are kept in
    memory, so that a comparison that was stopped can go on.
    """

    def __init__(self, identifier: str, store: Store | None = None, problem: str = "") -> None:
        self.problem = problem
        self._identifier = identifier
        self._store = store
        self._run = ""
        self._unstored: list[WorkCall] = []
        self._lock = threading.Lock()

    def journal(self) -> Journal:
        """Take up the comparison and return the record of what was done before; raises AssistantError."""
        self._tell(self._take)
        stored = self._store.calls(self._identifier) if self._store else ()
        with self._lock:
            return Journal((*stored, *self._unstored), self._keep)

    def _take(self, store: Store) -> None:
        self._run = store.take(self._identifier)

    def finish(self, comparison: Comparison) -> None:
        self._tell(lambda store: store.finish(self._identifier, comparison, self._run))

    def fail(self, message: str) -> None:
        self._tell(lambda store: store.fail(self._identifier, message, self._run))

    def drop_round(self, number: int) -> None:
        """Forget the calls of the last round, which came to nothing: going on makes them anew."""
        self._tell(lambda store: store.drop_round(self._identifier, number, self._run))
        with self._lock:
            self._unstored = [one for one in self._unstored if not one.work.startswith(f"round {number} ")]

    def _tell(self, what: Callable[[Store], None]) -> None:
        if self._store:
            try:
                what(self._store)
            except AssistantError as error:
                self._note(error)

    def _keep(self, call: WorkCall) -> None:
        # After a failure nothing more is tried: a full disk would be asked by every one of a hundred calls.
        if self._store and not self.problem:
            try:
                self._store.add_call(self._identifier, call, self._run)
                return
            except TakenUpError:
                raise
            except AssistantError as error:
                self._note(error)
        with self._lock:
            self._unstored.append(call)

    def _note(self, error: AssistantError) -> None:
        with self._lock:
            self.problem = self.problem or f"{error} {UNKEPT}"
