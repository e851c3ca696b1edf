"""The dialog in which a visitor uploads documents, follows their progress, and removes them."""

from dataclasses import dataclass

import streamlit as st

from corpus.records import FEWEST_WORDS, MOST_WORDS, PassageSize
from explorer.app.navigation import PAPER, link_to
from explorer.app.resources import Library, documents_limit
from explorer.app.session import Visitor, current_caller, current_visitor, field_value, set_field
from explorer.app.upload_guard import admitted, current_session
from explorer.app.visitor.session import VisitorSession
from explorer.components.rows import action, row
from explorer.jobs.rate_limit import TooSoonError
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.wording import ASPECT_NAMES, ordered_aspects
from explorer.uploads.keeping_form import draw_keeping, want_to_keep, wants_to_keep
from explorer.uploads.kept import kept_libraries
from explorer.uploads.library_panel import draw_libraries, draw_library, draw_message, say, target
from explorer.uploads.visit import (
    ask_uploads,
    begin_documents,
    documents_of_visit,
    ends_conversation,
    remove_document,
)
from explorer.uploads.wording import (
    LIMITS_SAID,
    facts_of,
    progress_of,
    remarks_of,
    removal_of,
    summary_offer,
    where_passages_go,
)
from indexer.uploads.document import KINDS, DocumentError, shown_name
from indexer.uploads.sandbox import LIMITS
from indexer.uploads.session import UploadedDocument, UploadSession
from indexer.uploads.summary import open_summariser

POLL_SECONDS = 0.5
LONGEST_ADDRESS = 2_000
LONGEST_ASPECT = 300
MOST_REFUSALS = 12
MOST_OVERLAP, WORDS_STEP, OVERLAP_STEP = 200, 10, 10
SIZE_SAID = (
    "Documents are cut into passages of about this many words, never across a section. Short ones are found "
    "more exactly, long ones tell more of what is round a sentence."
)
SUMMARY_SAID = (
    "It is sent the beginning of each document that you bring from now on. What it writes and the document "
    "bears out is shown under “In short”, and is a passage of its own, headed “Summary written by” and its "
    "name, so that it can be found and cited like any other."
)
SIZE_FIXED = "The documents that are here were cut like this. Remove them to choose another size."


def open_documents(visitor: Visitor) -> None:
    """Open the dialog, closing the drawers."""
    visitor.update(VisitorSession.open_documents, visitor.now.library_id)
    say()
    if uploads := documents_of_visit():
        uploads.refused, uploads.removing = (), None


def draw_documents(library: Library, visitor: Visitor) -> None:
    """Draw the dialog, if it is open."""
    drawn = _state_of(visitor)
    dismissed = visitor.updating(VisitorSession.close_documents)

    @st.dialog("Your documents", width="medium", on_dismiss=dismissed)
    def dialog() -> None:
        with st.container(key="own_documents", gap="small"):
            _draw_panel(library, visitor, drawn)

    if visitor.now.documents_open:
        dialog()
    elif drawn.is_reading:
        st.fragment(_await_change, run_every=POLL_SECONDS)(visitor, drawn)


def _await_change(visitor: Visitor, drawn: "_DocumentsState") -> None:
    """Rerun the screen once documents have become ready after the dialog was closed."""
    if _state_of(visitor) != drawn:
        st.rerun()


@dataclass(frozen=True, slots=True)
class _DocumentsState:
    """The state of the documents as far as the rest of the screen depends on it."""

    is_private: bool
    ready: tuple[int, ...]
    is_reading: bool


def _state_of(visitor: Visitor) -> _DocumentsState:
    uploads = documents_of_visit()
    ready = tuple(document.number for document in uploads.ready()) if uploads else ()
    return _DocumentsState(visitor.now.is_private, ready, uploads is not None and uploads.is_reading())


def _draw_panel(library: Library, visitor: Visitor, drawn: _DocumentsState) -> None:
    if visitor.now.library_open:
        draw_library(library, visitor, visitor.now.library_open)
        return
    if not library.settings.uploads:
        draw_message()
        draw_libraries(library, visitor)
        return
    if not wants_to_keep():
        draw_message()
    if growing := next((kept for kept in kept_libraries(library, visitor) if kept.id == target()), None):
        title = escaped(shortened(growing.title, 80))
        st.markdown(f"What you bring now can be kept in “{title}” as soon as it is read.")
    try:
        uploads = begin_documents(library)
    except DocumentError as error:
        st.markdown(escaped(str(error)))
        return
    st.caption(LIMITS_SAID)
    st.caption(escaped(where_passages_go(str(field_value("writer", "")), library.settings)))
    _draw_upload_fields(uploads)
    _draw_size(uploads)
    _draw_summary(library, uploads)
    every = POLL_SECONDS if uploads.is_reading() else None
    st.fragment(_draw_list, run_every=every)(library, visitor, uploads, drawn)
    draw_libraries(library, visitor)


