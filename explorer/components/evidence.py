"""The source of a citation: its passage, scores and page, in a panel or, on a phone, in a drawer."""

from collections.abc import Callable
from typing import Protocol

import streamlit as st

from assistant.records import Citation, Turn
from assistant.storage.feedback import LONGEST_NOTE, mark_of
from assistant.wording import describe_unsaid
from corpus.sentences import with_formulas_named
from explorer.app.navigation import PAPER, link_to
from explorer.app.resources import Library
from explorer.components.page_image import EvidenceBoxes, save_button, show_strip
from explorer.components.passage_table import draw_passage_table
from explorer.components.score_bar import meaning, score_bars
from explorer.presenters.citations import (
    Source,
    cut_passage,
    passage_boxes,
    passage_page,
    passage_place,
    shorter_context,
)
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import short_reference


class Marks(Protocol):
    """The reader's marks of wrong citations in turn `number`."""

    @property
    def number(self) -> int: ...

    @property
    def turn(self) -> Turn: ...

    def add(self, citation: Citation, note: str) -> None: ...

    def take_back(self, citation: Citation) -> None: ...


def open_drawer(
    library: Library,
    find: Callable[[], Source | None],
    go_to: Callable[[int], None],
    dismissed: Callable[[], None],
    marks: Marks | None = None,
    *,
    where: str = "",
    below: Callable[[], None] | None = None,
) -> None:
    """Open a drawer with the source that `find` returns; `below` draws what follows it."""

    @st.dialog("Passage", position="right", width="medium", on_dismiss=dismissed)
    def drawer() -> None:
        if source := find():
            draw_source(library, source, "drawer", go_to, marks, where=where)
            if below:
                below()

    drawer()


def draw_source(
    library: Library,
    source: Source,
    place: str,
    go_to: Callable[[int], None],
    marks: Marks | None = None,
    *,
    where: str = "",
) -> None:
    """Draw the source of a citation; `go_to` is called with the number of a neighbouring citation.

    With `marks` the citation can be marked as wrong; `where` names the text it is in, "" to leave that out.
    """
    with st.container(key=f"evidence_{place}", gap="xsmall"):
        if where:
            st.caption(escaped(where))
        _draw_head(source, place, go_to)
        _draw_passage(library, source, place)
        if source.citation is None:
            st.caption("Not checked yet: scores and the exact sentence come when the answer is complete.")
        else:
            st.html(score_bars(source.citation.overlap, source.citation.support))
        if source.not_said:
            st.caption(escaped(describe_unsaid(source.not_said)))
        _draw_page(library, source, place)
        _draw_links(library, source, place)
        if marks and source.citation:
            _draw_mark(marks, source.citation, place, f"{marks.number}_{source.number}")


def _draw_head(source: Source, place: str, go_to: Callable[[int], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_head"):
        st.markdown(f"**Evidence for \\[{source.label}\\]**", width="stretch")
        _draw_neighbour(source, place, "Previous", "left", go_to)
        st.markdown(f"{source.number} of {source.count}", width="content")
        _draw_neighbour(source, place, "Next", "right", go_to)
    st.markdown(escaped(short_reference(source.paper)))
    if where := passage_place(source.passage, source.sentence):
        st.caption(escaped(where))


def _draw_neighbour(source: Source, place: str, name: str, side: str, go_to: Callable[[int], None]) -> None:
    """Draw the button to the previous or next citation; in the panel a key does the same."""
    number = source.number + (1 if name == "Next" else -1)
    has_key = place == "side"
    st.button(
        f":material/chevron_{side}:",
        key=f"{place}_{name.lower()}",
        help=f"{name} citation (key {name[0]})" if has_key else f"{name} citation",
        shortcut=name[0] if has_key else None,
        type="tertiary",
        disabled=not 1 <= number <= source.count,
        on_click=go_to,
        args=(number,),
    )


def _draw_passage(library: Library, source: Source, place: str) -> None:
    """Draw the passage as plain text with the supporting sentence marked, or as a table.

    Formulas are replaced by a name if the page is shown below.
    """
    if source.passage.table:
        draw_passage_table(source.passage, source.sentence, place, in_short=True)
        return
    is_shown = library.pdf_path(source.paper.pdf_sha256) is not None
    passage = with_formulas_named(source.passage) if is_shown else source.passage
    parts = shorter_context(cut_passage(passage, source.sentence))
    with st.container(key=f"reading_passage_{place}", gap="xsmall"):
        if parts.before:
            with st.container(key=f"context_before_{place}"):
                st.text(parts.before)
        if parts.sentence:
            with st.container(key=f"marked_sentence_{place}"):
                st.text(parts.sentence)
        if parts.after:
            with st.container(key=f"context_after_{place}"):
                st.text(parts.after)
        if source.is_supported_by_no_sentence:
            st.caption("No single sentence of this passage supports the claim.")


def _draw_page(library: Library, source: Source, place: str) -> None:
    path = library.pdf_path(source.paper.pdf_sha256)
    page = passage_page(source.passage, source.sentence)
    if path and page:
        show_strip(
            path,
            page,
            EvidenceBoxes(
                passage_boxes(source.passage, source.sentence),
                passage_boxes(source.passage, None),
                "Passage" if source.is_supported_by_no_sentence else "",
            ),
            place,
        )


def _draw_links(library: Library, source: Source, place: str) -> None:
    query = {"id": source.paper.id, "passage": str(source.passage.number)}
    if source.sentence is not None:
        query["sentence"] = str(source.sentence)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_links"):
        link_to(PAPER, "Open paper", icon=":material/article:", query_params=query)
        path = library.pdf_path(source.paper.pdf_sha256)
        if path:
            save_button(path, source.paper.id, f"{place}_pdf")
        with st.popover("What do these mean?", type="tertiary", key=f"{place}_meaning"):
            st.markdown(meaning())


def _draw_mark(marks: Marks, citation: Citation, place: str, which: str) -> None:
    """Draw the mark of a wrong citation with a button to remove it, or the form that sets it.

    `which` is part of the field's key, so that its text does not carry over to the next citation.
    """
    mark = mark_of(marks.turn, citation)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{place}_mark"):
        if mark is None:
            _draw_marking(marks, citation, place, which)
            return
        why = f": {mark.note}" if mark.note else "."
        st.caption(escaped(f"You marked this citation as wrong{why}"), width="content")
        if st.button("Take it back", key=f"{place}_unmark", type="tertiary"):
            marks.take_back(citation)
            st.rerun()


def _draw_marking(marks: Marks, citation: Citation, place: str, which: str) -> None:
    with (
        st.popover("Wrong citation", type="tertiary", icon=":material/flag:", key=f"{place}_wrong"),
        st.form(f"{place}_wrong_form", border=False),
    ):
        st.caption("This passage does not carry what the answer says:")
        st.text(shortened(citation.claim, 400))
        key = f"{place}_wrong_note_{which}"
        note = st.text_input("Why, if you like", key=key, max_chars=LONGEST_NOTE)
        if st.form_submit_button("Mark as wrong", key=f"{place}_wrong_mark"):
            marks.add(citation, note)
            st.rerun()
