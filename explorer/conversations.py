"""Stored conversations: found by their address, listed in the left drawer, renamed, deleted, imported."""

import re

import streamlit as st

from assistant.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.records import AssistantError
from assistant.transcript import from_json
from explorer.parts.jobs import Keep
from explorer.parts.keeping import Keeper, Kept
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.soundness import sound
from explorer.parts.wording import counted, day
from explorer.reader import Reader, current_owner
from explorer.resources import Library, jobs

ADDRESS = "conversation"
LISTED = 20
MOST_LISTED = 200
LARGEST_IMPORT_MB = 20
LONGEST_TITLE = 120

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


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
        stored = library.conversations().read(identifier) if _ID.fullmatch(identifier) else None
    except AssistantError as error:
        reader.turn_to(None, notes=(str(error),))
        return
    if stored is None:
        reader.turn_to(None)
        reader.missing_id = identifier
        return
    _turn_to(reader, stored)
    reader.job_id = under_way
    reader.is_anothers = _is_anothers(library.conversations(), reader)


def _is_anothers(store: ConversationStore, reader: Reader) -> bool:
    """Tell whether the conversation is not among the reader's own, where all of these are listed."""
    try:
        own = {one.id for one in store.list(current_owner(reader), MOST_LISTED)}
    except AssistantError:
        return False
    return len(own) < MOST_LISTED and reader.conversation_id not in own


def take_turns_from_elsewhere(library: Library, reader: Reader) -> None:
    """Add to the screen the turns that the store has and the screen has not: of another tab, or browser."""
    try:
        stored = library.conversations().read(reader.conversation_id) if reader.is_kept else None
    except AssistantError:
        return
    if stored:
        known = {(turn.asked, turn.question) for turn in reader.turns}
        found = sound(stored.conversation)[0].turns
        new = (turn for turn in found if (turn.asked, turn.question) not in known)
        reader.turns = (*reader.turns, *new)


def _turn_to(reader: Reader, stored: StoredConversation) -> None:
    """Show what can be drawn of a conversation, and say what cannot."""
    conversation, faults = sound(stored.conversation)
    reader.turn_to(conversation, notes=(*stored.faults, *faults))


def keep_of(library: Library, reader: Reader, question: str) -> Keep:
    """Return what stores the turns of the reader's conversation, which begins in the store with its first."""
    try:
        store = library.conversations()
        if not reader.is_kept:
            begun = store.start(current_owner(reader), reader.title or reader.named_after(question))
            reader.conversation_id, reader.title, reader.is_kept = begun.id, begun.title, True
            reader.visited.add(begun.id)
    except AssistantError as error:
        unkept, problem = reader.unkept, str(error)
        return lambda turn: Kept((*unkept, turn), problem)
    return Keeper(store, reader.conversation_id, reader.unkept).keep


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
            stored = store.put(current_owner(reader), reader.conversation())
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
    with st.sidebar, st.container(key="conversations", gap="xsmall"):
        st.subheader("Conversations", anchor=False)
        st.button(
            "New conversation",
            icon=":material/add:",
            key="new_conversation",
            type="tertiary",
            disabled=not (reader.turns or reader.job_id or reader.missing_id),
            on_click=begin_new,
            args=(reader,),
        )
        try:
            listed = listed_conversations(library.conversations(), current_owner(reader))
        except AssistantError as error:
            st.caption(escaped(str(error)))
            return
        _draw_list(library, reader, listed)
        _draw_import(library, reader)


def listed_conversations(store: ConversationStore, owner: str) -> tuple[ConversationSummary, ...]:
    """Return an owner's conversations that have an answer."""
    return tuple(one for one in store.list(owner, MOST_LISTED) if one.turns)


def _draw_list(library: Library, reader: Reader, listed: tuple[ConversationSummary, ...]) -> None:
    if not listed:
        st.caption(
            "Nothing of your own yet: the open conversation was begun in another browser."
            if reader.is_anothers
            else "Nothing yet. What you ask is kept here, for this browser."
        )
    shown = listed if st.session_state.get("list_all") else listed[:LISTED]
    for one in shown:
        if one.id == reader.conversation_id:
            _draw_current(library, reader, one)
        else:
            st.button(
                _label(one),
                key=f"open_{one.id}",
                type="tertiary",
                width="stretch",
                on_click=open_conversation,
                args=(library, reader, one.id),
            )
    if len(listed) > LISTED:
        st.toggle(f"Show all {len(listed)}", key="list_all", persist_state="session")


