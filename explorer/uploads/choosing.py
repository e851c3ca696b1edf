"""The choice between the collection, uploads and kept libraries, and of documents in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from zlib import crc32

import streamlit as st

from assistant.storage.libraries import KeptLibrary
from corpus.records import UPLOADS, Scope
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value, has_field, set_field
from explorer.components.rows import action, row
from explorer.presenters.safe_text import escaped, shortened
from explorer.uploads.dialog import count_ready, open_documents
from explorer.uploads.kept import ask_kept, kept_libraries
from explorer.uploads.visit import ask_collection, ask_uploads
from explorer.uploads.wording import NOT_STORED, places_of

LabelVisibility = Literal["visible", "collapsed"]
# The collection's key in the menu; no library has this id.
COLLECTION = "collection"
TITLES_SHOWN = 12


@contextmanager
def look_in(library: Library, visitor: Visitor) -> Iterator[LabelVisibility]:
    """Draw a row for the content of the block and the button that opens the documents dialog.

    If there are uploads or kept libraries, the choice between them and the collection is drawn above it with
    the common label. Yields the label visibility for the block's own widget.
    """
    ready, kept = count_ready(), kept_libraries(library, visitor)
    has_choice = bool(ready or kept or visitor.now.library_id)
    if kept or visitor.now.library_id:
        _draw_places(visitor, ready, kept)
    elif ready:
        _draw_place(visitor, ready)
    with row("look_in", align="bottom"):
        yield "collapsed" if has_choice else "visible"
        changes = library.kept.is_own if library.kept else bool(ready)
        label = "Add or remove" if changes else "Documents" if library.kept else "Your documents"
        if library.settings.uploads or changes:
            action(label, "open_documents", open_documents, visitor, icon=":material/upload_file:")


def _draw_place(visitor: Visitor, ready: int) -> None:
    places = places_of(ready)
    # The key contains the current choice, which other screens may change.
    key = f"place_{int(visitor.now.is_private)}_{ready}"
    st.segmented_control(
        "Look in",
        places,
        default=places[visitor.now.is_private],
        required=True,
        key=key,
        disabled=bool(visitor.now.job_id),
        on_change=_choose,
        args=(visitor, key, places),
    )


def _choose(visitor: Visitor, key: str, places: tuple[str, str]) -> None:
    if field_value(key) == places[1]:
        ask_uploads(visitor)
    else:
        ask_collection(visitor)


def _draw_places(visitor: Visitor, ready: int, kept: tuple[KeptLibrary, ...]) -> None:
    """Draw the menu of the collection, uploads and kept libraries."""
    places = {COLLECTION: "The collection"} | {library.id: shortened(library.title, 80) for library in kept}
    places |= {UPLOADS: places_of(ready)[1]} if ready else {}
    now = visitor.now.library_id or (UPLOADS if visitor.now.is_private else COLLECTION)
    places.setdefault(now, "A library that is not here")
    # A menu with other names, as after a renaming, needs another key to keep the choice.
    key = f"place_menu_{visitor.now.opened}_{crc32(repr(places).encode())}_{now}"
    st.selectbox(
        "Look in",
        list(places),
        index=list(places).index(now),
        format_func=lambda place: places.get(place, place),
        key=key,
        disabled=bool(visitor.now.job_id),
        on_change=_choose_place,
        args=(visitor, key),
    )


def _choose_place(visitor: Visitor, key: str) -> None:
    chosen = field_value(key)
    if chosen == UPLOADS:
        ask_uploads(visitor)
    elif chosen == COLLECTION:
        ask_collection(visitor)
    elif chosen:
        ask_kept(visitor, str(chosen))


def draw_upload_scope(library: Library, visitor: Visitor) -> Scope:
    """Draw the chips of the documents; return the scope of the chosen ones, all if none is chosen."""
    titles = {paper.id: shortened(paper.title, 60) for paper in library.corpus.papers()}
    if visitor.now.asked_about and not has_field("scope_documents"):
        set_field("scope_documents", [paper_id for paper_id in visitor.now.asked_about if paper_id in titles])
    with look_in(library, visitor) as labelled:
        chosen = st.multiselect(
            "Look in",
            list(titles),
            format_func=lambda paper_id: titles.get(paper_id, paper_id),
            placeholder="All its documents" if library.kept else "All your documents",
            key="scope_documents",
            persist_state="session",
            label_visibility=labelled,
        )
    return Scope(papers=tuple(chosen))


def draw_upload_first_visit(library: Library) -> None:
    """Draw the titles of the documents before the first question."""
    papers = library.corpus.papers()
    if library.kept:
        st.title(f"Ask “{escaped(shortened(library.kept.title, 80))}”", anchor=False)
    else:
        st.title("Ask your documents" if len(papers) > 1 else "Ask your document", anchor=False)
    titles = [f"- {escaped(shortened(paper.title, 140))}" for paper in papers[:TITLES_SHOWN]]
    st.markdown("\n".join(titles))
    if len(papers) > TITLES_SHOWN:
        st.caption(f"and {len(papers) - TITLES_SHOWN:,} more")
    st.markdown("Every sentence of an answer leads to the passage that carries it.")


def draw_not_stored() -> None:
    """Draw the note that the conversation is not stored."""
    st.caption(NOT_STORED)
