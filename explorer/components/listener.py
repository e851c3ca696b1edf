"""The script that knows the page: it hears clicks on citations, measures the screen, shows what is meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

from explorer.app.navigation import Screen
from explorer.app.session import field_value

NARROW_PIXELS = 640

# Only data leaves the page's script: an id that Python checks, and a truth value.
_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")

_component = st.components.v2.component("paper_trail_listener", js=_SCRIPT)


@dataclass(frozen=True, slots=True)
class Heard:
    """The page's report: the id of a clicked citation, and whether the page is narrow."""

    cite: object
    narrow: bool


@dataclass(frozen=True, slots=True)
class Address:
    """The address a page should have: its parameters, "" for one to be removed.

    Where it `is_new_entry`, "back" leads to the address before. Where the reader has gone on to another page
    before the script came, that one's address stays as it is.
    """

    screen: Screen
    parameters: Mapping[str, str]
    is_new_entry: bool = True


def listen(
    key: str,
    *,
    narrow: bool,
    show: str = "",
    to_top: bool = True,
    place: str = "",
    address: Address | None = None,
    hears: tuple[Literal["clicks", "width"], ...] = ("width",),
) -> Heard:
    """Mount the listener; `narrow` is what is believed before it reports anything: only a change is reported.

    `show` is the key of a container that is scrolled into view, once: to the top, or else only as far as it
    takes to see it. `place` names what is read: after a reload it is scrolled to where it was. It `hears`
    clicks on citations, the width, or both; of two on a screen each hears one: of what two report at once,
    one of them in a fragment, Streamlit loses what is not that fragment's.
    """
    told = field_value(key)
    if isinstance(told, Mapping) and isinstance(told.get("narrow"), bool):
        # It has to learn that it was heard: the way back would be no change to it.
        narrow = told["narrow"]
    result = _component(
        key=key,
        data={
            "narrowPixels": NARROW_PIXELS,
            "narrow": narrow,
            "show": show,
            "block": "start" if to_top else "nearest",
            "place": place,
            "page": address.screen.path if address else "",
            "address": dict(address.parameters) if address else {},
            "isNewEntry": bool(address and address.is_new_entry),
            "hears": list(hears),
        },
        on_cite_change=_nothing,
        on_narrow_change=_nothing,
    )
    clicked = result.get("cite")
    measured = result.get("narrow")
    if isinstance(clicked, dict):
        return Heard(clicked.get("id"), bool(clicked.get("narrow")))
    return Heard(None, bool(measured) if measured is not None else narrow)


def _nothing() -> None:
    """Make Streamlit report a value: it does so only for values with a callback."""
