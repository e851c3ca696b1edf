"""The evidence panel: where a citation leads, beside the answer or, on a phone, in a drawer over it."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from assistant.feedback import LONGEST_NOTE, mark_of
from assistant.records import Citation
from explorer.asking.conversations import ADDRESS, address_of
from explorer.asking.feedback import Marks, marks_of
from explorer.navigation import PAPER
from explorer.parts.citations import (
    Source,
    cut_passage,
    draft_source,
    parse_cite,
    passage_boxes,
    passage_page,
    passage_place,
    shorter_context,
    sources,
)
from explorer.parts.listener import Heard, listen
from explorer.parts.page_image import save_button, show_strip
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.score_bar import meaning, score_bars
from explorer.parts.wording import short_reference
from explorer.reader import Focus, Reader
from explorer.resources import Library, jobs


@st.fragment
def render_evidence(library: Library, reader: Reader) -> None:
    """Draw the panel for the citation in focus, and listen for clicks on citations."""
    is_new = reader.job_id or (reader.failure and reader.failure.question)
    asked = f"question_{len(reader.turns) + 1}" if is_new and reader.turns else ""
    heard = listen(
        "citation_listener",
        narrow=reader.narrow,
        show=asked,
        place=address_of(reader),
        address={ADDRESS: address_of(reader)},
        is_new_entry=False,
        hears="clicks",
    )
    take_heard(reader, heard)
    source = source_in_focus(reader)
    if reader.narrow:
        if source and reader.drawer_open:
            marks = marks_of(library, reader)
            open_drawer(library, partial(source_in_focus, reader), _go_to(reader), reader.close_drawer, marks)
        return
    with st.container(key="evidence_panel", gap="xsmall"):
        if source:
            draw_source(library, source, "side", _go_to(reader), marks_of(library, reader))
        elif has_numbers(reader):
            st.caption("Click a number in the answer to read the passage that carries it.")


def has_numbers(reader: Reader) -> bool:
    """Return whether the latest answer has citations to click; one being written has none for certain."""
    return bool(reader.turns and not reader.job_id and sources(reader.turns[-1]))


def take_heard(reader: Reader, heard: Heard) -> None:
    """Move the focus to the citation that was clicked, where this conversation has it."""
    reader.narrow = heard.narrow
    if cite := parse_cite(heard.cite):
        look_at(reader, *cite)


def look_at(reader: Reader, turn: int, number: int) -> None:
    """Put citation `number` of a turn into focus; one that does not exist changes nothing."""
    before = reader.focus
    reader.focus = Focus(turn, number)
    if source_in_focus(reader) is None:
        reader.focus = before
        return
    reader.drawer_open = True


def source_in_focus(reader: Reader) -> Source | None:
    """Return what the citation in focus leads to, in a finished answer or in the one being written."""
    focus = reader.focus
    if focus is None:
        return None
    if 1 <= focus.turn <= len(reader.turns):
        found = sources(reader.turns[focus.turn - 1])
        return found[focus.number - 1] if 1 <= focus.number <= len(found) else None
    job = jobs().get(reader.job_id) if focus.turn == len(reader.turns) + 1 else None
    view = job.view() if job else None
    return draft_source(view.text, view.papers, focus.number) if view and view.papers else None


def _go_to(reader: Reader) -> Callable[[int], None]:
    """Return what puts another citation of the text in focus there, by its number."""
    return partial(look_at, reader, reader.focus.turn if reader.focus else 0)


def open_drawer(
    library: Library,
    find: Callable[[], Source | None],
    go_to: Callable[[int], None],
    dismissed: Callable[[], None],
    marks: Marks | None = None,
) -> None:
    """Show the passage of the source that `find` returns in a drawer over the screen."""

    @st.dialog("Passage", position="right", width="medium", on_dismiss=dismissed)
    def drawer() -> None:
        if source := find():
            draw_source(library, source, "drawer", go_to, marks)

    drawer()


def draw_source(
    library: Library,
    source: Source,
    place: str,
    go_to: Callable[[int], None],
    marks: Marks | None = None,
) -> None:
    """Draw where a citation leads; `go_to` is called with the number of a neighbour that is wanted.

    With `marks` the citation can be marked as wrong.
    """
    with st.container(key=f"evidence_{place}", gap="xsmall"):
        _draw_head(source, place, go_to)
        _draw_passage(source, place)
        _draw_scores(source.citation)
        _draw_page(library, source, place)
        _draw_doors(library, source, place)
        if marks and source.citation:
            _draw_mark(marks, source.citation, place, f"{marks.number}_{source.number}")


def _draw_head(source: Source, place: str, go_to: Callable[[int], None]) -> None:
    has_keys = place == "side"  # A drawer is drawn where there is hardly a keyboard.
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_head"):
        st.markdown(f"**Evidence for \\[{source.label}\\]**", width="stretch")
        st.button(
            ":material/chevron_left:",
            key=f"{place}_previous",
            help="Previous citation (key P)" if has_keys else "Previous citation",
            shortcut="P" if has_keys else None,
            type="tertiary",
            disabled=source.number <= 1,
            on_click=go_to,
            args=(source.number - 1,),
        )
        st.markdown(f"{source.number} of {source.count}", width="content")
        st.button(
            ":material/chevron_right:",
            key=f"{place}_next",
            help="Next citation (key N)" if has_keys else "Next citation",
            shortcut="N" if has_keys else None,
            type="tertiary",
            disabled=source.number >= source.count,
            on_click=go_to,
            args=(source.number + 1,),
        )
    st.markdown(escaped(short_reference(source.paper)))
    if where := passage_place(source.passage, source.sentence):
        st.caption(escaped(where))


def _draw_passage(source: Source, place: str) -> None:
    """Draw the passage as plain text, the sentence that carries the claim marked."""
    parts = shorter_context(cut_passage(source.passage, source.sentence))
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
        if source.is_carried_by_no_sentence:
            st.caption("No single sentence of this passage carries the claim.")


def _draw_scores(citation: Citation | None) -> None:
    if citation is None:
        st.caption("Not checked yet: scores and the exact sentence come when the answer is complete.")
        return
    st.html(score_bars(citation.overlap, citation.support))


def _draw_page(library: Library, source: Source, place: str) -> None:
    path = library.pdf_path(source.paper.pdf_sha256)
    page = passage_page(source.passage, source.sentence)
    if path and page:
        boxes = passage_boxes(source.passage, source.sentence)
        show_strip(path, page, boxes, place, are_marked=not source.is_carried_by_no_sentence)


def _draw_doors(library: Library, source: Source, place: str) -> None:
    query = {"id": source.paper.id, "passage": str(source.passage.number)}
    if source.sentence is not None:
        query["sentence"] = str(source.sentence)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_doors"):
        st.page_link(PAPER, label="Open paper", icon=":material/article:", query_params=query)
        path = library.pdf_path(source.paper.pdf_sha256)
        if path:
            save_button(path, source.paper.id, f"{place}_pdf")
        with st.popover("What do these mean?", type="tertiary", key=f"{place}_meaning"):
            st.markdown(meaning())


def _draw_mark(marks: Marks, citation: Citation, place: str, which: str) -> None:
    """Draw how a citation was marked as wrong, with the way back, or the field to mark it.

    `which` is in the field's key: what was written for one citation is not for the next.
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
