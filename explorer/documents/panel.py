"""The dialog in which a visitor brings documents, sees what each gave, and removes them."""

from dataclasses import dataclass

import streamlit as st

from explorer.documents.apart import LIMITS
from explorer.documents.naming import KINDS
from explorer.documents.own import OwnDocument, OwnDocuments
from explorer.documents.read import DocumentError
from explorer.documents.visit import ask_own, begin_documents, documents_of_visit, remove_document
from explorer.documents.wording import LIMITS_SAID, facts_of, progress_of, remarks_of
from explorer.navigation import PAPER
from explorer.parts.safe_text import escaped, shortened
from explorer.reader import Reader
from explorer.resources import Library

POLL_SECONDS = 0.5
LONGEST_ADDRESS = 2_000


def open_documents(reader: Reader) -> None:
    """Have the dialog drawn, and no drawer beside it."""
    reader.documents_open, reader.drawer_open, reader.shown_calls = True, False, 0


def draw_documents(library: Library, reader: Reader) -> None:
    """Draw the dialog, if it is open."""
    drawn = _standing(reader)

    def dismissed() -> None:
        reader.documents_open = False

    @st.dialog("Your documents", width="medium", on_dismiss=dismissed)
    def dialog() -> None:
        with st.container(key="own_documents", gap="small"):
            _draw_panel(library, reader, drawn)

    if reader.documents_open:
        dialog()


@dataclass(frozen=True, slots=True)
class _Standing:
    """How the documents stand, as far as the rest of the screen tells of them."""

    is_private: bool
    ready: tuple[int, ...]
    is_reading: bool


def _standing(reader: Reader) -> _Standing:
    own = documents_of_visit()
    ready = tuple(one.number for one in own.ready()) if own else ()
    return _Standing(reader.is_private, ready, own is not None and own.is_reading())


def _draw_panel(library: Library, reader: Reader, drawn: _Standing) -> None:
    try:
        own = begin_documents(library)
    except DocumentError as error:
        st.markdown(escaped(str(error)))
        return
    st.caption(LIMITS_SAID)
    _draw_bringing(own)
    every = POLL_SECONDS if own.is_reading() else None
    st.fragment(_draw_list, run_every=every)(reader, own, drawn)


def _draw_bringing(own: OwnDocuments) -> None:
    """Draw the field for files and the one for an address; another key is an empty field."""
    key = f"own_files_{own.taken}"
    st.file_uploader(
        "PDF, Word, Markdown or plain text",
        type=[kind.removeprefix(".") for kind in KINDS],
        accept_multiple_files=True,
        max_upload_size=LIMITS.most_bytes // 2**20,
        key=key,
        on_change=take_files,
        args=(own, key),
    )
    with st.form("own_address_form", border=False, clear_on_submit=True):
        field, button = st.columns([0.8, 0.2], vertical_alignment="bottom", gap="small")
        field.text_input(
            "Or a web address",
            key="own_address",
            max_chars=LONGEST_ADDRESS,
            placeholder="https://arxiv.org/abs/2203.10244",
        )
        with button:
            st.form_submit_button(
                "Read it", key="read_address", width="stretch", on_click=take_address, args=(own,)
            )
    for refusal in own.refused:
        st.markdown(f":material/info: {escaped(refusal)}")


def take_files(own: OwnDocuments, key: str) -> None:
    """Begin to read the files that were chosen; one that is refused costs no other."""
    refused = []
    for file in st.session_state.get(key) or ():
        try:
            own.add_file(file.name, file.getvalue())
        except DocumentError as error:
            refused.append(str(error))
    own.refused = tuple(refused)


def take_address(own: OwnDocuments) -> None:
    """Begin to read the web page whose address was typed."""
    own.refused = ()
    try:
        own.add_address(str(st.session_state.get("own_address") or ""))
    except DocumentError as error:
        own.refused = (str(error),)


def _draw_list(reader: Reader, own: OwnDocuments, drawn: _Standing) -> None:
    """Draw the documents as they stand; the whole screen is drawn anew where it tells of them otherwise."""
    if (now := _standing(reader)) != drawn and not (now.is_reading and now.ready == drawn.ready):
        st.rerun()
    documents = own.documents()
    for document in documents:
        with st.container(key=f"own_row_{document.number}", horizontal=True, vertical_alignment="top"):
            with st.container(gap="xxsmall"):
                _draw_document(document)
            st.button(
                "Remove" if document.is_over else "Stop",
                key=f"own_remove_{document.number}",
                type="tertiary",
                on_click=_remove,
                args=(reader, document.number),
            )
    if documents:
        _draw_ways_on(reader, own, len(documents))


def _draw_document(document: OwnDocument) -> None:
    title = escaped(shortened(document.title or document.name, 120))
    if document.state == "ready":
        st.page_link(PAPER, label=title, query_params={"id": document.paper_id})
        st.caption(escaped(facts_of(document)))
        if remarks := remarks_of(document):
            st.caption(escaped(remarks))
        return
    st.markdown(f"**{title}**")
    if document.state == "failed":
        st.caption(f":material/error: {escaped(document.problem)}")
    else:
        st.caption(f":shimmer[{escaped(progress_of(document))}]")


def _draw_ways_on(reader: Reader, own: OwnDocuments, count: int) -> None:
    ready = own.ready()
    with st.container(horizontal=True, vertical_alignment="center", key="own_ways_on"):
        label = "Ask this document" if len(ready) == 1 else f"Ask these {len(ready)} documents"
        if ready and st.button(label, type="primary", key="ask_own"):
            reader.documents_open = False
            ask_own(reader)
            st.rerun()
        if count > 1:
            st.button(
                "Remove all", type="tertiary", key="own_remove_all", on_click=_remove, args=(reader, None)
            )
    if own.conversation or (reader.is_private and reader.turns):
        st.caption("Removing a document ends the conversation about them.")


def _remove(reader: Reader, number: int | None) -> None:
    remove_document(reader, number)


def how_many_ready() -> int:
    own = documents_of_visit()
    return len(own.ready()) if own else 0
