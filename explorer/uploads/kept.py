"""A visitor's kept libraries: listed, opened, asked, filled, emptied and deleted."""

import logging
from collections.abc import Sequence

from assistant.libraries.keeping import Brought, Gone, Grown
from assistant.records import AssistantError
from assistant.storage.libraries import KeptLibrary, LibraryError
from corpus.errors import CorpusError
from corpus.records import library_of
from explorer.app.resources import Library, comparison_jobs, jobs
from explorer.app.session import Visitor, current_owner, current_owners, forget_field
from explorer.app.visitor.session import VisitorSession
from explorer.components.page_image import forget_pictures
from indexer.uploads.encoding import encode_texts
from indexer.uploads.session import UploadSession

logger = logging.getLogger(__name__)

GONE = (
    "The library that this is about has been deleted, or the link to it was taken back. What was answered is "
    "still here; nothing more can be asked of it."
)


UNREADABLE = (
    "This library cannot be searched as it is: the collection has been built with another encoder since it "
    "was kept, or by another version of Paper Trail. Nothing of it is lost. Its owner can make it searchable "
    "again, under “Add or remove”."
)


NOT_YOURS = (
    "This is about a library of documents that only its owner sees, and whoever has a link to it that is "
    "still good. Open that link first, then this page."
)


class UnreadableError(LibraryError):
    """A library cannot be searched with the current encoder."""


def kept_libraries(library: Library, visitor: Visitor) -> tuple[KeptLibrary, ...]:
    """Return the visitor's libraries, then those shared with them; none if they cannot be read."""
    try:
        return library.libraries().store.seen_by(current_owners(visitor))
    except AssistantError:
        return ()


def read_kept(library: Library, visitor: Visitor, library_id: str) -> Library:
    """Open a kept library; raises LibraryError if it does not exist or the visitor may not read it."""
    owners = current_owners(visitor)
    stored = library.libraries().store.reads(library_id, owners)
    if stored is None:
        raise LibraryError(GONE)
    try:
        return library.of_kept(KeptLibrary(stored.id, stored.title, stored.owner in owners))
    except CorpusError as error:
        logger.warning("the library %s cannot be read: %s", library_id, error)
        raise UnreadableError(UNREADABLE) from error


def check_may_read(library: Library, visitor: Visitor, library_id: str) -> None:
    """Raise LibraryError if the visitor may not read a kept library; "" is the collection.

    Checked for conversations and comparisons, whose address anyone may have, but not the documents.
    """
    if library_id and library.libraries().store.reads(library_id, current_owners(visitor)) is None:
        raise LibraryError(NOT_YOURS)


def kept_or_none(library: Library, visitor: Visitor, identifier: str) -> Library | None:
    """Return the kept library of a paper or collection id, None if there is none the visitor may read."""
    if not (library_id := library_of(identifier)):
        return None
    try:
        return read_kept(library, visitor, library_id)
    except AssistantError:
        return None


def library_of_papers(library: Library, visitor: Visitor, paper_ids: Sequence[str]) -> Library:
    """Return the library of papers to compare, which are all in the same one."""
    found = (kept_or_none(library, visitor, paper_id) for paper_id in paper_ids[:1])
    return next(filter(None, found), library)


def ask_kept(visitor: Visitor, library_id: str) -> None:
    """Ask a kept library, in a new conversation."""
    if visitor.now.library_id != library_id:
        leave_scope(visitor)
        visitor.update(VisitorSession.turn_to_library, library_id)


def leave_scope(visitor: Visitor) -> None:
    visitor.update(VisitorSession.look_in)
    for key in ("scope_papers", "scope_filter", "scope_documents"):
        forget_field(key)


def keep_visit(
    library: Library, visitor: Visitor, uploads: UploadSession, title: str, library_id: str = ""
) -> Grown:
    """Move the uploads of a visit to a new library, or to `library_id`, and ask that library.

    Their conversation moves with them. Raises LibraryError and CorpusError.
    """
    if uploads.corpus is None:
        raise LibraryError("None of these documents can be read, so there is nothing to keep.")
    ready = uploads.ready()
    brought = Brought(uploads.corpus, uploads.pdf_folder, uploads.to_keep())
    libraries, owners = library.libraries(), current_owners(visitor)
    if library_id:
        grown = libraries.grow(library_id, owners, brought, uploads.encoder)
    else:
        grown = libraries.keep(owners[0], title, brought, uploads.encoder)
    _move_conversation(library, visitor, uploads, grown)
    taken_away = [uploads.pdf_of(document) for document in ready]
    if uploads.is_reading() or len(ready) < len(uploads.ready()):
        for document in ready:
            uploads.remove(document.number)
    else:
        uploads.remove_all()
    uploads.were_chosen = uploads.corpus is not None
    forget_pictures(*taken_away)
    return grown


def _move_conversation(library: Library, visitor: Visitor, uploads: UploadSession, grown: Grown) -> None:
    """Store the conversation about the uploads as one about the library, and show it."""
    conversation = visitor.now.conversation() if visitor.now.is_private else uploads.conversation
    ask_kept(visitor, grown.library_id)
    if conversation is None or not conversation.turns:
        return
    try:
        stored = library.libraries().put_conversation(
            current_owner(visitor), conversation, grown, library.conversations()
        )
    except AssistantError as error:
        visitor.update(VisitorSession.note, str(error))
        return
    visitor.update(VisitorSession.turn_to, stored)
    visitor.update(VisitorSession.set_library, grown.library_id)


def take_out(library: Library, visitor: Visitor, library_id: str, paper_id: str) -> int:
    """Remove a document from a library; return 0 if it had been removed already."""
    libraries = library.libraries()
    papers = libraries.as_kept(library_id).papers_by_id([paper_id])
    removed = libraries.take_out(library_id, current_owners(visitor), [paper_id], library.encoder)
    pdfs = libraries.folder(library_id).pdfs
    forget_pictures(*(pdfs / f"{paper.pdf_sha256}.pdf" for paper in papers))
    return removed


def delete_kept(library: Library, visitor: Visitor, library_id: str) -> Gone:
    """Delete a library with its conversations and comparisons, stopping their jobs."""
    libraries = library.libraries()
    libraries.own(library_id, current_owners(visitor))
    over = libraries.store.over(library_id)
    for runner, ids in ((jobs(), over.conversations), (comparison_jobs(), over.comparisons)):
        for identifier in ids:
            if job := runner.get(runner.under_way(identifier)):
                job.stop()
    gone = libraries.delete(library_id, current_owners(visitor))
    forget_pictures(libraries.folder(library_id).path)
    if visitor.now.library_id == library_id:
        leave_scope(visitor)
        visitor.update(VisitorSession.turn_to_collection)
    return gone


def encode_kept(library: Library, visitor: Visitor, library_id: str) -> None:
    """Encode a library again with the current encoder."""
    encoder, owners = library.encoder, current_owners(visitor)
    library.libraries().encode_anew(library_id, owners, encoder, lambda pairs: encode_texts(pairs, encoder))


def follow_library_address(library: Library, visitor: Visitor, named: str) -> str:
    """Ask the library that an address names by id or link; return the reason if that fails, else ""."""
    try:
        store = library.libraries().store
        stored = store.reads(named, current_owners(visitor))
        library_id = stored.id if stored else store.open_by_link(named, current_owner(visitor))
    except AssistantError as error:
        return str(error)
    if not library_id:
        return (
            "This link leads to no library: it is not whole, its owner has taken it back, or the library is "
            "deleted."
        )
    ask_kept(visitor, library_id)
    return ""
