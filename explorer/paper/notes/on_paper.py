"""A reader's notes on the Paper screen: highlighted sentences with or without a note, and their forms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import streamlit as st

from assistant.annotations import LONGEST_NOTE, Annotation, Marked, find_quoted, place_of, quoted_text
from assistant.records import AssistantError
from assistant.storage.reading import ChangedElsewhereError, Kept, ReadingStore
from corpus.records import Paper, Passage, is_upload, parse_passage_id
from explorer.app.navigation import PAPER, link_to
from explorer.app.resources import Library
from explorer.app.session import (
    FailureNote,
    Visitor,
    current_owner,
    field_value,
    forget_field,
    set_field,
)
from explorer.app.visitor.session import VisitorSession
from explorer.components.reading_list import draw_listing
from explorer.components.rows import action, menu, row
from explorer.paper.notes.selection import Selected, draw_selection_bar
from explorer.paper.sections import paper_sections
from explorer.presenters.safe_text import escaped, shortened

WHOLE_PAPER = "The paper as a whole"
NOTHING = "There is nothing to keep: write a note, or choose a sentence."
WRITTEN_ANEW = "This note had been deleted in another tab; what you wrote is kept as a new one."
LONGEST_CHOICE, LONGEST_LINE, LONGEST_HEAD = 160, 110, 60

Note = Kept[Annotation]


@dataclass(frozen=True, slots=True)
class PaperNotes:
    """A visitor's notes on a paper, their places in its text by note id, and a function that draws one."""

    notes: tuple[Note, ...] = ()
    places: Mapping[str, tuple[Marked, ...]] = field(default_factory=dict)
    draw: Callable[[Note], None] = lambda _: None

    def on(self, passage_id: str) -> tuple[Note, ...]:
        """Return the notes whose last marked sentence is in a passage, below which they are shown."""
        ends = {note.id: places[-1].passage_id for note in self.notes if (places := self.places[note.id])}
        return tuple(note for note in self.notes if ends.get(note.id) == passage_id)

    def marks(self, passages: Sequence[Passage]) -> dict[str, frozenset[int]]:
        """Return the marked sentences by passage id, for the passages that have any."""
        places = [mark for marks in self.places.values() for mark in marks]
        sentences = {
            passage.id: [range(mark.first, mark.last + 1) for mark in places if mark.passage_id == passage.id]
            for passage in passages
        }
        return {name: frozenset(chain(*ranges)) for name, ranges in sentences.items() if ranges}

    @property
    def placeless(self) -> tuple[Note, ...]:
        """Return the notes on the whole paper, and those whose sentences are no longer in the text."""
        return tuple(note for note in self.notes if not self.places[note.id])


def read_notes(library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage]) -> PaperNotes:
    """Return the visitor's notes on a paper, none if they cannot be read."""
    notes: tuple[Note, ...] = ()
    if not is_upload(paper.id):
        with FailureNote(visitor):
            notes = library.reading().annotations(current_owner(visitor), paper.id)
    places = {note.id: place_of(note.record, passages) for note in notes}
    return PaperNotes(notes, places, partial(_draw_note, library, visitor))


def mark_selected(
    library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage], selected: Selected
) -> None:
    """Store a highlight of the sentences of selected text, within the passage where it begins."""
    shown = {section.anchor: section.passages for section in paper_sections(passages)}
    places = find_quoted(selected.quoted, shown.get(selected.section, passages))
    if not places:
        visitor.update(VisitorSession.fail_to_keep, "These words are not in the text as it is kept here.")
        return
    passage = next(passage for passage in passages if passage.id == places[0].passage_id)
    note = _keep(library, visitor, _highlight(paper, passage, places[0].first, places[0].last))
    if note and selected.wants_note:
        edit_note(visitor, note)


def draw_keeping(
    library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage], notes: PaperNotes
) -> None:
    """Draw the actions that put the paper on the reading list and add notes."""
    draw_listing(library, visitor, paper)
    _draw_adding(library, visitor, paper, passages, notes, drawn=visitor.now)


