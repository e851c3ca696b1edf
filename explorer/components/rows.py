"""Building blocks of screens: rows, frameless buttons, menus and folds.

The content of a menu or a fold is drawn only once it has been opened: menus are seldom opened, and drawing
them at every rerun would take most of the time of a conversation's screen. Opening one reruns the fragment or
screen it is in. Once opened, its content stays drawn, so that text typed into it survives a click elsewhere.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app.session import has_field, set_field


def row(
    key: str,
    *,
    gap: Literal["large", "medium", "small", "xsmall", "xxsmall"] = "small",
    align: Literal["top", "center", "bottom"] = "center",
    width: Literal["stretch", "content"] = "stretch",
) -> DeltaGenerator:
    """Return a container that puts its elements side by side."""
    return st.container(horizontal=True, vertical_alignment=align, gap=gap, width=width, key=key)


def action(label: str, key: str, do: Callable[..., None], *args: object, **look: Any) -> None:
    """Draw a frameless button; a click calls `do(*args)` before the screen reruns."""
    st.button(label, key=key, on_click=do, args=args, type="tertiary", **look)


@contextmanager
def menu(label: str, key: str, icon: str | None = None) -> Iterator[bool]:
    """Open a menu; yields True if its content is to be drawn."""
    with st.popover(label, type="tertiary", icon=icon, key=key, on_change="rerun") as opened:
        yield _is_drawn(key, is_open=bool(opened.open))


@contextmanager
def fold(title: str, key: str) -> Iterator[bool]:
    """Open a fold; yields True if its content is to be drawn."""
    with st.expander(title, type="compact", key=key, on_change="rerun") as opened:
        yield _is_drawn(key, is_open=bool(opened.open))


def _is_drawn(key: str, *, is_open: bool) -> bool:
    was_opened = f"{key}_opened"
    if is_open and not has_field(was_opened):
        set_field(was_opened, True)
    return is_open or has_field(was_opened)
