"""The state of a visitor's session; only this module reads and writes `st.session_state`.

The state is a frozen value, held by a `Current` and replaced as a whole:

- Read it each time: `visitor.now.turns`. A value that was read earlier may be drawn, never written back.
- Write by a named transition: `visitor.update(VisitorSession.look_at, turn, number)`. It is applied to the
  current state, so that a callback, fragment or dialog that was drawn long ago cannot undo later changes.
- Pass the `Current` to callbacks and fragments, not values read from it.

Streamlit stores the `Current` itself. It may interrupt a script at a write to `st.session_state`, but not at
an update of the `Current`, so work that was begun and the state that records it stay consistent. A session
runs one script at a time, so no two transitions overlap. Worker threads do not use this module: screens take
results from their jobs. A widget's value that must outlive the widget is copied into the state.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

import streamlit as st

from assistant.records import AssistantError
from assistant.storage.owned import OwnedStore
from explorer.app.login import signed_in_owner
from explorer.app.owner import HTTPS_HEADER, owner_of
from explorer.app.resources import owner_tokens
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.app.visitor.stored_item import StoredItem
from explorer.jobs.rate_limit import ADDRESS_HEADER, Caller
from explorer.jobs.runner import Job

# Part of the user agent of every browser on a phone.
PHONE = "Mobi"

# The owner for whom this thread draws a whole screen; callbacks and lone fragments look it up.
_drawing = threading.local()

State = TypeVar("State")
Params = ParamSpec("Params")


class Current(Generic[State]):
    """Holds one frozen value of a visitor's session."""

    def __init__(self, value: State) -> None:
        self._value = value

    @property
    def now(self) -> State:
        return self._value

    def update(
        self,
        transition: Callable[Concatenate[State, Params], State],
        *args: Params.args,
        **kwargs: Params.kwargs,
    ) -> None:
        """Replace the value by the result of a transition of the current value."""
        self._value = transition(self._value, *args, **kwargs)

    def updating(self, transition: Callable[Concatenate[State, Params], State]) -> Callable[Params, None]:
        """Return a callback that applies a transition to the current value."""

        def update(*args: Params.args, **kwargs: Params.kwargs) -> None:
            self.update(transition, *args, **kwargs)

        return update


Visitor = Current[VisitorSession]
CurrentComparison = Current[ComparisonSession]


def field_value(key: str, default: Any = None) -> Any:
    """Return the value of a widget or field by its key."""
    return st.session_state.get(key, default)


def has_field(key: str) -> bool:
    return key in st.session_state


def set_field(key: str, value: object) -> None:
    st.session_state[key] = value


def forget_field(key: str) -> None:
    st.session_state.pop(key, None)


def current_visitor() -> Visitor:
    """Return the session of the visitor whose screen is being drawn.

    A phone's screen is assumed to be narrow until it is measured: a wrong guess draws the screen twice, and a
    tap in between can lose its address, as Streamlit reports the width with the previous page's parameters.
    """
    narrow = PHONE in str(st.context.headers.get("User-Agent", ""))
    return _current("visitor", lambda: VisitorSession(narrow=narrow))


def current_comparison() -> CurrentComparison:
    """Return the comparison of the visitor whose screen is being drawn."""
    return _current("comparison", ComparisonSession)


def _current(key: str, first: Callable[[], State]) -> Current[State]:
    if key not in st.session_state:
        st.session_state[key] = Current(first())
    return cast(Current[State], st.session_state[key])


def current_owner(visitor: Visitor) -> str:
    """Return the visitor's owner id: the signed-in person, else the browser, without a cookie this visit."""
    if owner := getattr(_drawing, "owner", ""):
        return str(owner)
    token = owner_tokens().of(st.context.cookies, _uses_https())
    return signed_in_owner() or owner_of(token) or visitor.now.stranger


def _uses_https() -> bool:
    return st.context.headers.get(HTTPS_HEADER) == "1"


def has_items_from_http() -> bool:
    """Return True if this browser, which now uses HTTPS, stored something here over plain HTTP."""
    if signed_in_owner() or not _uses_https():
        return False
    return owner_tokens().has_stored_over_http(st.context.cookies)


class FailureNote:
    """Shows an AssistantError of its block as a problem with notes, instead of raising it."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, AssistantError):
            self._visitor.update(VisitorSession.fail_to_keep, str(error))
        return isinstance(error, AssistantError)


@contextmanager
def drawing_for(owner: str) -> Iterator[None]:
    """Fix `current_owner` while a whole screen is drawn, which asks for it often."""
    _drawing.owner = owner
    try:
        yield
    finally:
        _drawing.owner = ""


def current_owners(visitor: Visitor) -> tuple[str, ...]:
    """Return the visitor's owner ids: the current one, and that of this visit before it had a cookie."""
    return tuple(dict.fromkeys((current_owner(visitor), visitor.now.stranger)))


def current_caller(visitor: Visitor) -> Caller:
    """Return the visitor as rate limits count them."""
    address = st.context.headers.get(ADDRESS_HEADER, "")
    return Caller(current_owner(visitor), address if isinstance(address, str) else "")


def is_anothers(store: OwnedStore[Any], visitor: Visitor, identifier: str) -> bool:
    """Return True if a stored item exists and was begun by another owner."""
    return store.owner_of(identifier) not in (None, *current_owners(visitor))


def check_own(store: OwnedStore[Any], visitor: Visitor, identifier: str) -> None:
    """Raise AssistantError if a stored item is another owner's, which can only be read and continued."""
    if is_anothers(store, visitor, identifier):
        noun = store.singular or store.keeps.removesuffix("s")
        raise AssistantError(
            f"This {noun} was begun in another browser: only there can it be changed or deleted."
        )


def may_stop(visitor: Visitor, item: StoredItem, job: Job[Any, Any]) -> bool:
    """Return True if the item is the visitor's own, or its job was started by them."""
    return not item.is_anothers or job.starter == current_owner(visitor)


def rename_stored(
    opened: Callable[[], OwnedStore[Any]], visitor: Visitor, identifier: str, title: str
) -> None:
    """Rename a stored item; raises AssistantError if it is another visitor's."""
    check_own(opened(), visitor, identifier)
    opened().rename(identifier, title)


def delete_stored(
    store: OwnedStore[Any] | None, visitor: Visitor, identifier: str, job: Job[Any, Any] | None
) -> None:
    """Stop the job of an item and delete it from its store; raises AssistantError if it is another visitor's.

    Without a store, the item is not stored.
    """
    if store:
        check_own(store, visitor, identifier)
    if job:
        job.stop()
    if store:
        store.delete(identifier)