def _label(one: ConversationSummary) -> str:
    return escaped(shortened(one.title, 70)) or "Without a title"


def _draw_current(library: Library, reader: Reader, one: ConversationSummary) -> None:
    """Draw the conversation that is open, with what can be done with it."""
    with st.container(key="current_conversation", gap="xxsmall"):
        st.markdown(f"**{_label(one)}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(f"{counted(one.turns, 'answer')} · {day(one.updated)}", width="content")
            with st.popover("More", type="tertiary", key="conversation_more"):
                _draw_rename(library, reader)
                st.caption("Whoever has this link can read, continue and delete the conversation:")
                st.code(
                    f"{_page_address()}?{ADDRESS}={reader.conversation_id}", language=None, wrap_lines=True
                )
                draw_deletion(library, reader, "drawer")


def _page_address() -> str:
    return str(st.context.url or "").partition("?")[0]


def _draw_rename(library: Library, reader: Reader) -> None:
    with st.form("rename_form", border=False):
        st.text_input("Title", value=reader.title, max_chars=LONGEST_TITLE, key=f"new_title_{reader.opened}")
        st.form_submit_button("Rename", key="rename", on_click=_rename, args=(library, reader))


def _rename(library: Library, reader: Reader) -> None:
    title = " ".join(str(st.session_state.get(f"new_title_{reader.opened}") or "").split())
    if not title:
        return
    try:
        library.conversations().rename(reader.conversation_id, title)
    except AssistantError as error:
        reader.notes = (str(error),)
        return
    reader.title = title


def draw_deletion(library: Library, reader: Reader, place: str) -> None:
    """Offer to delete the conversation, and ask once: it cannot be had back."""
    if not reader.wants_deletion:
        st.button("Delete this conversation", key=f"delete_{place}", type="tertiary",
                  icon=":material/delete:", on_click=_want_deletion, args=(reader, True))  # fmt: skip
        return
    st.markdown(f"Delete {counted(len(reader.turns), 'answer')} for good?")
    with st.container(horizontal=True):
        st.button(
            "Delete", key=f"delete_surely_{place}", type="primary", on_click=delete, args=(library, reader)
        )
        st.button("Keep", key=f"delete_not_{place}", on_click=_want_deletion, args=(reader, False))


def _want_deletion(reader: Reader, wanted: bool) -> None:
    reader.wants_deletion = wanted


def delete(library: Library, reader: Reader) -> None:
    """Delete the conversation that is open, and the question of it that is being answered."""
    if job := jobs().get(reader.job_id):
        job.stop()
    try:
        if reader.is_kept:
            library.conversations().delete(reader.conversation_id)
    except AssistantError as error:
        reader.notes, reader.wants_deletion = (str(error),), False
        return
    reader.turn_to(None)


def _draw_import(library: Library, reader: Reader) -> None:
    with st.popover("Import", icon=":material/upload:", type="tertiary", key="import_menu"):
        st.caption("A transcript that was downloaded as JSON becomes a conversation of yours.")
        key = f"import_{reader.imports}"
        st.file_uploader(
            "Transcript",
            type="json",
            key=key,
            max_upload_size=LARGEST_IMPORT_MB,
            label_visibility="collapsed",
            on_change=_take_import,
            args=(library, reader, key),
        )
        if reader.import_problem:
            st.caption(escaped(reader.import_problem))


def _take_import(library: Library, reader: Reader, key: str) -> None:
    if file := st.session_state.get(key):
        import_transcript(library, reader, file.getvalue())


def import_transcript(library: Library, reader: Reader, data: bytes) -> None:
    """Store a transcript as a conversation of the reader's own and show it; or keep what is wrong with it."""
    try:
        stored = library.conversations().put(current_owner(reader), from_json(text_of(data)))
    except AssistantError as error:
        reader.import_problem = str(error)
        return
    _turn_to(reader, StoredConversation(stored))
    # Another key is an empty field.
    reader.imports += 1


def text_of(data: bytes) -> str:
    """Return the text of a file that was chosen to be imported; raises AssistantError."""
    if len(data) > LARGEST_IMPORT_MB * 1024 * 1024:
        raise AssistantError(f"The file is larger than {LARGEST_IMPORT_MB} MB, the most that is read.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AssistantError("The file is not text. Choose one that was downloaded as JSON.") from error
