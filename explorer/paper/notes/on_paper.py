"""A reader's own notes on the Paper screen: sentences marked, words on them, beside the text and above it."""

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
from explorer.app.session import Visitor, current_owner, field_value, forget_field, set_field
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
    """A visitor's notes on a paper, where they stand in its text now, and what draws one of them."""

    notes: tuple[Note, ...] = ()
    places: Mapping[str, tuple[Marked, ...]] = field(default_factory=dict)
    draw: Callable[[Note], None] = lambda _: None

    def on(self, passage_id: str) -> tuple[Note, ...]:
        """Return the notes whose words end in a passage: there they are shown."""
        ends = {one.id: places[-1].passage_id for one in self.notes if (places := self.places[one.id])}
        return tuple(one for one in self.notes if ends.get(one.id) == passage_id)

    def marks(self, passages: Sequence[Passage]) -> dict[str, frozenset[int]]:
        """Return the sentences that are marked of those passages of which some are."""
        places = [one for found in self.places.values() for one in found]
        sentences = {
            passage.id: [range(one.first, one.last + 1) for one in places if one.passage_id == passage.id]
            for passage in passages
        }
        return {name: frozenset(chain(*ranges)) for name, ranges in sentences.items() if ranges}

    @property
    def placeless(self) -> tuple[Note, ...]:
        """Return the notes on the paper as a whole, and those whose words are not in it any more."""
        return tuple(one for one in self.notes if not self.places[one.id])


def read_notes(library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage]) -> PaperNotes:
    """Return the visitor's notes on a paper; none, and that is said, where they cannot be read."""
    if is_upload(paper.id):
        return PaperNotes()
    try:
        notes = library.reading().annotations(current_owner(visitor), paper.id)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return PaperNotes()
    places = {one.id: place_of(one.record, passages) for one in notes}
    return PaperNotes(notes, places, partial(_draw_note, library, visitor))


def mark_selected(
    library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage], selected: Selected
) -> None:
    """Mark the sentences that selected words lie in, within the passage that they begin in."""
    shown = {one.anchor: one.passages for one in paper_sections(passages)}
    places = find_quoted(selected.quoted, shown.get(selected.section, passages))
    if not places:
        visitor.update(VisitorSession.fail_to_keep, "These words are not in the text as it is kept here.")
        return
    passage = next(one for one in passages if one.id == places[0].passage_id)
    note = _keep(library, visitor, _highlight(paper, passage, places[0].first, places[0].last))
    if note and selected.wants_note:
        edit_note(visitor, note)


def draw_keeping(
    library: Library, visitor: Visitor, paper: Paper, passages: Sequence[Passage], notes: PaperNotes
) -> None:
    """Draw what a reader can keep of a paper: the paper itself on the reading list, and notes on it."""
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
    """Draw the menu in which a note is written on the paper, or on a sentence chosen from its text.

    When it is opened it is drawn alone; the whole screen is when what it has `drawn` is no longer so.
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
            format_func=lambda at: _choice(*places[at]) if at >= 0 else WHOLE_PAPER,
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
    """Draw above the text the notes that have no place in it, and what went wrong."""
    if not is_upload(paper.id):
        with st.container(key="hears_selection"):
            draw_selection_bar(partial(mark_selected, library, visitor, paper, passages))
    if visitor.now.notes_problem:
        st.caption(escaped(visitor.now.notes_problem))
    if visitor.now.erased and visitor.now.erased.paper_id == paper.id:
        with row("erased_note"):
            st.caption("The note is deleted.", width="content")
            action("Put it back", "put_back_note", _put_back, library, visitor)
    for one in notes.placeless:
        if one.record.quoted:
            with st.container(key=f"lost_{one.id}", gap="xxsmall"):
                st.caption("These words are no longer in the text:")
                st.text(shortened(one.record.quoted, 400))
        notes.draw(one)


def _draw_places(paper: Paper, notes: PaperNotes) -> None:
    """Draw the way to each place that is marked."""
    with st.container(key="marked_places", gap="xxsmall"):
        for one in notes.notes:
            if places := notes.places[one.id]:
                _draw_way(paper, one.record, places[0])


def _draw_way(paper: Paper, note: Annotation, place: Marked) -> None:
    said = escaped(shortened(note.quoted, LONGEST_LINE))
    if note.note:
        said += f" :gray[{escaped(shortened(note.note, LONGEST_LINE))}]"
    number = str(parse_passage_id(place.passage_id)[1])
    query = {"id": paper.id, "passage": number, "sentence": str(place.first)}
    with st.container(key=f"similar_{note.id}"):
        link_to(PAPER, said, query_params=query)


def _draw_note(library: Library, visitor: Visitor, note: Note) -> None:
    """Draw a note with what can be done with it, or the field in which it is written at."""
    edited = visitor.now.edited
    with st.container(key=f"note_{note.id}", gap="xxsmall"):
        if edited and edited.id == note.id:
            _draw_editing(library, visitor, edited)
            return
        if note.record.note:
            st.text(note.record.note)
        with row(f"note_foot_{note.id}", gap="xsmall"):
            st.caption(_said_on(note), width="content")
            action(
                "Edit" if note.record.note else "Write a note", f"edit_{note.id}", edit_note, visitor, note
            )
            action("Delete", f"erase_{note.id}", _erase, library, visitor, note)


def _said_on(note: Note) -> str:
    """Return whose words a note's are, and what sentence they are on."""
    said = "Your note" if note.record.note else "Highlighted by you"
    return (
        f"{said} on “{escaped(shortened(note.record.quoted, LONGEST_HEAD))}”" if note.record.quoted else said
    )


