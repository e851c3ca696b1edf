"""Building blocks of screens: things in a row, frameless buttons, menus and folds.

Nothing in a menu or a fold is drawn before it is opened: a screen is drawn anew at every step and they are
opened seldom, and what is in them would be most of what a conversation takes to draw. Opening one draws anew
what it stands in: a fragment, where that is much less than the screen. Once opened it stays drawn, so that
what was typed into it is still there after a click beside it.
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
    """Return a place whose elements stand beside each other."""
    return st.container(horizontal=True, vertical_alignment=align, gap=gap, width=width, key=key)


def action(label: str, key: str, do: Callable[..., None], *args: object, **look: Any) -> None:
    """Draw a button without a frame that does something when it is clicked, before the screen is drawn."""
    st.button(label, key=key, on_click=do, args=args, type="tertiary", **look)


@contextmanager
def menu(label: str, key: str, icon: str | None = None) -> Iterator[bool]:
    """Open a menu to draw in; its content is to be drawn where True is given."""
    with st.popover(label, type="tertiary", icon=icon, key=key, on_change="rerun") as opened:
        yield _is_drawn(key, is_open=bool(opened.open))


@contextmanager
def fold(title: str, key: str) -> Iterator[bool]:
    """Open a fold to draw in; its content is to be drawn where True is given."""
    with st.expander(title, type="compact", key=key, on_change="rerun") as opened:
        yield _is_drawn(key, is_open=bool(opened.open))


def _is_drawn(key: str, *, is_open: bool) -> bool:
    was_opened = f"{key}_opened"
    if is_open and not has_field(was_opened):
        set_field(was_opened, True)
    return is_open or has_field(was_opened)
