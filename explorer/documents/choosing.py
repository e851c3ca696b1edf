"""Where to look, where there are own documents: in the collection, or in these, and in which of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from corpus.records import Scope
from explorer.documents.panel import how_many_ready, open_documents
from explorer.documents.visit import ask_collection, ask_own
from explorer.documents.wording import NOT_STORED, places_of
from explorer.parts.safe_text import escaped, shortened
from explorer.reader import Reader
from explorer.resources import Library

LabelVisibility = Literal["visible", "collapsed"]


@contextmanager
def look_in(reader: Reader) -> Iterator[LabelVisibility]:
    """Draw the way to the visitor's documents beside what is drawn within: the choice of where to look.

    Where there are some, the choice between them and the collection stands above, with the label of both:
    what is drawn within shows its own label as it is told.
    """
    ready = how_many_ready()
    if ready:
        _draw_place(reader, ready)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="look_in"):
        yield "collapsed" if ready else "visible"
        st.button(
            "Add or remove" if ready else "Your documents",
            icon=":material/upload_file:",
            key="open_documents",
            type="tertiary",
            on_click=open_documents,
            args=(reader,),
        )


def _draw_place(reader: Reader, ready: int) -> None:
    places = places_of(ready)
    # The key follows the place: a question about a paper may have changed it.
    key = f"place_{int(reader.is_private)}_{ready}"
    st.segmented_control(
        "Look in",
        places,
        default=places[reader.is_private],
        required=True,
        key=key,
        disabled=bool(reader.job_id),
        on_change=_choose,
        args=(reader, key, places),
    )


def _choose(reader: Reader, key: str, places: tuple[str, str]) -> None:
    if st.session_state.get(key) == places[1]:
        ask_own(reader)
    else:
        ask_collection(reader)


def draw_own_scope(library: Library, reader: Reader) -> Scope:
    """Draw the chips of the documents; return the scope of those that are chosen, all where none is."""
    titles = {paper.id: shortened(paper.title, 60) for paper in library.corpus.papers()}
    if reader.asked_about and "scope_documents" not in st.session_state:
        st.session_state["scope_documents"] = [one for one in reader.asked_about if one in titles]
    with look_in(reader) as labelled:
        chosen = st.multiselect(
            "Look in",
            list(titles),
            format_func=lambda one: titles.get(one, one),
            placeholder="All your documents",
            key="scope_documents",
            persist_state="session",
            label_visibility=labelled,
        )
    return Scope(papers=tuple(chosen))


def draw_own_first_visit(library: Library) -> None:
    """Say what is asked, where nothing has been asked of it yet."""
    papers = library.corpus.papers()
    st.title("Ask your documents" if len(papers) > 1 else "Ask your document", anchor=False)
    st.markdown("\n".join(f"- {escaped(shortened(paper.title, 140))}" for paper in papers))
    st.markdown("Every sentence of an answer leads to the passage that carries it.")


def draw_not_stored() -> None:
    """Say that the conversation is in no store."""
    st.caption(NOT_STORED)
