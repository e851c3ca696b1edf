"""A kept library in the documents dialog: its documents and actions."""

from collections.abc import Callable
from functools import partial
from typing import Literal
from zlib import crc32

import streamlit as st

from assistant.libraries.keeping import Gone
from assistant.records import AssistantError
from assistant.storage.libraries import StoredLibrary
from corpus.errors import CorpusError
from corpus.records import Paper, library_collection
from explorer.app.library_export import export_link
from explorer.app.navigation import COLLECTION, PAPER, link_to
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owners, field_value, set_field
from explorer.app.visitor.session import VisitorSession
from explorer.components.page_image import file_name
from explorer.components.rows import action, row
from explorer.components.sidebar_list import page_address
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.uploads.kept import (
    UNREADABLE,
    UnreadableError,
    ask_kept,
    delete_kept,
    encode_kept,
    kept_libraries,
    read_kept,
    take_out,
)
from explorer.uploads.wording import deletion_message, deletion_of, kept_facts, kept_facts_of

LONGEST_TITLE = 120
_SAID, _ASKED, _TARGET = "library_said", "library_asked_for", "keep_target"


def say(text: str = "") -> None:
    """Set the message of the dialog, "" for none, and close any confirmation."""
    set_field(_SAID, text)
    set_field(_ASKED, "")


def draw_message(key: str = "own_said_dialog") -> None:
    if message := str(field_value(_SAID) or ""):
        with row(key, gap="xsmall", align="top"):
            st.caption(":material/info:", width="content")
            st.text(one_line(message))


def target() -> str:
    """Return the id of the library that uploads are to be added to, "" for a new one."""
    return str(field_value(_TARGET) or "")


def draw_libraries(library: Library, visitor: Visitor) -> None:
    """Draw the list of kept libraries, each as a button that opens it."""
    libraries = kept_libraries(library, visitor)
    if not libraries:
        return
    st.markdown("**Your libraries**")
    with st.container(key="own_libraries", gap=None):
        for number, kept in enumerate(libraries, start=1):
            note = "" if kept.is_own else " :gray[shared with you]"
            label = f"{escaped(shortened(kept.title, 90))}{note}"
            look = {"icon": ":material/folder:", "width": "stretch"}
            action(label, f"open_library_{number}", show_library, visitor, kept.id, **look)


def show_library(visitor: Visitor, library_id: str = "") -> None:
    """Show a library in the dialog, "" for the uploads of the visit."""
    say()
    set_field(_TARGET, "")
    visitor.update(VisitorSession.open_documents, library_id)


def draw_library(library: Library, visitor: Visitor, library_id: str) -> None:
    """Draw a kept library: its documents, and for its owner the actions that change it."""
    action("All your documents", "all_own", show_library, visitor, icon=":material/chevron_left:")
    draw_message()
    try:
        stored = library.libraries().store.reads(library_id, current_owners(visitor))
        if stored is None:
            st.markdown("This library has been deleted, or the link to it was taken back.")
            return
        is_own = stored.owner in current_owners(visitor)
        st.header(escaped(shortened(stored.title, 120)), anchor=False)
        _draw_contents(library, visitor, stored, is_own=is_own)
        if is_own:
            with st.expander("Rename, share or delete", key="library_owning", icon=":material/more_horiz:"):
                _draw_rename(library, visitor, stored)
                _draw_link(library, visitor, stored)
                _draw_deletion(library, visitor, stored)
    except AssistantError as error:
        st.markdown(escaped(str(error)))


def _draw_contents(library: Library, visitor: Visitor, stored: StoredLibrary, *, is_own: bool) -> None:
    try:
        papers = read_kept(library, visitor, stored.id).corpus.papers()
    except UnreadableError:
        _draw_unreadable(library, visitor, stored, is_own=is_own)
        return
    libraries = library.libraries()
    size = libraries.room.size_of(libraries.folder(stored.id).path)
    st.caption(kept_facts(len(papers), size, is_own=is_own))
    with st.container(key="library_documents", gap="xsmall"):
        for number, paper in enumerate(papers, start=1):
            _draw_document(library, visitor, stored.id, number, paper, is_own=is_own)
    with row("library_ways_on"):
        if papers and st.button("Ask this library", type=_primary(), key="ask_library"):
            visitor.update(VisitorSession.close_documents)
            ask_kept(visitor, stored.id)
            st.rerun()
        if papers:
            query = {"collection": library_collection(stored.id)}
            link_to(COLLECTION, "Browse", icon=":material/library_books:", query_params=query)
        if is_own:
            action("Add documents", "grow_library", _add_to, visitor, stored.id, icon=":material/add:")
            _draw_export(library, stored)


def _primary() -> Literal["primary", "secondary"]:
    """Return the type of the main button; an open confirmation has the only primary one."""
    return "secondary" if field_value(_ASKED) else "primary"