@st.fragment
def _draw_adding(
    library: Library,
    visitor: Visitor,
    paper: Paper,
    passages: Sequence[Passage],
    notes: PaperNotes,
    *,
    drawn: VisitorSession,
) -> None:
    """Draw the menu with links to all notes, and the form of a new one on the paper or on a sentence.

    A fragment: opening it redraws it alone; the whole screen reruns once the session differs from `drawn`.
    """
    if visitor.now != drawn:
        st.rerun()
    name = f"Notes · {len(notes.notes)}" if notes.notes else "Add a note"
    key = f"notes_menu_{visitor.now.noted}"
    with menu(name, key, ":material/edit_note:") as is_drawn:
        if is_drawn:
            _draw_places(paper, notes)
            _draw_new_note(library, visitor, paper, passages)


def _draw_new_note(library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage]) -> None:
    number = visitor.now.noted
    with st.form("new_note", border=False):
        places = [(passage, n) for passage in passages for n in range(len(passage.sentences))]
        st.selectbox(
            "On",
            range(-1, len(places)),
            format_func=lambda index: _choice(*places[index]) if index >= 0 else WHOLE_PAPER,
            key=f"note_place_{number}",
            help="Type some of its words to find a sentence.",
        )
        st.text_area("Note", key=f"note_new_{number}", max_chars=LONGEST_NOTE, height=120)
        st.caption(
            "Only you see it. A sentence without a note is highlighted. Words that you select in the text "
            "can be marked there."
        )
        st.form_submit_button(
            "Keep", key="keep_note", on_click=_add, args=(library, visitor, paper, tuple(places), number)
        )


def draw_overview(
    library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage], notes: PaperNotes
) -> None:
    """Draw above the text the notes without a place in it, and any problem with notes."""
    if not is_upload(paper.id):
        with st.container(key="hears_selection"):
            draw_selection_bar(partial(mark_selected, library, visitor, paper, passages))
    if visitor.now.notes_problem:
        st.caption(escaped(visitor.now.notes_problem))
    if visitor.now.erased and visitor.now.erased.paper_id == paper.id:
        with row("erased_note"):
            st.caption("The note is deleted.", width="content")
            action("Put it back", "put_back_note", _restore, library, visitor)
    for note in notes.placeless:
        if note.record.quoted:
            with st.container(key=f"lost_{note.id}", gap="xxsmall"):
                st.caption("These words are no longer in the text:")
                st.text(shortened(note.record.quoted, 400))
        notes.draw(note)


def _draw_places(paper: Paper, notes: PaperNotes) -> None:
    """Draw a link to each marked place."""
    with st.container(key="marked_places", gap="xxsmall"):
        for note in (note.record for note in notes.notes):
            if places := notes.places[note.id]:
                label = escaped(shortened(note.quoted, LONGEST_LINE))
                if note.note:
                    label += f" :gray[{escaped(shortened(note.note, LONGEST_LINE))}]"
                number = str(parse_passage_id(places[0].passage_id)[1])
                query = {"id": paper.id, "passage": number, "sentence": str(places[0].first)}
                with st.container(key=f"similar_{note.id}"):
                    link_to(PAPER, label, query_params=query)


def _draw_note(library: Library, visitor: Visitor, note: Note) -> None:
    """Draw a note with its actions, or the form in which it is edited."""
    edited = visitor.now.edited
    with st.container(key=f"note_{note.id}", gap="xxsmall"):
        if edited and edited.id == note.id:
            _draw_editing(library, visitor, edited)
            return
        if note.record.note:
            st.text(note.record.note)
        with row(f"note_foot_{note.id}", gap="xsmall"):
            title, edit = (
                ("Your note", "Edit") if note.record.note else ("Highlighted by you", "Write a note")
            )
            if note.record.quoted:
                title += f" on “{escaped(shortened(note.record.quoted, LONGEST_HEAD))}”"
            st.caption(title, width="content")
            action(edit, f"edit_{note.id}", edit_note, visitor, note)
            action("Delete", f"erase_{note.id}", _erase, library, visitor, note)


