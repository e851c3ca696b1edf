"""A visit's own documents: who has them, when they end, and whether questions go to them."""

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
    """Return the documents of the visitor whose screen is drawn, None before they bring some."""
    uploads = cast(UploadSession | None, field_value(_KEY))
    if uploads is not None:
        _attended(uploads.folder.name, uploads)
    return uploads


def begin_documents(library: Library) -> UploadSession:
    """Return the visitor's documents, with a place for them made the first time; raises DocumentError."""
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
        _attended(uploads.folder.name, uploads)
    return uploads


@st.cache_resource(show_spinner=False)
def _readers() -> UploadWorkers:
    return UploadWorkers()


@st.cache_resource(scope="session", on_release=UploadSession.leave, show_spinner=False)
def _attended(name: str, _uploads: UploadSession) -> UploadSession:  # noqa: ARG001
    """Have the documents know that their visitor is here, and when they have left; `name` is only a key.

    Streamlit releases what a session has cached as soon as the connection drops, for a reload of the page or
    a moment in a tunnel too; whoever comes back in time finds everything as it was.
    """
    _uploads.stay()
    return _uploads


def library_asked(library: Library, visitor: Visitor) -> Library:
    """Return the library that questions go to: the visitor's documents where chosen, else the corpus."""
    _choose_first_documents(visitor)
    if visitor.now.library_id:
        return _kept_asked(library, visitor)
    uploads = documents_of_visit() if visitor.now.is_private else None
    if uploads is None or uploads.corpus is None:
        if visitor.now.is_private:
            ask_collection(visitor)
        return library
    if visitor.now.turns:
        uploads.conversation = visitor.now.conversation()
    return _upload_library(library, uploads)


def _kept_asked(library: Library, visitor: Visitor) -> Library:
    """Return the kept library that is asked; where it cannot be, say why and return the corpus."""
    try:
        return read_kept(library, visitor, visitor.now.library_id)
    except AssistantError as error:
        if str(error) not in visitor.now.notes:
            visitor.update(VisitorSession.note, str(error), *visitor.now.notes)
        return library


def _choose_first_documents(visitor: Visitor) -> None:
    """Have questions go to documents as soon as the first is ready: who brought them wants to ask them.

    Not where a conversation or chosen papers would be left for that, and once: who then chooses the
    collection is not overruled by the next document.
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
    """Return the library that a paper is in, by its id; of other visitors' documents none is known here.

    Who came to the paper from the dialog has left that.
    """
    visitor.update(VisitorSession.close_documents)
    if library_of(paper_id):
        return kept_or_none(library, visitor, paper_id) or library
    uploads = documents_of_visit() if is_upload(paper_id) else None
    return _upload_library(library, uploads) if uploads and uploads.corpus else library


def _upload_library(library: Library, uploads: UploadSession) -> Library:
    assert uploads.corpus is not None, "documents are asked when some are ready"
    return replace(library, encoder=uploads.encoder, corpus=uploads.corpus, pdf_folder=uploads.pdf_folder)


def ask_place_of(visitor: Visitor, paper_ids: tuple[str, ...]) -> None:
    """Have the next questions go where some papers are."""
    if library_id := next(filter(None, map(library_of, paper_ids)), ""):
        ask_kept(visitor, library_id)
    elif any(map(is_upload, paper_ids)):
        ask_uploads(visitor)
    else:
        ask_collection(visitor)


def ask_uploads(visitor: Visitor) -> None:
    """Have questions go to the visitor's documents, and go on with what was asked of them before."""
    uploads = documents_of_visit()
    if visitor.now.is_private or uploads is None or uploads.corpus is None:
        return
    leave_scope(visitor)
    visitor.update(VisitorSession.turn_to_own, uploads.conversation)


def ask_collection(visitor: Visitor) -> None:
    """Have questions go to the collection; what was asked of the documents waits for them."""
    if visitor.now.is_private:
        jobs().forget(visitor.now.conversation_id)
    if visitor.now.asks_own:
        leave_scope(visitor)
        visitor.update(VisitorSession.turn_to_collection)


def ends_conversation(visitor: Visitor, uploads: UploadSession, number: int) -> bool:
    """Return True if there is a conversation that ends when a document, or with 0 all, is removed."""
    is_asked = uploads.conversation is not None or (
        visitor.now.is_private and bool(visitor.now.turns or visitor.now.job_id)
    )
    return is_asked and (not number or number in {one.number for one in uploads.ready()})


def remove_document(visitor: Visitor, number: int) -> None:
    """Take out one document, or with 0 all; when it could be asked, the conversation about them ends."""
    uploads = documents_of_visit()
    if uploads is None:
        return
    uploads.removing = None
    if not number or number in {one.number for one in uploads.ready()}:
        _end_conversation(visitor, uploads)
    removed = [uploads.pdf_of(one) for one in uploads.ready() if number in (0, one.number)]
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