def _draw_editing(library: Library, visitor: Visitor, edited: Note) -> None:
    if visitor.now.stands_elsewhere is not None:
        st.caption("Another tab has written this meanwhile; what you keep here takes its place:")
        st.text(visitor.now.stands_elsewhere or "nothing")
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
    at = field_value(f"note_place_{number}", -1)
    note = str(field_value(f"note_new_{number}") or "").strip()
    if at is None or at < 0:
        annotation = Annotation("", paper.id, paper.title)
    else:
        annotation = _highlight(paper, places[at][0], places[at][1], places[at][1])
    if not (note or annotation.quoted):
        visitor.update(VisitorSession.fail_to_keep, NOTHING)
        return
    _keep(library, visitor, replace(annotation, note=note))


def _keep(library: Library, visitor: Visitor, annotation: Annotation) -> Note | None:
    try:
        kept = library.reading().annotate(current_owner(visitor), annotation)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return None
    visitor.update(VisitorSession.keep_note)
    return kept


def edit_note(visitor: Visitor, note: Note) -> None:
    """Have a note written at, its field holding what it says."""
    set_field(_field(note), note.record.note)
    visitor.update(VisitorSession.edit, note)


def _write(library: Library, visitor: Visitor) -> None:
    edited = visitor.now.edited
    if edited is None:
        return
    said = str(field_value(_field(edited)) or "")
    if not said.strip() and not edited.record.quoted:
        visitor.update(VisitorSession.fail_to_keep, NOTHING)
        return

    def write(store: ReadingStore, owner: str) -> None:
        store.write_note(owner, edited, said)
        forget_field(_field(edited))
        visitor.update(VisitorSession.edit, None)

    was_deleted = not _changed(library, visitor, write) and visitor.now.edited is None
    # The note was deleted in another tab: save the text as a new note.
    anew = replace(edited.record, id="", note=said, made="", changed="")
    if was_deleted and _keep(library, visitor, anew):
        visitor.update(VisitorSession.fail_to_keep, WRITTEN_ANEW)


def _erase(library: Library, visitor: Visitor, note: Note) -> None:
    def erase(store: ReadingStore, owner: str) -> None:
        store.erase(owner, note)
        visitor.update(VisitorSession.erase, note.record)

    _changed(library, visitor, erase)


def _changed(library: Library, visitor: Visitor, change: Callable[[ReadingStore, str], None]) -> bool:
    """Change what is stored; where that cannot be, say why, and what another tab has made of the note."""
    try:
        change(library.reading(), current_owner(visitor))
    except ChangedElsewhereError as error:
        was_edited = visitor.now.edited is not None
        visitor.update(VisitorSession.meet, error.now if was_edited else None, str(error))
        return False
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return False
    return True


def _put_back(library: Library, visitor: Visitor) -> None:
    if visitor.now.erased and _keep(library, visitor, visitor.now.erased):
        visitor.update(VisitorSession.erase, None)