def _draw_upload_fields(uploads: UploadSession) -> None:
    """Draw the field for files and the one for a web address.

    The field for files keeps its key while the dialog is open, or files being sent to it would be lost.
    """
    key = "own_files"
    st.file_uploader(
        "PDF, Word, Markdown or plain text",
        type=[kind.removeprefix(".") for kind in KINDS],
        accept_multiple_files=True,
        max_upload_size=LIMITS.most_bytes // 2**20,
        key=key,
        on_change=take_files,
        args=(uploads, key),
    )
    # Files that arrive while a fragment reruns trigger no on_change.
    take_files(uploads, key)
    with st.form("own_address_form", border=False):
        field, button = st.columns([0.8, 0.2], vertical_alignment="bottom", gap="small")
        field.text_input(
            "Or a web address",
            key="own_address",
            max_chars=LONGEST_ADDRESS,
            placeholder="https://arxiv.org/abs/2203.10244",
        )
        with button:
            st.form_submit_button(
                "Read it", key="read_address", width="stretch", on_click=take_address, args=(uploads,)
            )
    # The field does not report files that the upload route refused.
    st.fragment(_draw_refusals, run_every=POLL_SECONDS)(uploads)


def _draw_size(uploads: UploadSession) -> None:
    """Draw the choice of the size of passages, common to all documents of a visit."""
    is_open = not uploads.documents()
    with st.expander(f"Passages of {uploads.size}", type="compact", key="own_passages"):
        st.caption(SIZE_SAID if is_open else SIZE_FIXED)
        words = st.slider(
            "Words of a passage",
            FEWEST_WORDS,
            MOST_WORDS,
            uploads.size.words,
            WORDS_STEP,
            key="own_passage_words",
            disabled=not is_open,
        )
        overlap = st.slider(
            "Words repeated from the passage before",
            0,
            min(MOST_OVERLAP, words // 2),
            min(uploads.size.overlap, words // 2),
            OVERLAP_STEP,
            key=f"own_passage_overlap_{words}",
            disabled=not is_open,
        )
    if is_open:
        uploads.size = PassageSize(words, overlap)


def _draw_summary(library: Library, uploads: UploadSession) -> None:
    """Draw the switch for summaries of later uploads by the chosen writer, if it may write them."""
    entry = summary_offer(str(field_value("writer", "")), library.settings)
    if entry is None:
        uploads.summariser = None
        return
    label = f"Have {escaped(entry.label)} sum up each document"
    is_wanted = st.toggle(label, key="own_summary", help=SUMMARY_SAID)
    if not is_wanted:
        uploads.summariser = None
    elif uploads.summariser is None or uploads.summariser.label != entry.label:
        uploads.summariser = open_summariser(entry, library.settings, library.encoder)


def _draw_refusals(uploads: UploadSession) -> None:
    if message := admitted.take_refusal(current_session()):
        uploads.refused = (*uploads.refused, message)[-MOST_REFUSALS:]
    for number, refusal in enumerate(uploads.refused):
        _draw_plain(f"own_refused_{number}", refusal, ":material/info:")


def take_files(uploads: UploadSession, key: str) -> None:
    """Start reading the new files of the field; each refused file is noted on its own."""
    refused = list(uploads.refused)
    for file in field_value(key) or ():
        if file.file_id in uploads.seen:
            continue
        uploads.seen.add(file.file_id)
        try:
            documents_limit().take(current_caller(current_visitor()))
            uploads.add_file(file.name, file.getvalue())
        except TooSoonError as error:
            refused.append(f"{shown_name(file.name)} was left out: {error}")
        except DocumentError as error:
            refused.append(str(error))
    uploads.refused = tuple(dict.fromkeys(refused))[-MOST_REFUSALS:]


def take_address(uploads: UploadSession) -> None:
    """Start reading the web page whose address was typed."""
    uploads.refused = ()
    try:
        documents_limit().take(current_caller(current_visitor()))
        uploads.add_address(str(field_value("own_address") or ""))
    except (TooSoonError, DocumentError) as error:
        uploads.refused = (str(error),)
        return
    set_field("own_address", "")


def _draw_list(library: Library, visitor: Visitor, uploads: UploadSession, drawn: _DocumentsState) -> None:
    """Draw the documents with their progress; rerun the screen if any were removed or kept.

    A document that became ready does not rerun it, which would reset the field for files and lose files being
    sent; `_await_change` does it when the dialog is closed.
    """
    now = _state_of(visitor)
    was_kept = bool(visitor.now.library_open)
    if was_kept or now.is_private != drawn.is_private or set(drawn.ready) - set(now.ready):
        st.rerun()
    documents = uploads.documents()
    for document in documents:
        with row(f"own_row_{document.number}", align="top"):
            with st.container(gap="xxsmall"):
                _draw_document(document)
                if uploads.removing == document.number:
                    _draw_confirmation(visitor, uploads, document.name, 1)
            label, number = "Remove" if document.is_over else "Stop", document.number
            action(label, f"own_remove_{number}", _remove, visitor, uploads, number)
    if uploads.removing == 0:
        _draw_confirmation(visitor, uploads, "", len(documents))
    elif documents:
        _draw_actions(library, visitor, uploads, len(documents))


def _draw_document(document: UploadedDocument) -> None:
    title = escaped(shortened(document.title or document.name, 120))
    if document.state == "ready":
        link_to(PAPER, title, query_params={"id": document.paper_id})
        _draw_plain(f"own_facts_{document.number}", facts_of(document))
        if remarks := remarks_of(document):
            _draw_plain(f"own_remarks_{document.number}", remarks)
        _draw_aspects(document)
        return
    if document.is_web and not document.title:
        _draw_plain(f"own_address_{document.number}", document.name)
    else:
        st.markdown(f"**{title}**")
    if document.state == "failed":
        _draw_plain(f"own_problem_{document.number}", document.problem, ":material/error:")
    else:
        st.caption(f":shimmer[{escaped(progress_of(document))}]")


def _draw_aspects(document: UploadedDocument) -> None:
    """Draw the aspects of a document in a fold, each with a link to its sentence."""
    if not document.aspects:
        return
    with st.expander("In short", key=f"own_in_short_{document.number}"):
        for aspect in ordered_aspects(document.aspects):
            text = escaped(shortened(aspect.text, LONGEST_ASPECT))
            by = f" (written by {escaped(aspect.writer)})" if aspect.writer else ""
            place = {"passage": str(aspect.passage), "sentence": str(aspect.sentence)}
            link_to(
                PAPER,
                f"**{ASPECT_NAMES[aspect.name]}:** {text}{by}",
                query_params={"id": document.paper_id, **place},
            )


def _draw_plain(key: str, text: str, icon: str = "") -> None:
    """Draw a line as plain text, so that an address in it is no link."""
    with row(key, gap="xsmall", align="top"):
        if icon:
            st.caption(icon, width="content")
        st.text(one_line(text))


def _draw_actions(library: Library, visitor: Visitor, uploads: UploadSession, count: int) -> None:
    ready = uploads.ready()
    if ready and wants_to_keep():
        draw_keeping(library, visitor, uploads)
        return
    with row("own_ways_on"):
        label = "Ask this document" if len(ready) == 1 else f"Ask these {len(ready)} documents"
        if ready and st.button(label, type="primary", key="ask_own"):
            visitor.update(VisitorSession.close_documents)
            ask_uploads(visitor)
            st.rerun()
        if ready:
            label = "Keep this document" if len(ready) == 1 else "Keep these documents"
            busy = bool(visitor.now.job_id)
            action(label, "keep_own", want_to_keep, icon=":material/bookmark_add:", disabled=busy)
        if count > 1:
            action("Remove all", "own_remove_all", _remove, visitor, uploads, 0)


def _draw_confirmation(visitor: Visitor, uploads: UploadSession, name: str, documents: int) -> None:
    """Draw the confirmation before removing documents that the conversation is about, which ends it."""
    st.markdown(escaped(removal_of(name, documents)))
    with st.container(horizontal=True):
        st.button(
            "Remove",
            key="own_remove_surely",
            type="primary",
            on_click=remove_document,
            args=(visitor, uploads.removing),
        )
        st.button("Keep", key="own_remove_not", on_click=_cancel_removal, args=(uploads,))


def _remove(visitor: Visitor, uploads: UploadSession, number: int) -> None:
    if ends_conversation(visitor, uploads, number):
        uploads.removing = number
    else:
        remove_document(visitor, number)


def _cancel_removal(uploads: UploadSession) -> None:
    uploads.removing = None


def count_ready() -> int:
    uploads = documents_of_visit()
    return len(uploads.ready()) if uploads else 0
