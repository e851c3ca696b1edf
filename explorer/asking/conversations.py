"""Stored conversations: found by their address, listed in the left drawer, renamed, deleted, imported."""

from functools import partial

import streamlit as st

from assistant.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.records import AssistantError, Turn
from assistant.transcript import from_json
from explorer.parts.jobs import Keep
from explorer.parts.keeping import Keeper, Kept
from explorer.parts.safe_text import escaped
from explorer.parts.shelf import MOST_LISTED, Entry, Shelf, draw_shelf, is_id, text_of
from explorer.parts.soundness import sound
from explorer.parts.wording import counted, day
from explorer.reader import Reader, TakenOff, check_own, current_owner, is_anothers
from explorer.resources import Library, jobs

ADDRESS = "conversation"
NOTHING = "Nothing yet. What you ask is kept here, for this browser."
ANOTHERS = "Nothing of your own yet: the open conversation was begun in another browser."


def follow_address(library: Library, reader: Reader) -> None:
    """Open the conversation that the address names, unless this visit has shown it before.

    The address follows the screen with a delay: after a click that leaves a conversation it still names it.
    """
    named = st.query_params.get(ADDRESS, "")
    if named and named not in reader.visited:
        reader.visited.add(named)
        open_conversation(library, reader, named)


def open_conversation(library: Library, reader: Reader, identifier: str) -> None:
    """Show a stored conversation and the question of it that is being answered; or say that there is none."""
    # Before the store is read: an answer that is completed in between is found in both, and shown once.
    under_way = jobs().under_way(identifier)
    try:
        store = library.conversations()
        stored = store.read(identifier) if is_id(identifier) else None
        is_others = stored is not None and is_anothers(store, reader, identifier)
        is_imported = stored is not None and store.is_imported(identifier)
    except AssistantError as error:
        reader.turn_to(None, notes=(str(error),))
        return
    if stored is None:
        reader.turn_to(None)
        reader.missing_id = identifier
        return
    _turn_to(reader, stored)
    if job := jobs().get(under_way):
        reader.begin(under_way, job.replaces)
    reader.is_anothers, reader.is_imported = is_others, is_imported


def take_turns_from_elsewhere(library: Library, reader: Reader) -> None:
    """Add to the screen the turns that the store has and the screen has not: of another tab, or browser."""
    try:
        stored = library.conversations().read(reader.conversation_id) if reader.is_kept else None
    except AssistantError:
        return
    if stored:
        found = sound(stored.conversation)[0].turns
        new = (turn for turn in found if not any(turn.is_same_as(known) for known in reader.turns))
        reader.turns = (*reader.turns, *new)


def _turn_to(reader: Reader, stored: StoredConversation) -> None:
    """Show what can be drawn of a conversation, and say what cannot."""
    conversation, faults = sound(stored.conversation)
    reader.turn_to(conversation, notes=(*stored.faults, *faults))


def keep_of(library: Library, reader: Reader, question: str, replaces: Turn | None = None) -> Keep:
    """Return what stores the next turn of the reader's conversation; the first begins it in the store.

    A turn that replaces another takes its place there. What is asked of own documents is in no store.
    """
    if reader.is_private:
        return lambda _turn: Kept()
    try:
        store = library.conversations()
        if not reader.is_kept:
            begun = store.start(current_owner(reader), reader.title or reader.named_after(question))
            reader.conversation_id, reader.title, reader.is_kept = begun.id, begun.title, True
            reader.visited.add(begun.id)
    except AssistantError as error:
        unkept, problem = _without(reader.unkept, replaces), str(error)
        return lambda turn: Kept((*unkept, turn), problem)
    stored = None if replaces and _holds(reader.unkept, replaces) else replaces
    return Keeper(store, reader.conversation_id, _without(reader.unkept, replaces), stored).keep


def _without(turns: tuple[Turn, ...], turn: Turn | None) -> tuple[Turn, ...]:
    return tuple(one for one in turns if turn is None or not one.is_same_as(turn))


def _holds(turns: tuple[Turn, ...], turn: Turn) -> bool:
    return any(one.is_same_as(turn) for one in turns)


def undo(library: Library, reader: Reader) -> None:
    """Take the last question off the conversation, in the store too; or say why that cannot be.

    It can be put back until another question is asked.
    """
    if not reader.turns or reader.job_id:
        return
    last = reader.turns[-1]
    try:
        if reader.is_kept:
            check_own(library.conversations(), reader, reader.conversation_id)
            if not _holds(reader.unkept, last):
                library.conversations().remove_turn(reader.conversation_id, last)
    except AssistantError as error:
        reader.notes = (str(error),)
        return
    reader.turns, reader.unkept = reader.turns[:-1], _without(reader.unkept, last)
    reader.focus, reader.drawer_open, reader.failure, reader.shown_calls = None, False, None, 0
    reader.taken_off = TakenOff(last)


def put_back(library: Library, reader: Reader) -> None:
    """Put at the end of the conversation what was taken off it, in the store too."""
    if reader.taken_off is None or reader.job_id:
        return
    turn = reader.taken_off.turn
    kept = keep_of(library, reader, turn.question)(turn)
    reader.turns, reader.taken_off = (*reader.turns, turn), None
    reader.unkept, reader.notes = kept.unkept, (kept.problem,) if kept.problem else ()


