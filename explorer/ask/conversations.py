"""Stored conversations: opened by address, listed in the sidebar, renamed, deleted, imported."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from assistant.records import AssistantError, Turn
from assistant.storage.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.storage.reading import keep_notes
from corpus.wording import counted
from explorer.app.imports import library_of_import, read_conversation_file
from explorer.app.resources import Library, documents_limit, jobs
from explorer.app.session import (
    Visitor,
    check_own,
    current_caller,
    current_owner,
    current_owners,
    delete_stored,
    is_anothers,
    rename_stored,
)
from explorer.app.visitor.conversation import Failure, holds
from explorer.app.visitor.session import VisitorSession
from explorer.ask.runs import LEFT, keep_of
from explorer.components.sidebar_list import (
    MOST_LISTED,
    Entry,
    SidebarList,
    draw_missing,
    draw_sidebar_list,
    is_id,
)
from explorer.jobs.question import Kept, TurnKeeper
from explorer.presenters.import_validation import drawable
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import day
from explorer.uploads.kept import check_may_read

ADDRESS = "conversation"
NOTHING = "Nothing yet. What you ask is kept here, for this browser."
ANOTHERS = "Nothing of your own yet: the open conversation was begun in another browser."


def follow_address(library: Library, visitor: Visitor) -> None:
    """Open the conversation that the address names, unless this visit has shown it before.

    The address lags behind the screen: after a click that leaves a conversation it still names it.
    """
    named = st.query_params.get(ADDRESS, "")
    if named and named not in visitor.now.visited:
        visitor.update(VisitorSession.visit, named)
        open_conversation(library, visitor, named)


def open_conversation(library: Library, visitor: Visitor, identifier: str) -> None:
    """Show a stored conversation and its running question; note an error or a missing conversation."""
    # Looked up before the store is read: an answer that completes in between is in both, and shown once.
    under_way = jobs().under_way(identifier)
    try:
        store = library.conversations()
        stored = store.read(identifier) if is_id(identifier) else None
        is_others = stored is not None and is_anothers(store, visitor, identifier)
        is_imported = stored is not None and store.is_imported(identifier)
        over = store.library_of(identifier) if stored else ""
        check_may_read(library, visitor, over)
        lost = store.lost_question(identifier, jobs().server) if stored else ""
    except AssistantError as error:
        visitor.update(VisitorSession.turn_to, notes=(str(error),))
        return
    if stored is None:
        visitor.update(VisitorSession.turn_to)
        visitor.update(VisitorSession.miss, identifier)
        return
    _turn_to(visitor, stored)
    visitor.update(VisitorSession.set_library, over)
    if job := jobs().get(under_way):
        visitor.update(VisitorSession.begin, under_way, job.view().replaces)
    elif lost:
        visitor.update(VisitorSession.refuse, Failure(lost, LEFT))
    visitor.update(VisitorSession.set_origin, is_anothers=is_others, is_imported=is_imported)


def _turn_to(visitor: Visitor, stored: StoredConversation) -> None:
    """Show the turns of a conversation that can be drawn, with a note for each that cannot."""
    conversation, faults = drawable(stored.conversation)
    visitor.update(VisitorSession.turn_to, conversation, notes=(*stored.faults, *faults))


def undo(library: Library, visitor: Visitor) -> None:
    """Remove the last turn, in the store too; it can be put back until another question is asked."""
    if not visitor.now.turns or visitor.now.job_id:
        return
    last, identifier = visitor.now.turns[-1], visitor.now.conversation_id
    if _change_stored(library, visitor, last, lambda store: store.remove_turn(identifier, last)):
        visitor.update(VisitorSession.remove_last_turn)


def put_back(library: Library, visitor: Visitor) -> None:
    """Append the turn that was removed last to the conversation, in the store too."""
    if visitor.now.removed_turn is None or visitor.now.job_id:
        return
    turn = visitor.now.removed_turn.turn
    kept = keep_of(library, visitor, turn.question)(turn)
    visitor.update(VisitorSession.put_back, turn)
    visitor.update(VisitorSession.store, kept.unkept, kept.problem)


def change_turn(library: Library, visitor: Visitor, before: Turn, after: Turn) -> None:
    """Replace turn `before` by `after`, in the store and on the screen; on failure add a note."""
    identifier = visitor.now.conversation_id
    if _change_stored(library, visitor, before, lambda store: store.change_turn(identifier, before, after)):
        visitor.update(VisitorSession.change, before, after)


def _change_stored(
    library: Library, visitor: Visitor, turn: Turn, change: Callable[[ConversationStore], object]
) -> bool:
    """Apply `change` to the store if the turn is stored; on failure add a note and return False."""
    try:
        if visitor.now.is_kept:
            store = library.conversations()
            check_own(store, visitor, visitor.now.conversation_id)
            if not holds(visitor.now.unkept, turn):
                change(store)
    except AssistantError as error:
        visitor.update(VisitorSession.note, str(error))
        return False
    return True


def address_of(visitor: Visitor) -> str:
    """Return the conversation id for the page's address, "" for none."""
    return visitor.now.missing_id or (visitor.now.conversation_id if visitor.now.is_kept else "")


