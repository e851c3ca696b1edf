"""Download buttons, one for each format; the file is made on the click."""

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
    file_name: Callable[[Format[Exported]], str] = lambda form: form.file_name,
    icon: str | None = None,
) -> None:
    """Draw a button per format in the current container; `exported` is called when one is pressed."""
    for form in formats:
        st.download_button(
            form.label,
            data=partial(_write, form, exported),
            file_name=file_name(form),
            mime=form.mime,
            on_click="ignore",
            type="tertiary",
            icon=icon,
            key=f"{key}_{form.name}",
        )


def exporting(library: Library, visitor: Visitor, trail: Trail) -> Callable[[], Trail]:
    """Return a function that returns the trail with the visitor's notes."""
    owner = current_owner(visitor)

    def exported() -> Trail:
        try:
            return with_notes(library.reading(), owner, trail)
        except AssistantError as error:
            logger.warning("A trail is exported without notes: %s", error)
            return trail

    return exported


def _write(form: Format[Exported], exported: Callable[[], Exported]) -> str | bytes:
    return form.write(exported())
