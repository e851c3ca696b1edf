"""A visit's own documents: who has them, when they end, and whether questions go to them."""

from dataclasses import replace
from typing import cast

import streamlit as st

from corpus.records import Scope
from explorer.documents.own import OwnDocuments
from explorer.documents.readers import Readers
from explorer.parts.own import is_own
from explorer.parts.page_image import forget_pictures
from explorer.reader import Reader
from explorer.resources import Library, jobs

_KEY = "own_documents"


def documents_of_visit() -> OwnDocuments | None:
    """Return the documents of the visitor whose screen is drawn, None before they bring some."""
    own = cast(OwnDocuments | None, st.session_state.get(_KEY))
    if own is not None:
        _attended(own.folder.name, own)
    return own


def begin_documents(library: Library) -> OwnDocuments:
    """Return the visitor's documents, with a place for them made the first time; raises DocumentError."""
    if (own := documents_of_visit()) is None:
        settings = library.settings
        own = OwnDocuments(settings.home, library.encoder, _readers(), allow_private=settings.private_hosts)
        st.session_state[_KEY] = own
        _attended(own.folder.name, own)
    return own


@st.cache_resource(show_spinner=False)
def _readers() -> Readers:
    return Readers()


@st.cache_resource(scope="session", on_release=OwnDocuments.leave, show_spinner=False)
def _attended(name: str, _own: OwnDocuments) -> OwnDocuments:  # noqa: ARG001
    """Have the documents know that their visitor is here, and when they have left; `name` is only a key.

    Streamlit releases what a session has cached as soon as the connection drops, for a reload of the page or
    a moment in a tunnel too; whoever comes back in time finds everything as it was.
    """
    _own.stay()
    return _own


def library_asked(library: Library, reader: Reader) -> Library:
    """Return what questions go to: the visitor's documents where these are chosen, else the corpus."""
    _choose_first_documents(reader)
    own = documents_of_visit() if reader.is_private else None
    if own is None or own.corpus is None:
        if reader.is_private:
            ask_collection(reader)
        return library
    if reader.turns:
        own.conversation = reader.conversation()
    return _own_library(library, own)


def _choose_first_documents(reader: Reader) -> None:
    """Have questions go to documents as soon as the first is ready: who brought them wants to ask them.

    Not where a conversation or chosen papers would be left for that, and once: who then chooses the
    collection is not overruled by the next document.
    """
    own = documents_of_visit()
    if own is None or own.corpus is None or own.were_chosen:
        return
    own.were_chosen = True
    is_begun = reader.turns or reader.job_id or reader.waiting or reader.failure or reader.missing_id
    if not (is_begun or reader.asked_about or reader.asked_within != Scope()):
        ask_own(reader)


def library_of_paper(library: Library, reader: Reader, paper_id: str) -> Library:
    """Return the library that a paper is in, by its id; of other visitors' documents none is known here.

    Who came to the paper from the dialog has left that.
    """
    reader.documents_open = False
    own = documents_of_visit() if is_own(paper_id) else None
    return _own_library(library, own) if own and own.corpus else library


def _own_library(library: Library, own: OwnDocuments) -> Library:
    assert own.corpus is not None, "documents are asked when some are ready"
    return replace(library, encoder=own.encoder, corpus=own.corpus, pdf_folder=own.pdf_folder)


def ask_place_of(reader: Reader, paper_ids: tuple[str, ...]) -> None:
    """Have the next questions go where some papers are."""
    if any(map(is_own, paper_ids)):
        ask_own(reader)
    else:
        ask_collection(reader)


def ask_own(reader: Reader) -> None:
    """Have questions go to the visitor's documents, and go on with what was asked of them before."""
    own = documents_of_visit()
    if reader.is_private or own is None or own.corpus is None:
        return
    _leave_scope(reader)
    reader.turn_to(own.conversation)
    reader.is_kept, reader.is_private = False, True


def ask_collection(reader: Reader) -> None:
    """Have questions go to the collection; what was asked of the documents waits for them."""
    if reader.is_private:
        _leave_scope(reader)
        jobs().forget(reader.conversation_id)
        reader.is_private = False
        reader.turn_to(None)


def _leave_scope(reader: Reader) -> None:
    reader.asked_about, reader.asked_within = (), Scope()
    for key in ("scope_papers", "scope_filter", "scope_documents"):
        st.session_state.pop(key, None)


def ends_conversation(reader: Reader, own: OwnDocuments, number: int) -> bool:
    """Tell whether there is a conversation that ends when a document, or with 0 all, is removed."""
    is_asked = own.conversation is not None or (reader.is_private and bool(reader.turns or reader.job_id))
    return is_asked and (not number or number in {one.number for one in own.ready()})


def remove_document(reader: Reader, number: int) -> None:
    """Take out one document, or with 0 all; when it could be asked, the conversation about them ends."""
    own = documents_of_visit()
    if own is None:
        return
    own.removing = None
    if not number or number in {one.number for one in own.ready()}:
        _end_conversation(reader, own)
    if number:
        own.remove(number)
    else:
        own.remove_all()
    forget_pictures()
    if own.corpus is None:
        own.were_chosen = False
        ask_collection(reader)


def _end_conversation(reader: Reader, own: OwnDocuments) -> None:
    if own.conversation:
        jobs().forget(own.conversation.id)
    if reader.is_private:
        jobs().forget(reader.conversation_id)
        _leave_scope(reader)
        reader.turn_to(None)