def draw_notes(library: Library, visitor: Visitor) -> None:
    """Draw the notes on the conversation: a missing one, faults, and answers that are not stored."""
    if visitor.now.missing_id:
        draw_missing(ADDRESS, visitor.updating(VisitorSession.turn_to))
    # draw_failure shows this message below its question.
    shown_below = visitor.now.failure.message if visitor.now.failure else ""
    notes = [note for note in visitor.now.notes if note != shown_below]
    if not (notes or visitor.now.unkept):
        return
    with st.container(border=True, key="notes"):
        for note in notes:
            st.markdown(escaped(note))
        if unkept := visitor.now.unkept:
            st.caption(
                f"{counted(len(unkept), 'answer')} of this conversation would be lost by a reload. "
                "The trail can be downloaded now."
            )
            st.button(
                "Try to store it again", key="store_again", on_click=store_again, args=(library, visitor)
            )


def store_again(library: Library, visitor: Visitor) -> None:
    """Store the turns that are not stored yet, as a new conversation if theirs is not in the store."""
    now = visitor.now
    kept = Kept()
    try:
        store = library.conversations()
        if now.is_kept and store.read(now.conversation_id):
            if now.unkept:
                *before, last = now.unkept
                by = current_owners(visitor)
                kept = TurnKeeper(store, now.conversation_id, tuple(before), by=by).keep(last)
        else:
            owner = current_owner(visitor)
            stored = store.put(owner, now.conversation(), now.library_id, from_file=now.is_imported)
            visitor.update(VisitorSession.begin_storing, stored.id, now.title)
    except AssistantError as error:
        kept = Kept(now.unkept, str(error))
    visitor.update(VisitorSession.store, kept.unkept, kept.problem)


def draw_sidebar(library: Library, visitor: Visitor) -> None:
    """Draw the sidebar: this browser's conversations, the one last changed first."""
    draw_sidebar_list(
        SidebarList(
            ADDRESS,
            mark="",
            item=visitor,
            identifier=visitor.now.conversation_id,
            is_new=not (visitor.now.turns or visitor.now.job_id or visitor.now.missing_id),
            begin_new=visitor.updating(VisitorSession.turn_to),
            list=partial(_entries, library, visitor),
            open=partial(open_conversation, library, visitor),
            rename=partial(rename_stored, library.conversations, visitor),
            delete=partial(delete, library, visitor),
            import_file=partial(import_transcript, library, visitor),
            empty_note=ANOTHERS if visitor.now.is_anothers else NOTHING,
            link_note="Whoever has this link can read the conversation and continue it. Only this browser "
            "can rename, stop or delete it.",
            confirmation=f"Delete {counted(len(visitor.now.turns), 'answer')} for good?",
            import_note="A transcript that was downloaded as JSON becomes a conversation of yours.",
            imports=library.settings.uploads,
        )
    )


def _entries(library: Library, visitor: Visitor) -> list[Entry]:
    listed = listed_conversations(library.conversations(), current_owner(visitor))
    return [
        Entry(row.id, row.title, f"{counted(row.turns, 'answer')} · {day(row.updated)}") for row in listed
    ]


def listed_conversations(store: ConversationStore, owner: str) -> tuple[ConversationSummary, ...]:
    """Return an owner's conversations that have at least one answer."""
    return tuple(conversation for conversation in store.list(owner, MOST_LISTED) if conversation.turns)


def clear(library: Library, visitor: Visitor) -> None:
    """Delete the open conversation; on failure add a note."""
    try:
        delete(library, visitor)
    except AssistantError as error:
        visitor.update(VisitorSession.note, str(error))


def delete(library: Library, visitor: Visitor) -> None:
    """Stop the running question and delete the open conversation; raises AssistantError."""
    store = library.conversations() if visitor.now.is_kept else None
    delete_stored(store, visitor, visitor.now.conversation_id, jobs().get(visitor.now.job_id))
    visitor.update(VisitorSession.turn_to)


def import_transcript(library: Library, visitor: Visitor, data: bytes) -> None:
    """Store a transcript as one of the visitor's conversations and show it; or show why it is refused."""
    try:
        documents_limit().take(current_caller(visitor))
        read = read_conversation_file(visitor, data)
        over = library_of_import(library, visitor, read)
        owner, store = current_owner(visitor), library.conversations()
        stored = store.put(owner, read, over)
        keep_notes(library.reading(), owner, read, store, stored.id)
    except AssistantError as error:
        visitor.update(VisitorSession.refuse_import, str(error))
        return
    _turn_to(visitor, StoredConversation(stored))
    visitor.update(VisitorSession.set_library, over)
    visitor.update(VisitorSession.set_origin, is_imported=True)
