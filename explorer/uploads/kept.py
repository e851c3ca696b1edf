"""A visitor's kept libraries: which there are, what is asked, and what they do with them."""

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
    """A library cannot be searched with the encoder that is in use."""


def kept_libraries(library: Library, visitor: Visitor) -> tuple[KeptLibrary, ...]:
    """Return the visitor's libraries, then those that they have a link to; none where that is not known."""
    try:
        return library.libraries().store.seen_by(current_owners(visitor))
    except AssistantError:
        return ()


def read_kept(library: Library, visitor: Visitor, library_id: str) -> Library:
    """Return a kept library as it is asked; raises LibraryError where it is not there, or not theirs to."""
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
    """Raise LibraryError where something is over a kept library that the visitor may not read; "" is none.

    The address of a conversation or a comparison is a key to it, but not to documents of others.
    """
    if library_id and library.libraries().store.reads(library_id, current_owners(visitor)) is None:
        raise LibraryError(NOT_YOURS)


def kept_or_none(library: Library, visitor: Visitor, identifier: str) -> Library | None:
    """Return the kept library that a paper or a collection is in, None where it is in none that is theirs."""
    if not (library_id := library_of(identifier)):
        return None
    try:
        return read_kept(library, visitor, library_id)
    except AssistantError:
        return None


def library_of_papers(library: Library, visitor: Visitor, paper_ids: Sequence[str]) -> Library:
    """Return the library that papers are in: those that are compared are all in one."""
    found = (kept_or_none(library, visitor, one) for one in paper_ids[:1])
    return next(filter(None, found), library)


def ask_kept(visitor: Visitor, library_id: str) -> None:
    """Have questions go to a kept library, in a new conversation."""
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
    """Keep what a visit has brought, as a library of that title or in one that there is, and ask that.

    What was asked of the documents goes with them. Raises LibraryError and CorpusError.
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
    _take_conversation(library, visitor, uploads, grown)
    taken_away = [uploads.pdf_of(one) for one in ready]
    if uploads.is_reading() or len(ready) < len(uploads.ready()):
        for one in ready:
            uploads.remove(one.number)
    else:
        uploads.remove_all()
    uploads.were_chosen = uploads.corpus is not None
    forget_pictures(*taken_away)
    return grown


def _take_conversation(library: Library, visitor: Visitor, uploads: UploadSession, grown: Grown) -> None:
    """Go on with what was asked of the documents, over the library that has them now."""
    asked = visitor.now.conversation() if visitor.now.is_private else uploads.conversation
    ask_kept(visitor, grown.library_id)
    if asked is None or not asked.turns:
        return
    try:
        stored = library.libraries().put_conversation(
            current_owner(visitor), asked, grown, library.conversations()
        )
    except AssistantError as error:
        visitor.update(VisitorSession.note, str(error))
        return
    visitor.update(VisitorSession.turn_to, stored)
    visitor.update(VisitorSession.be_over, grown.library_id)


def take_out(library: Library, visitor: Visitor, library_id: str, paper_id: str) -> int:
    """Take a document out of a library; return 0 where it has been taken out elsewhere."""
    libraries = library.libraries()
    papers = libraries.as_kept(library_id).papers_by_id([paper_id])
    taken = libraries.take_out(library_id, current_owners(visitor), [paper_id], library.encoder)
    pdfs = libraries.folder(library_id).pdfs
    forget_pictures(*(pdfs / f"{paper.pdf_sha256}.pdf" for paper in papers))
    return taken


def delete_kept(library: Library, visitor: Visitor, library_id: str) -> Gone:
    """Delete a library with everything of it, and stop what is being made over it."""
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
    """Make a library searchable with the encoder of today."""
    encoder = library.encoder
    library.libraries().encode_anew(
        library_id,
        current_owners(visitor),
        encoder,
        lambda pairs: encode_texts(pairs, encoder),
    )


def follow_library_address(library: Library, visitor: Visitor, named: str) -> str:
    """Open the library that an address names, by its id or by a link that was given out.

    Returns what is to be said, "" where it is open.
    """
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
