"""The door to what Streamlit keeps of a visitor: nothing else reads or writes `st.session_state`.

The state is a frozen value that is replaced as a whole. The discipline:

- Read through the door each time: `visitor.now.turns`. A value that was taken out of it is a picture of that
  moment: it may be drawn, and is never put back.
- Write by a named transition: `visitor.update(VisitorSession.look_at, turn, number)`. It is applied to the
  state as it is at that moment, so that a callback, a fragment or a dialog that was drawn long before cannot
  bring back what has changed since.
- Hand the door on, to callbacks and fragments too, and not what was read through it.

The door itself is what Streamlit keeps. Writing into `st.session_state` is a moment at which Streamlit may
break a script off for the next one; replacing the value behind the door is not: what was begun and what is
known of it do not fall apart. One script of a session runs at a time, so no two transitions meet. Workers
do not come here: what they have done is taken out of their jobs when a screen is drawn. Keys of widgets are
fields: what is to outlive its widget is copied from one into the state.
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
from explorer.jobs.rate_limit import ADDRESS_HEADER, Caller

# In what all browsers on phones call themselves.
PHONE = "Mobi"

# For whom the thread draws a whole screen; it is found out anew for a callback and for a fragment alone.
_drawing = threading.local()

State = TypeVar("State")
Given = ParamSpec("Given")


class Current(Generic[State]):
    """The door to one frozen value of a visitor."""

    def __init__(self, value: State) -> None:
        self._value = value

    @property
    def now(self) -> State:
        return self._value

    def update(
        self,
        transition: Callable[Concatenate[State, Given], State],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> None:
        """Replace the value by what a transition makes of it, as it is now."""
        self._value = transition(self._value, *args, **kwargs)

    def updating(self, transition: Callable[Concatenate[State, Given], State]) -> Callable[Given, None]:
        """Return a callback that applies a transition to the current value."""

        def update(*args: Given.args, **kwargs: Given.kwargs) -> None:
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
    """Return the door to the visitor whose screen is being drawn."""
    return _current("visitor", _arrived)


def _arrived() -> VisitorSession:
    """Return somebody who has just come; a phone's screen is taken for narrow until it is measured.

    A screen that is measured to be another than it was taken for is drawn twice, and what is tapped in
    between can lose its address: Streamlit reports the width with the parameters of the page before.
    """
    return VisitorSession(narrow=PHONE in str(st.context.headers.get("User-Agent", "")))


def current_comparison() -> CurrentComparison:
    """Return the door to what that visitor compares."""
    return _current("comparison", ComparisonSession)


def _current(key: str, first: Callable[[], State]) -> Current[State]:
    if key not in st.session_state:
        st.session_state[key] = Current(first())
    return cast(Current[State], st.session_state[key])


def current_owner(visitor: Visitor) -> str:
    """Return whose conversations are listed: the person's who has signed in, else this browser's.

    A browser that takes no cookie has those of this visit.
    """
    return getattr(_drawing, "owner", "") or _found_owner(visitor)


def _found_owner(visitor: Visitor) -> str:
    token = owner_tokens().of(st.context.cookies, _speaks_https())
    return signed_in_owner() or owner_of(token) or visitor.now.stranger


def _speaks_https() -> bool:
    return st.context.headers.get(HTTPS_HEADER) == "1"


def has_left_behind() -> bool:
    """Return True if this browser, which now speaks HTTPS, stored something here over plain HTTP."""
    if signed_in_owner() or not _speaks_https():
        return False
    return owner_tokens().has_stored_over_http(st.context.cookies)


@contextmanager
def drawn_for(owner: str) -> Iterator[None]:
    """Take it as known whose conversations are listed, while a whole screen is drawn, which asks often."""
    _drawing.owner = owner
    try:
        yield
    finally:
        _drawing.owner = ""


def current_owners(visitor: Visitor) -> tuple[str, ...]:
    """Return all that is this visitor's: of theirs, and of this visit before they had a name."""
    return tuple(dict.fromkeys((current_owner(visitor), visitor.now.stranger)))


def current_caller(visitor: Visitor) -> Caller:
    """Return who asks, as limits count them."""
    address = st.context.headers.get(ADDRESS_HEADER, "")
    return Caller(current_owner(visitor), address if isinstance(address, str) else "")


def is_anothers(store: OwnedStore[Any], visitor: Visitor, identifier: str) -> bool:
    """Return True if something stored was begun by somebody else; what is not there is nobody's."""
    return store.owner_of(identifier) not in (None, *current_owners(visitor))


def check_own(store: OwnedStore[Any], visitor: Visitor, identifier: str) -> None:
    """Raise AssistantError where something stored is another's: it can be read and gone on with, no more."""
    if is_anothers(store, visitor, identifier):
        one = store.one or store.keeps.removesuffix("s")
        raise AssistantError(
            f"This {one} was begun in another browser: only there can it be changed or deleted."
        )
