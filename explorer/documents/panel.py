"""The dialog in which a visitor brings documents, sees what each gave, and removes them."""

from dataclasses import dataclass

import streamlit as st

from explorer.documents.apart import LIMITS
from explorer.documents.naming import KINDS
from explorer.documents.own import OwnDocument, OwnDocuments
from explorer.documents.read import DocumentError
from explorer.documents.visit import (
    ask_own,
    begin_documents,
    documents_of_visit,
    ends_conversation,
    remove_document,
)
from explorer.documents.wording import LIMITS_SAID, facts_of, progress_of, remarks_of, removal_of
from explorer.navigation import PAPER
from explorer.parts.safe_text import escaped, one_line, shortened
from explorer.reader import Reader
from explorer.resources import Library

POLL_SECONDS = 0.5
LONGEST_ADDRESS = 2_000
MOST_REFUSALS = 12


def open_documents(reader: Reader) -> None:
    """Have the dialog drawn, and no drawer beside it."""
    reader.documents_open, reader.drawer_open, reader.shown_calls = True, False, 0
    if own := documents_of_visit():
        own.refused, own.removing = (), None


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
    elif drawn.is_reading:
        st.fragment(_await_documents, run_every=POLL_SECONDS)(reader, drawn)


def _await_documents(reader: Reader, drawn: "_Standing") -> None:
    """Have the screen tell of documents that became ready after the dialog was left."""
    if _standing(reader) != drawn:
        st.rerun()


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
    """Draw the field for files, without a list of its own, and the one for an address.

    The field is never another while the dialog is open: what is on its way to one that is gone is lost.
    """
    key = "own_files"
    st.file_uploader(
        "PDF, Word, Markdown or plain text",
        type=[kind.removeprefix(".") for kind in KINDS],
        accept_multiple_files=True,
        max_upload_size=LIMITS.most_bytes // 2**20,
        key=key,
        on_change=take_files,
        args=(own, key),
    )
    # What came in while the fragment was drawn anew has not been told of by the field itself.
    take_files(own, key)
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
    for number, refusal in enumerate(own.refused):
        _draw_said(f"own_refused_{number}", refusal, ":material/info:")


def take_files(own: OwnDocuments, key: str) -> None:
    """Begin to read the files that were not here before; one that is refused costs no other."""
    refused = list(own.refused)
    for file in st.session_state.get(key) or ():
        if file.file_id in own.seen:
            continue
        own.seen.add(file.file_id)
        try:
            own.add_file(file.name, file.getvalue())
        except DocumentError as error:
            refused.append(str(error))
    own.refused = tuple(dict.fromkeys(refused))[-MOST_REFUSALS:]


def take_address(own: OwnDocuments) -> None:
    """Begin to read the web page whose address was typed."""
    own.refused = ()
    try:
        own.add_address(str(st.session_state.get("own_address") or ""))
    except DocumentError as error:
        own.refused = (str(error),)


def _draw_list(reader: Reader, own: OwnDocuments, drawn: _Standing) -> None:
    """Draw the documents as they stand; the whole screen is drawn anew where it tells of removed ones.

    Not for one that became ready: the field for files would be another, without what is on its way to it and
    what it refused. The screen tells of that one when the dialog is left.
    """
    now = _standing(reader)
    if now.is_private != drawn.is_private or set(drawn.ready) - set(now.ready):
        st.rerun()
    documents = own.documents()
    for document in documents:
        with st.container(key=f"own_row_{document.number}", horizontal=True, vertical_alignment="top"):
            with st.container(gap="xxsmall"):
                _draw_document(document)
                if own.removing == document.number:
                    _draw_surely(reader, own, document.name, 1)
            st.button(
                "Remove" if document.is_over else "Stop",
                key=f"own_remove_{document.number}",
                type="tertiary",
                on_click=_remove,
                args=(reader, own, document.number),
            )
    if own.removing == 0:
        _draw_surely(reader, own, "", len(documents))
    elif documents:
        _draw_ways_on(reader, own, len(documents))


def _draw_document(document: OwnDocument) -> None:
    title = escaped(shortened(document.title or document.name, 120))
    if document.state == "ready":
        st.page_link(PAPER, label=title, query_params={"id": document.paper_id})
        _draw_said(f"own_facts_{document.number}", facts_of(document))
        if remarks := remarks_of(document):
            _draw_said(f"own_remarks_{document.number}", remarks)
        return
    if document.is_web and not document.title:
        _draw_said(f"own_address_{document.number}", document.name)
    else:
        st.markdown(f"**{title}**")
    if document.state == "failed":
        _draw_said(f"own_problem_{document.number}", document.problem, ":material/error:")
    else:
        st.caption(f":shimmer[{escaped(progress_of(document))}]")


def _draw_said(key: str, text: str, icon: str = "") -> None:
    """Draw a line as it is, not as Markdown: an address in it can be copied and is no link."""
    with st.container(key=key, horizontal=True, gap="xsmall", vertical_alignment="top"):
        if icon:
            st.caption(icon, width="content")
        st.text(one_line(text))


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
                "Remove all", type="tertiary", key="own_remove_all", on_click=_remove, args=(reader, own, 0)
            )


def _draw_surely(reader: Reader, own: OwnDocuments, name: str, documents: int) -> None:
    """Ask whether to remove what the conversation is about, which ends with it."""
    st.markdown(escaped(removal_of(name, documents)))
    with st.container(horizontal=True):
        st.button(
            "Remove",
            key="own_remove_surely",
            type="primary",
            on_click=remove_document,
            args=(reader, own.removing),
        )
        st.button("Keep", key="own_remove_not", on_click=_keep, args=(own,))


def _remove(reader: Reader, own: OwnDocuments, number: int) -> None:
    if ends_conversation(reader, own, number):
        own.removing = number
    else:
        remove_document(reader, number)


def _keep(own: OwnDocuments) -> None:
    own.removing = None


def how_many_ready() -> int:
    own = documents_of_visit()
    return len(own.ready()) if own else 0
