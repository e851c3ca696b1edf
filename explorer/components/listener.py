"""The page's script: it reports clicks on citations and the width, scrolls, and sets the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

from explorer.app.navigation import Screen
from explorer.app.session import field_value

NARROW_PIXELS = 640

# The script sends only an id, which Python checks, and a boolean.
_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")

_component = st.components.v2.component("paper_trail_listener", js=_SCRIPT)


@dataclass(frozen=True, slots=True)
class PageReport:
    """The page's report: the id of a clicked citation, and whether the page is narrow."""

    cite: object
    narrow: bool


@dataclass(frozen=True, slots=True)
class Address:
    """The address that a page is to have: its parameters, "" to remove one.

    With `is_new_entry` the browser's "back" returns to the address before. Nothing is changed if the reader
    has meanwhile left the screen.
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
) -> PageReport:
    """Mount the listener; `narrow` is assumed until it reports a change.

    `show` is the key of a container to scroll into view once, to the top or, without `to_top`, as little as
    needed. `place` names the content: after a reload its scroll position is restored. `hears` selects
    clicks on citations, the width, or both. Two listeners of one screen must hear different things: when
    both report at once and one is in a fragment, Streamlit drops the other's report.
    """
    reported = field_value(key)
    if isinstance(reported, Mapping) and isinstance(reported.get("narrow"), bool):
        # Sent back to the script, or it would not report a change back to the first width.
        narrow = reported["narrow"]
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
        return PageReport(clicked.get("id"), bool(clicked.get("narrow")))
    return PageReport(None, bool(measured) if measured is not None else narrow)


def _nothing() -> None:
    """Do nothing; Streamlit reports a value only if it has a callback."""
