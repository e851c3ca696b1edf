"""The downloads of something: a button for each format, which makes its file when it is asked for."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from assistant.exports import Exported, Format


def draw_downloads(
    formats: Iterable[Format[Exported]],
    exported: Callable[[], Exported],
    key: str,
    file_name: Callable[[Format[Exported]], str] = lambda one: one.file_name,
    icon: str | None = None,
) -> None:
    """Draw the buttons in whatever holds them; `exported` is called when one is pressed."""
    for one in formats:
        st.download_button(
            one.label,
            data=partial(_written, one, exported),
            file_name=file_name(one),
            mime=one.mime,
            on_click="ignore",
            type="tertiary",
            icon=icon,
            key=f"{key}_{one.name}",
        )


def _written(one: Format[Exported], exported: Callable[[], Exported]) -> str:
    return one.write(exported())
