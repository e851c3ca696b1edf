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
    """Return the models that are not offered because spending is limited and their prices are not known."""
    entries = available_models(settings) if SpendingLimits.of(settings) else ()
    return tuple(entry for entry in entries if not can_be_counted(entry))


def check_counted(writer: str, settings: Settings) -> None:
    """Raise AssistantError for a model whose cost cannot be counted though spending is limited."""
    for entry in uncounted_models(settings):
        if entry.id == writer:
            raise AssistantError(
                f"What {entry.label} costs is not known here, and what may be spent on models is limited. "
                "Choose another writer."
            )


def is_limited(writer: str, settings: Settings) -> bool:
    """Return True if what a writer costs counts to a limit."""
    entry = model_of(writer, settings)
    return bool(entry and is_paid(entry) and SpendingLimits.of(settings))


class SpendingAccount:
    """Counts what a question or a comparison (`what`) costs its visitor; without a store it costs nothing."""

    def __init__(self, owner: str, what: str, store: SpendingStore | None = None) -> None:
        self._owner = owner
        self._what = what
        self._store = store
        self._reservation = ""

    @property
    def on_cost(self) -> OnCost | None:
        """The callback for the cost of each call, None where none costs anything."""
        return self._spend if self._store else None

    def check(self, dollars: float) -> None:
        """Raise SpendingError where so much does not fit in what the visitor may spend this month."""
        if self._store:
            self._store.check(self._owner, dollars, self._what)

    def paying(self, dollars: float, begin: Callable[[], Iterator[Event]]) -> Generator[Event, None, None]:
        """Yield the events of work for which so much is set aside until it ends; raises SpendingError."""
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
