"""The left drawer's list of what this browser has stored: opened, renamed, linked to, deleted, imported."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import streamlit as st

from assistant.records import AssistantError
from explorer.parts.safe_text import escaped, shortened

LISTED = 20
MOST_LISTED = 200
LARGEST_IMPORT_MB = 20
LONGEST_TITLE = 120

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored thing as it is listed; `note` follows its title, `facts` stand below it when it is open."""

    id: str
    title: str
    facts: str
    note: str = ""


class Opened(Protocol):
    """What a visitor has open, and how far they are in renaming, deleting and importing."""

    title: str
    notes: tuple[str, ...]
    opened: int
    wants_deletion: bool
    import_problem: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """All that is stored of one kind, for one visitor.

    `one` is what one of the kind is called, in the address too; `mark` tells its fields from other shelves'.
    `list`, `rename` and `delete` may raise AssistantError.
    """

    one: str
    mark: str
    now: Opened
    identifier: str
    is_new: bool
    begin_new: Callable[[], None]
    list: Callable[[], Sequence[Entry]]
    open: Callable[[str], None]
    rename: Callable[[str, str], None]
    delete: Callable[[], None]
    take_in: Callable[[bytes], None]
    nothing: str
    shared: str
    surely: str
    imported: str


def is_id(named: str) -> bool:
    """Tell whether something stored can have this id."""
    return bool(_ID.fullmatch(named))


def draw_shelf(shelf: Shelf) -> None:
    """Draw the left drawer: what is stored, the one last changed first."""
    with st.sidebar, st.container(key=f"{shelf.one}s", gap="xsmall"):
        st.subheader(f"{shelf.one.capitalize()}s", anchor=False)
        st.button(
            f"New {shelf.one}",
            icon=":material/add:",
            key=f"new_{shelf.one}",
            type="tertiary",
            disabled=shelf.is_new,
            on_click=shelf.begin_new,
        )
        try:
            listed = shelf.list()
        except AssistantError as error:
            st.caption(escaped(str(error)))
            return
        _draw_list(shelf, listed)
        _draw_import(shelf)


def _draw_list(shelf: Shelf, listed: Sequence[Entry]) -> None:
    if not listed:
        st.caption(shelf.nothing)
    shows_all = f"list_all{shelf.mark}"
    for entry in listed if st.session_state.get(shows_all) else listed[:LISTED]:
        if entry.id == shelf.identifier:
            _draw_current(shelf, entry)
        else:
            st.button(
                _label(entry),
                key=f"open_{entry.id}",
                type="tertiary",
                width="stretch",
                on_click=shelf.open,
                args=(entry.id,),
            )
    if len(listed) > LISTED:
        st.toggle(f"Show all {len(listed)}", key=shows_all, persist_state="session")


def _label(entry: Entry) -> str:
    return (escaped(shortened(entry.title, 70)) or "Without a title") + entry.note


def _draw_current(shelf: Shelf, entry: Entry) -> None:
    """Draw the one that is open, with what can be done with it."""
    with st.container(key=f"current_{shelf.one}", gap="xxsmall"):
        st.markdown(f"**{_label(entry)}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(entry.facts, width="content")
            with st.popover("More", type="tertiary", key=f"{shelf.one}_more"):
                _draw_rename(shelf)
                st.caption(shelf.shared)
                link = f"{_page_address()}?{shelf.one}={shelf.identifier}"
                st.code(link, language=None, wrap_lines=True)
                draw_deletion(shelf, "drawer")


def _page_address() -> str:
    return str(st.context.url or "").partition("?")[0]


def _draw_rename(shelf: Shelf) -> None:
    key = f"new{shelf.mark}_title_{shelf.now.opened}"
    with st.form(f"rename{shelf.mark}_form", border=False):
        st.text_input("Title", value=shelf.now.title, max_chars=LONGEST_TITLE, key=key)
        st.form_submit_button("Rename", key=f"rename{shelf.mark}", on_click=_rename, args=(shelf, key))


def _rename(shelf: Shelf, key: str) -> None:
    title = " ".join(str(st.session_state.get(key) or "").split())
    if not title:
        return
    try:
        shelf.rename(shelf.identifier, title)
    except AssistantError as error:
        shelf.now.notes = (str(error),)
        return
    shelf.now.title = title


def draw_deletion(shelf: Shelf, place: str) -> None:
    """Offer to delete the one that is open, and ask once: it cannot be had back."""
    if not shelf.now.wants_deletion:
        st.button(
            f"Delete this {shelf.one}",
            key=f"delete_{place}",
            type="tertiary",
            icon=":material/delete:",
            on_click=_want_deletion,
            args=(shelf, True),
        )
        return
    st.markdown(shelf.surely)
    with st.container(horizontal=True):
        st.button("Delete", key=f"delete_surely_{place}", type="primary", on_click=_delete, args=(shelf,))
        st.button("Keep", key=f"delete_not_{place}", on_click=_want_deletion, args=(shelf, False))


def _want_deletion(shelf: Shelf, wanted: bool) -> None:
    shelf.now.wants_deletion = wanted


def _delete(shelf: Shelf) -> None:
    try:
        shelf.delete()
    except AssistantError as error:
        shelf.now.notes, shelf.now.wants_deletion = (str(error),), False


def _draw_import(shelf: Shelf) -> None:
    with st.popover("Import", icon=":material/upload:", type="tertiary", key=f"import{shelf.mark}_menu"):
        st.caption(shelf.imported)
        # Another key is an empty field.
        key = f"import{shelf.mark}_{shelf.now.opened}"
        st.file_uploader(
            f"A {shelf.one} as JSON",
            type="json",
            key=key,
            max_upload_size=LARGEST_IMPORT_MB,
            label_visibility="collapsed",
            on_change=_take_in,
            args=(shelf, key),
        )
        if shelf.now.import_problem:
            st.caption(escaped(shelf.now.import_problem))


def _take_in(shelf: Shelf, key: str) -> None:
    if file := st.session_state.get(key):
        shelf.take_in(file.getvalue())


def text_of(data: bytes) -> str:
    """Return the text of a file that was chosen to be imported; raises AssistantError."""
    if len(data) > LARGEST_IMPORT_MB * 1024 * 1024:
        raise AssistantError(f"The file is larger than {LARGEST_IMPORT_MB} MB, the most that is read.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AssistantError("The file is not text. Choose one that was downloaded as JSON.") from error