def change_turn(library: Library, reader: Reader, before: Turn, after: Turn) -> None:
    """Have a turn as it is now in the store and on the screen; or say why that cannot be."""
    try:
        if reader.is_kept:
            check_own(library.conversations(), reader, reader.conversation_id)
            if not _holds(reader.unkept, before):
                library.conversations().change_turn(reader.conversation_id, before, after)
    except AssistantError as error:
        reader.notes = (str(error),)
        return
    reader.change(before, after)


def address_of(reader: Reader) -> str:
    """Return the conversation that the page's address is to name, "" for none."""
    return reader.missing_id or (reader.conversation_id if reader.is_kept else "")


def draw_notes(library: Library, reader: Reader) -> None:
    """Say what is wrong with the conversation as it is stored, and what can be done."""
    if reader.missing_id:
        with st.container(border=True, key="missing_conversation"):
            st.markdown(
                "No conversation is at this address. It may have been deleted, or the link is not whole."
            )
            st.button("Begin a new one", type="primary", key="begin_new", on_click=begin_new, args=(reader,))
    if not reader.notes:
        return
    with st.container(border=True, key="notes"):
        for note in reader.notes:
            st.markdown(escaped(note))
        if reader.unkept:
            st.caption(
                f"{counted(len(reader.unkept), 'answer')} of this conversation would be lost by a reload. "
                "The trail can be downloaded now."
            )
            st.button(
                "Try to store it again", key="store_again", on_click=store_again, args=(library, reader)
            )


def begin_new(reader: Reader) -> None:
    reader.turn_to(None)


def store_again(library: Library, reader: Reader) -> None:
    """Store what could not be stored; as a conversation of its own where there is none to add it to."""
    try:
        store = library.conversations()
        if reader.is_kept and store.read(reader.conversation_id):
            kept = _kept_again(store, reader)
        else:
            stored = store.put(current_owner(reader), reader.conversation(), from_file=False)
            reader.conversation_id, reader.is_kept, kept = stored.id, True, Kept()
            reader.visited.add(stored.id)
    except AssistantError as error:
        kept = Kept(reader.unkept, str(error))
    reader.unkept, reader.notes = kept.unkept, (kept.problem,) if kept.problem else ()


def _kept_again(store: ConversationStore, reader: Reader) -> Kept:
    if not reader.unkept:
        return Kept()
    *before, last = reader.unkept
    return Keeper(store, reader.conversation_id, tuple(before)).keep(last)


def draw_sidebar(library: Library, reader: Reader) -> None:
    """Draw the left drawer: this browser's conversations, the one last changed first."""
    draw_shelf(_shelf(library, reader))


def _shelf(library: Library, reader: Reader) -> Shelf:
    return Shelf(
        ADDRESS,
        mark="",
        now=reader,
        identifier=reader.conversation_id,
        is_new=not (reader.turns or reader.job_id or reader.missing_id),
        begin_new=partial(begin_new, reader),
        list=partial(_entries, library, reader),
        open=partial(open_conversation, library, reader),
        rename=partial(_rename, library, reader),
        delete=partial(delete, library, reader),
        take_in=partial(import_transcript, library, reader),
        nothing=ANOTHERS if reader.is_anothers else NOTHING,
        shared="Whoever has this link can read the conversation and continue it. Only this browser "
        "can rename, stop or delete it.",
        surely=f"Delete {counted(len(reader.turns), 'answer')} for good?",
        imported="A transcript that was downloaded as JSON becomes a conversation of yours.",
    )


def _entries(library: Library, reader: Reader) -> list[Entry]:
    listed = listed_conversations(library.conversations(), current_owner(reader))
    return [
        Entry(one.id, one.title, f"{counted(one.turns, 'answer')} · {day(one.updated)}") for one in listed
    ]


def listed_conversations(store: ConversationStore, owner: str) -> tuple[ConversationSummary, ...]:
    """Return an owner's conversations that have an answer."""
    return tuple(one for one in store.list(owner, MOST_LISTED) if one.turns)


def _rename(library: Library, reader: Reader, identifier: str, title: str) -> None:
    check_own(library.conversations(), reader, identifier)
    library.conversations().rename(identifier, title)


def clear(library: Library, reader: Reader) -> None:
    """Delete the conversation that is open; or say why it cannot be deleted."""
    try:
        delete(library, reader)
    except AssistantError as error:
        reader.notes = (str(error),)


def delete(library: Library, reader: Reader) -> None:
    """Delete the conversation that is open, and the question of it that is being answered."""
    if reader.is_kept:
        check_own(library.conversations(), reader, reader.conversation_id)
    if job := jobs().get(reader.job_id):
        job.stop()
    if reader.is_kept:
        library.conversations().delete(reader.conversation_id)
    reader.turn_to(None)


def import_transcript(library: Library, reader: Reader, data: bytes) -> None:
    """Store a transcript as a conversation of the reader's own and show it; or keep what is wrong with it."""
    try:
        stored = library.conversations().put(current_owner(reader), from_json(text_of(data)))
    except AssistantError as error:
        reader.import_problem = str(error)
        return
    _turn_to(reader, StoredConversation(stored))
    reader.is_imported = True