def _draw_unreadable(library: Library, visitor: Visitor, stored: StoredLibrary, *, is_own: bool) -> None:
    """Draw the note that a library was encoded by another encoder, with a button to encode it again."""
    st.markdown(UNREADABLE)
    if not is_own:
        return
    with row("library_ways_on"):
        encode = partial(_try, partial(encode_kept, library, visitor, stored.id), "It can be searched again.")
        st.button("Make it searchable again", type=_primary(), key="encode_library", on_click=encode)
        _draw_export(library, stored)


def _draw_document(
    library: Library, visitor: Visitor, library_id: str, number: int, paper: Paper, *, is_own: bool
) -> None:
    question = f"take out {paper.id}"
    with row(f"own_row_kept_{number}", align="top"):
        with st.container(gap="xxsmall"):
            title = escaped(shortened(paper.title, 120))
            link_to(PAPER, title, query_params={"id": paper.id})
            with st.container(key=f"own_facts_kept_{number}"):
                st.text(one_line(kept_facts_of(paper)))
            if field_value(_ASKED) == question:
                st.markdown("Remove it from the library? What was answered from it stays in conversations.")
                out = partial(_take_out, library, visitor, library_id, paper.id)
                _draw_confirmation(f"library_out_{number}", "Remove", out)
        if is_own and field_value(_ASKED) != question:
            action("Remove", f"library_remove_{number}", set_field, _ASKED, question)


def _draw_confirmation(key: str, label: str, do: Callable[[], None]) -> None:
    with st.container(horizontal=True):
        st.button(label, key=f"{key}_surely", type="primary", on_click=do)
        st.button("Keep", key=f"{key}_not", on_click=set_field, args=(_ASKED, ""))


def _draw_export(library: Library, stored: StoredLibrary) -> None:
    st.link_button(
        "Export",
        export_link(library.settings, stored, file_name(stored.title, "zip")),
        type="tertiary",
        icon=":material/download:",
        key="export_library",
        help="The files as they were brought, a list of what was read, and BibTeX",
    )


def _draw_rename(library: Library, visitor: Visitor, stored: StoredLibrary) -> None:
    # The key contains the title, so that the field is reset after a renaming.
    key = f"library_title_{crc32(stored.title.encode())}"
    with st.form("rename_library_form", border=False):
        field, button = st.columns([0.75, 0.25], vertical_alignment="bottom", gap="small")
        field.text_input("Name", value=stored.title, max_chars=LONGEST_TITLE, key=key)
        with button:
            args = (library, visitor, stored, key)
            st.form_submit_button(
                "Rename", key="rename_library", width="stretch", on_click=_rename, args=args
            )


def _rename(library: Library, visitor: Visitor, stored: StoredLibrary, key: str) -> None:
    title = " ".join(str(field_value(key) or "").split())
    if title and title != stored.title:
        rename = library.libraries().rename
        _try(partial(rename, stored.id, current_owners(visitor), stored.title, title), "Renamed.")


def _draw_link(library: Library, visitor: Visitor, stored: StoredLibrary) -> None:
    libraries, owners = library.libraries(), current_owners(visitor)
    if not stored.link:
        st.caption(
            "Nobody else sees this library. A link lets others open, browse and ask it, not change it."
        )
        share = partial(_try, partial(libraries.share, stored.id, owners), "")
        action("Make a link", "share_library", share, icon=":material/link:")
        return
    st.caption("Whoever has this link can open, browse and ask this library. They cannot change it.")
    st.code(f"{page_address()}?library={stored.link}", language=None, wrap_lines=True)
    unshare = partial(_try, partial(libraries.unshare, stored.id, owners), "The link leads nowhere any more.")
    action("Take the link back", "unshare_library", unshare, icon=":material/link_off:")


def _draw_deletion(library: Library, visitor: Visitor, stored: StoredLibrary) -> None:
    if field_value(_ASKED) != "delete":
        icon = ":material/delete:"
        action("Delete this library", "delete_library", set_field, _ASKED, "delete", icon=icon)
        return
    libraries = library.libraries()
    over, documents = libraries.store.over(stored.id), libraries.count_documents(stored.id)
    st.markdown(escaped(deletion_of(documents, over)))
    _draw_confirmation("delete_library", "Delete for good", partial(_delete, library, visitor, stored))


def _delete(library: Library, visitor: Visitor, stored: StoredLibrary) -> None:
    gone: list[Gone] = []
    _try(lambda: gone.append(delete_kept(library, visitor, stored.id)), "")
    if gone:
        show_library(visitor)
        say(deletion_message(stored.title, gone[0].documents, gone[0].over))


def _take_out(library: Library, visitor: Visitor, library_id: str, paper_id: str) -> None:
    removed: list[int] = []
    _try(lambda: removed.append(take_out(library, visitor, library_id, paper_id)), "")
    if removed == [0]:
        say("It had been removed already, in another tab perhaps.")


def _add_to(visitor: Visitor, library_id: str) -> None:
    show_library(visitor)
    set_field(_TARGET, library_id)


def _try(do: Callable[[], object], done: str) -> None:
    """Call `do`, and set the dialog's message to `done`, or to the error."""
    try:
        do()
    except (AssistantError, CorpusError) as error:
        say(str(error))
    else:
        say(done)
