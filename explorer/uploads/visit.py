"""The uploads of a visit: created, asked, removed, and released when the visitor has left."""

from dataclasses import replace
from typing import cast

import streamlit as st

from assistant.records import AssistantError
from corpus.kept.room import Room
from corpus.records import Scope, is_upload, library_of
from explorer.app.resources import Library, jobs
from explorer.app.session import Visitor, current_owner, current_visitor, field_value, set_field
from explorer.app.visitor.session import VisitorSession
from explorer.components.page_image import forget_pictures
from explorer.uploads.kept import ask_kept, kept_or_none, leave_scope, read_kept
from indexer.uploads.sandbox import limits_of
from indexer.uploads.session import UploadSession, UploadWorkers

_KEY = "own_documents"


def documents_of_visit() -> UploadSession | None:
    """Return the uploads of the visitor whose screen is drawn, None before the first."""
    uploads = cast(UploadSession | None, field_value(_KEY))
    if uploads is not None:
        _keep_while_connected(uploads.folder.name, uploads)
    return uploads


def begin_documents(library: Library) -> UploadSession:
    """Return the visitor's uploads, with their folder created the first time; raises DocumentError."""
    if (uploads := documents_of_visit()) is None:
        settings = library.settings
        uploads = UploadSession(
            settings.home,
            library.encoder,
            _readers(),
            owner=current_owner(current_visitor()),
            allow_private=settings.private_hosts,
            limits=limits_of(settings),
            room=Room.of(settings),
        )
        uploads.size = settings.passage_size
        set_field(_KEY, uploads)
        _keep_while_connected(uploads.folder.name, uploads)
    return uploads


@st.cache_resource(show_spinner=False)
def _readers() -> UploadWorkers:
    return UploadWorkers()


@st.cache_resource(scope="session", on_release=UploadSession.leave, show_spinner=False)
def _keep_while_connected(name: str, _uploads: UploadSession) -> UploadSession:  # noqa: ARG001
    """Tell the uploads that their visitor is here, and by the cache's release when they have left.

    Streamlit releases a session's cache as soon as the connection drops, also for a reload; a visitor who
    comes back in time finds everything as it was. `name` is the cache key.
    """
    _uploads.stay()
    return _uploads


def library_asked(library: Library, visitor: Visitor) -> Library:
    """Return the library that questions are asked of: a kept one, the uploads, or the corpus."""
    _choose_first_documents(visitor)
    if visitor.now.library_id:
        try:
            return read_kept(library, visitor, visitor.now.library_id)
        except AssistantError as error:
            if str(error) not in visitor.now.notes:
                visitor.update(VisitorSession.note, str(error), *visitor.now.notes)
            return library
    uploads = documents_of_visit() if visitor.now.is_private else None
    if uploads is None or uploads.corpus is None:
        if visitor.now.is_private:
            ask_collection(visitor)
        return library
    if visitor.now.turns:
        uploads.conversation = visitor.now.conversation()
    return _upload_library(library, uploads)


def _choose_first_documents(visitor: Visitor) -> None:
    """Ask the uploads as soon as the first is ready, once a visit.

    Not if that would leave a conversation or chosen papers; a visitor who then chooses the collection is not
    overruled by the next upload.
    """
    uploads = documents_of_visit()
    if uploads is None or uploads.corpus is None or uploads.were_chosen:
        return
    uploads.were_chosen = True
    is_begun = (
        visitor.now.turns
        or visitor.now.library_id
        or visitor.now.job_id
        or visitor.now.waiting
        or visitor.now.failure
        or visitor.now.missing_id
    )
    if not (is_begun or visitor.now.asked_about or visitor.now.asked_within != Scope()):
        ask_uploads(visitor)


def library_of_paper(library: Library, visitor: Visitor, paper_id: str) -> Library:
    """Return the library of a paper id, and close the documents dialog, from which it may be opened."""
    visitor.update(VisitorSession.close_documents)
    if library_of(paper_id):
        return kept_or_none(library, visitor, paper_id) or library
    uploads = documents_of_visit() if is_upload(paper_id) else None
    return _upload_library(library, uploads) if uploads and uploads.corpus else library


def _upload_library(library: Library, uploads: UploadSession) -> Library:
    assert uploads.corpus is not None, "uploads are asked once some are ready"
    return replace(library, encoder=uploads.encoder, corpus=uploads.corpus, pdf_folder=uploads.pdf_folder)


def ask_place_of(visitor: Visitor, paper_ids: tuple[str, ...]) -> None:
    """Ask the library that papers are in: a kept one, the uploads, or the collection."""
    if library_id := next(filter(None, map(library_of, paper_ids)), ""):
        ask_kept(visitor, library_id)
    elif any(map(is_upload, paper_ids)):
        ask_uploads(visitor)
    else:
        ask_collection(visitor)


def ask_uploads(visitor: Visitor) -> None:
    """Ask the uploads of the visit, continuing their conversation."""
    uploads = documents_of_visit()
    if visitor.now.is_private or uploads is None or uploads.corpus is None:
        return
    leave_scope(visitor)
    visitor.update(VisitorSession.turn_to_own, uploads.conversation)


def ask_collection(visitor: Visitor) -> None:
    """Ask the collection; the conversation about the uploads stays with them."""
    if visitor.now.is_private:
        jobs().forget(visitor.now.conversation_id)
    if visitor.now.asks_own:
        leave_scope(visitor)
        visitor.update(VisitorSession.turn_to_collection)


def ends_conversation(visitor: Visitor, uploads: UploadSession, number: int) -> bool:
    """Return True if removing document `number`, all for 0, ends a conversation."""
    is_asked = uploads.conversation is not None or (
        visitor.now.is_private and bool(visitor.now.turns or visitor.now.job_id)
    )
    return is_asked and (not number or number in {document.number for document in uploads.ready()})


def remove_document(visitor: Visitor, number: int) -> None:
    """Remove document `number`, all for 0; if it was ready, end the conversation about the uploads."""
    uploads = documents_of_visit()
    if uploads is None:
        return
    uploads.removing = None
    if not number or number in {document.number for document in uploads.ready()}:
        _end_conversation(visitor, uploads)
    removed = [uploads.pdf_of(document) for document in uploads.ready() if number in (0, document.number)]
    if number:
        uploads.remove(number)
    else:
        uploads.remove_all()
    forget_pictures(*removed)
    if uploads.corpus is None:
        uploads.were_chosen = False
        ask_collection(visitor)


def _end_conversation(visitor: Visitor, uploads: UploadSession) -> None:
    if uploads.conversation:
        jobs().forget(uploads.conversation.id)
    if visitor.now.is_private:
        jobs().forget(visitor.now.conversation_id)
        leave_scope(visitor)
        visitor.update(VisitorSession.turn_to)
