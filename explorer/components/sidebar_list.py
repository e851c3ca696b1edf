"""The sidebar's list of stored conversations or comparisons: open, rename, link, delete, import."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from assistant.records import AssistantError
from explorer.app.imports import LARGEST_IMPORT_MB
from explorer.app.session import Current, field_value, has_items_from_http
from explorer.app.upload_guard import admitted, current_session
from explorer.app.visitor.stored_item import StoredItem
from explorer.components.rows import menu
from explorer.presenters.safe_text import escaped, shortened

LISTED = 20
MOST_LISTED = 200
LONGEST_TITLE = 120
LEFT_BEHIND = (
    "What this browser stored before this site used HTTPS is not listed: nothing proves that it is yours. "
    "The address of a conversation or a comparison still opens it."
)

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored item of the list; `note` follows its title, `facts` are below it while it is open."""

    id: str
    title: str
    facts: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class SidebarList:
    """A visitor's stored items of one kind, and the texts and functions to list and change them.

    `noun` names the kind, also in the address; `mark` is part of the widget keys; `item` is the open
    StoredItem. `list`, `rename` and `delete` may raise AssistantError. With `imports` files can be imported.
    """

    noun: str
    mark: str
    item: Current[Any]
    identifier: str
    is_new: bool
    begin_new: Callable[[], None]
    list: Callable[[], Sequence[Entry]]
    open: Callable[[str], None]
    rename: Callable[[str, str], None]
    delete: Callable[[], None]
    import_file: Callable[[bytes], None]
    empty_note: str
    link_note: str
    confirmation: str
    import_note: str
    imports: bool


def is_id(text: str) -> bool:
    """Return True if `text` has the form of a stored item's id."""
    return bool(_ID.fullmatch(text))


def draw_sidebar_list(shown: SidebarList) -> None:
    """Draw the sidebar: a new item, the stored items in the order of `list`, and the import."""
    with st.sidebar, st.container(key=f"{shown.noun}s", gap="xsmall"):
        st.header(f"{shown.noun.capitalize()}s", anchor=False)
        st.button(
            f"New {shown.noun}",
            icon=":material/add:",
            key=f"new_{shown.noun}",
            type="tertiary",
            disabled=shown.is_new,
            on_click=shown.begin_new,
        )
        try:
            listed = shown.list()
        except AssistantError as error:
            st.caption(escaped(str(error)))
            return
        _draw_list(shown, listed)
        if shown.imports:
            with menu("Import", f"import{shown.mark}_menu", ":material/upload:") as is_drawn:
                if is_drawn:
                    _draw_import_field(shown)


def _draw_list(shown: SidebarList, listed: Sequence[Entry]) -> None:
    if not listed:
        st.caption(shown.empty_note)
        if has_items_from_http():
            st.caption(LEFT_BEHIND)
    shows_all = f"list_all{shown.mark}"
    for entry in listed if field_value(shows_all) else listed[:LISTED]:
        if entry.id == shown.identifier:
            _draw_current(shown, entry)
        else:
            st.button(
                _label(entry),
                key=f"open_{entry.id}",
                type="tertiary",
                width="stretch",
                on_click=shown.open,
                args=(entry.id,),
            )
    if len(listed) > LISTED:
        st.toggle(f"Show all {len(listed)}", key=shows_all, persist_state="session")


def _label(entry: Entry) -> str:
    return (escaped(shortened(entry.title, 70)) or "Without a title") + entry.note


def _draw_current(shown: SidebarList, entry: Entry) -> None:
    """Draw the open item, with a menu to rename, link to or delete it."""
    with st.container(key=f"current_{shown.noun}", gap="xxsmall"):
        st.markdown(f"**{_label(entry)}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(entry.facts, width="content")
            with menu("More", f"{shown.noun}_more") as is_drawn:
                if not is_drawn:
                    return
                key = f"new{shown.mark}_title_{shown.item.now.opened}"
                with st.form(f"rename{shown.mark}_form", border=False):
                    st.text_input("Title", value=shown.item.now.title, max_chars=LONGEST_TITLE, key=key)
                    args = (shown, key)
                    st.form_submit_button("Rename", key=f"rename{shown.mark}", on_click=_rename, args=args)
                st.caption(shown.link_note)
                st.code(f"{page_address()}?{shown.noun}={shown.identifier}", language=None, wrap_lines=True)
                draw_deletion(shown, "drawer")


def page_address() -> str:
    """Return the address of the page that is being drawn, without its query."""
    return str(st.context.url or "").partition("?")[0]


def _rename(shown: SidebarList, key: str) -> None:
    title = " ".join(str(field_value(key) or "").split())
    if not title:
        return
    try:
        shown.rename(shown.identifier, title)
    except AssistantError as error:
        shown.item.update(StoredItem.note, str(error))
        return
    shown.item.update(StoredItem.rename, title)


def draw_deletion(shown: SidebarList, place: str) -> None:
    """Draw the button that deletes the open item, with a confirmation."""
    want = shown.item.updating(StoredItem.confirm_deletion)
    if not shown.item.now.confirms_deletion:
        st.button(
            f"Delete this {shown.noun}",
            key=f"delete_{place}",
            type="tertiary",
            icon=":material/delete:",
            on_click=want,
            kwargs={"wanted": True},
        )
        return
    st.markdown(shown.confirmation)
    with st.container(horizontal=True):
        st.button("Delete", key=f"delete_surely_{place}", type="primary", on_click=_delete, args=(shown,))
        st.button("Keep", key=f"delete_not_{place}", on_click=want, kwargs={"wanted": False})


def _delete(shown: SidebarList) -> None:
    try:
        shown.delete()
    except AssistantError as error:
        shown.item.update(StoredItem.note, str(error))
        shown.item.update(StoredItem.confirm_deletion, wanted=False)


def _draw_import_field(shown: SidebarList) -> None:
    st.caption(shown.import_note)
    # A new key empties the field.
    key = f"import{shown.mark}_{shown.item.now.opened}"
    st.file_uploader(
        f"A {shown.noun} as JSON",
        type="json",
        key=key,
        max_upload_size=LARGEST_IMPORT_MB,
        label_visibility="collapsed",
        on_change=_take_in,
        args=(shown, key),
    )
    if refused := admitted.take_refusal(current_session()):
        shown.item.update(StoredItem.refuse_import, refused)
    if shown.item.now.import_problem:
        st.caption(escaped(shown.item.now.import_problem))


def _take_in(shown: SidebarList, key: str) -> None:
    if file := field_value(key):
        shown.import_file(file.getvalue())


def draw_missing(noun: str, begin_new: Callable[[], None]) -> None:
    """Draw the note that the address leads to no stored item."""
    with st.container(border=True, key=f"missing_{noun}"):
        st.markdown(f"No {noun} is at this address. It may have been deleted, or the link is not whole.")
        st.button("Begin a new one", type="primary", key="begin_new", on_click=begin_new)


def draw_imported(what: str, file: str) -> None:
    """Draw the note that an imported item was not checked again; the names are constants, not escaped."""
    with st.container(border=True, key="imported"):
        st.markdown(
            f":material/upload_file: This {what} came from a file. Its texts, passages and scores stand "
            "as the file has them: nothing was checked again here. To have it checked against the corpus, "
            f"download it as JSON and run `paper-trail replay {file}`."
        )