def _draw_editing(library: Library, visitor: Visitor, edited: Note) -> None:
    if visitor.now.stored_text is not None:
        st.caption("Another tab has written this meanwhile; what you keep here takes its place:")
        st.text(visitor.now.stored_text or "nothing")
    with st.form(f"edit_form_{edited.id}", border=False):
        st.text_area("Note", key=_field(edited), max_chars=LONGEST_NOTE, height=120)
        with row(f"edit_foot_{edited.id}", gap="xsmall"):
            st.form_submit_button("Keep", key="keep_edited", on_click=_write, args=(library, visitor))
            cancel = visitor.updating(VisitorSession.edit)
            st.form_submit_button("Cancel", key="cancel_edit", type="tertiary", on_click=cancel, args=(None,))


def _field(note: Note) -> str:
    return f"note_text_{note.id}"


def _choice(passage: Passage, sentence: int) -> str:
    where = passage.section[-1].heading if passage.section else "Abstract"
    return f"{shortened(passage.sentence_text(sentence), LONGEST_CHOICE)} ({shortened(where, 40)})"


def _highlight(paper: Paper, passage: Passage, first: int, last: int) -> Annotation:
    quoted = quoted_text(passage, first, last)
    return Annotation("", paper.id, paper.title, passage.id, first, last, quoted)


def _add(
    library: Library, visitor: Visitor, paper: Paper, places: tuple[tuple[Passage, int], ...], number: int
) -> None:
    index = field_value(f"note_place_{number}", -1)
    note = str(field_value(f"note_new_{number}") or "").strip()
    if index is None or index < 0:
        annotation = Annotation("", paper.id, paper.title)
    else:
        annotation = _highlight(paper, places[index][0], places[index][1], places[index][1])
    if not (note or annotation.quoted):
        visitor.update(VisitorSession.fail_to_keep, NOTHING)
        return
    _keep(library, visitor, replace(annotation, note=note))


def _keep(library: Library, visitor: Visitor, annotation: Annotation) -> Note | None:
    """Store a new note and return it, None if that fails."""
    stored: Note | None = None
    with FailureNote(visitor):
        stored = library.reading().annotate(current_owner(visitor), annotation)
        visitor.update(VisitorSession.keep_note)
    return stored


def edit_note(visitor: Visitor, note: Note) -> None:
    """Start editing a note, with its text in the field."""
    set_field(_field(note), note.record.note)
    visitor.update(VisitorSession.edit, note)


def _write(library: Library, visitor: Visitor) -> None:
    edited = visitor.now.edited
    if edited is None:
        return
    text = str(field_value(_field(edited)) or "")
    if not text.strip() and not edited.record.quoted:
        visitor.update(VisitorSession.fail_to_keep, NOTHING)
        return

    def write(store: ReadingStore, owner: str) -> None:
        store.write_note(owner, edited, text)
        forget_field(_field(edited))
        visitor.update(VisitorSession.edit, None)

    was_deleted = not _change_stored(library, visitor, write) and visitor.now.edited is None
    # The note was deleted in another tab: save the text as a new note.
    new_note = replace(edited.record, id="", note=text, made="", changed="")
    if was_deleted and _keep(library, visitor, new_note):
        visitor.update(VisitorSession.fail_to_keep, WRITTEN_ANEW)


def _erase(library: Library, visitor: Visitor, note: Note) -> None:
    def erase(store: ReadingStore, owner: str) -> None:
        store.erase(owner, note)
        visitor.update(VisitorSession.erase, note.record)

    _change_stored(library, visitor, erase)


def _change_stored(library: Library, visitor: Visitor, change: Callable[[ReadingStore, str], None]) -> bool:
    """Apply `change` to the store; on failure show the reason and another tab's text, and return False."""
    try:
        change(library.reading(), current_owner(visitor))
    except ChangedElsewhereError as error:
        was_edited = visitor.now.edited is not None
        visitor.update(VisitorSession.show_conflict, error.now if was_edited else None, str(error))
        return False
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return False
    return True


def _restore(library: Library, visitor: Visitor) -> None:
    if visitor.now.erased and _keep(library, visitor, visitor.now.erased):
        visitor.update(VisitorSession.erase, None)
