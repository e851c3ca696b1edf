"""What screens are put together from: things in a row, and the buttons without a frame that stand in it."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def row(
    key: str,
    *,
    gap: Literal["small", "xsmall", "xxsmall"] = "small",
    align: Literal["top", "center", "bottom"] = "center",
    width: Literal["stretch", "content"] = "stretch",
) -> DeltaGenerator:
    """Return a place whose elements stand beside each other."""
    return st.container(horizontal=True, vertical_alignment=align, gap=gap, width=width, key=key)


def action(label: str, key: str, do: Callable[..., None], *args: object, **look: Any) -> None:
    """Draw a button without a frame that does something when it is clicked, before the screen is drawn."""
    st.button(label, key=key, on_click=do, args=args, type="tertiary", **look)
