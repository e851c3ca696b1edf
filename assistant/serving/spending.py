"""The cost of questions and comparisons: reserved before they begin, counted call by call."""

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

from assistant.models.menu import ModelEntry, available_models
from assistant.models.metered import OnCost, can_be_counted, is_paid
from assistant.records import AssistantError
from assistant.storage.spending import SpendingLimits, SpendingStore
from corpus.settings import Settings

Event = TypeVar("Event")


def model_of(writer: str, settings: Settings) -> ModelEntry | None:
    """Return the model that a writer asks, None for a writer without one."""
    return next((entry for entry in available_models(settings) if entry.id == writer), None)


def uncounted_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """Return the models of unknown cost, which are not offered if spending is limited."""
    entries = available_models(settings) if SpendingLimits.of(settings) else ()
    return tuple(entry for entry in entries if not can_be_counted(entry))


def check_counted(writer: str, settings: Settings) -> None:
    """Raise AssistantError for a model of unknown cost if spending is limited."""
    for entry in uncounted_models(settings):
        if entry.id == writer:
            raise AssistantError(
                f"What {entry.label} costs is not known here, and what may be spent on models is limited. "
                "Choose another writer."
            )


def is_limited(writer: str, settings: Settings) -> bool:
    """Return True if the cost of a writer counts towards a limit."""
    entry = model_of(writer, settings)
    return bool(entry and is_paid(entry) and SpendingLimits.of(settings))


class SpendingAccount:
    """Records the cost of a question or a comparison (`what`) for a visitor; does nothing without a store."""

    def __init__(self, owner: str, what: str, store: SpendingStore | None = None) -> None:
        self._owner = owner
        self._what = what
        self._store = store
        self._reservation = ""

    @property
    def on_cost(self) -> OnCost | None:
        """The callback for the cost of each call, None if calls cost nothing."""
        return self._spend if self._store else None

    def check(self, dollars: float) -> None:
        """Raise SpendingError if the cost exceeds what the visitor may still spend this month."""
        if self._store:
            self._store.check(self._owner, dollars, self._what)

    def paying(self, dollars: float, begin: Callable[[], Iterator[Event]]) -> Generator[Event, None, None]:
        """Yield the events of work with its greatest cost reserved until it ends; raises SpendingError."""
        if self._store is None:
            yield from begin()
            return
        self._reservation = self._store.reserve(self._owner, dollars, self._what)
        try:
            yield from begin()
        finally:
            self._store.release(self._reservation)

    def _spend(self, dollars: float) -> None:
        if self._store:
            self._store.spend(self._owner, dollars, self._reservation)
