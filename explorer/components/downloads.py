"""The downloads of something: a button for each format, which makes its file when it is asked for."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import streamlit as st

from assistant.comparing.records import Comparison
from assistant.exports.registry import Exported, Format
from assistant.records import AssistantError, Conversation
from assistant.storage.reading import with_notes
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner

Trail = TypeVar("Trail", Conversation, Comparison)

logger = logging.getLogger(__name__)


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


def exporting(library: Library, visitor: Visitor, trail: Trail) -> Callable[[], Trail]:
    """Return a function that adds the exporting visitor's notes to a trail."""
    owner = current_owner(visitor)

    def exported() -> Trail:
        try:
            return with_notes(library.reading(), owner, trail)
        except AssistantError as error:
            logger.warning("A trail is exported without notes: %s", error)
            return trail

    return exported


def _written(one: Format[Exported], exported: Callable[[], Exported]) -> str | bytes:
    return one.write(exported())
