"""A paper's pages: a picture with the evidence boxed, or on demand the PDF itself in a viewer."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from corpus.records import Box, Paper, Passage
from explorer.parts.citations import passage_boxes, passage_page
from explorer.parts.page_image import pages_in, save_button, show_page
from explorer.reading.pdf_in_page import LARGEST_MB, fits_viewer, show_pdf

_PAGE, _PAGE_FOR, _VIEWER_FOR, _CLOSE = "page_shown", "page_shown_for", "viewer_open_for", "page_close_up"


@dataclass(frozen=True, slots=True)
class _Looking:
    """The page that is looked at, how many there are, and what is boxed."""

    page: int
    last: int
    boxes: tuple[Box, ...]


@st.fragment
def draw_pages(path: Path, paper: Paper, meant: Passage | None, sentence: int | None) -> None:
    """Draw one page of the PDF with a way to the others; it opens at the passage the address names."""
    last = max(1, pages_in(str(path)) or paper.page_count)
    first = min(last, (passage_page(meant, sentence) or 1) if meant else 1)
    address = f"{paper.id}#{meant.number if meant else ''}#{sentence}"
    if st.session_state.get(_PAGE_FOR) != address:
        st.session_state[_PAGE_FOR], st.session_state[_PAGE] = address, first
    page = max(1, min(last, int(st.session_state.get(_PAGE, first))))
    looking = _Looking(page, last, passage_boxes(meant, sentence) if meant else ())
    with st.container(key="pages", gap="xsmall"):
        if st.session_state.get(_VIEWER_FOR) == paper.id:
            _draw_viewer(path, paper, looking, f"viewer_{address}_{page}")
        else:
            _draw_picture(path, paper, looking)


def _draw_picture(path: Path, paper: Paper, looking: _Looking) -> None:
    is_close = bool(st.session_state.get(_CLOSE))
    with st.container(horizontal=True, vertical_alignment="center", key="page_turner"):
        _draw_turner(looking)
        st.button(
            "Whole page" if is_close else "Larger",
            icon=":material/zoom_out:" if is_close else ":material/zoom_in:",
            key="page_zoom",
            type="tertiary",
            on_click=_set,
            args=(_CLOSE, not is_close),
        )
    # Another key is another container, with a style of its own.
    with st.container(key="page_close" if is_close else "page_whole"):
        show_page(path, looking.page, looking.boxes)
    fits = fits_viewer(path)
    with st.container(horizontal=True, vertical_alignment="center", key="pdf_doors"):
        st.button(
            "Open in viewer",
            key="open_viewer",
            type="tertiary",
            icon=":material/picture_as_pdf:",
            disabled=not fits,
            help=None if fits else f"The PDF is larger than {LARGEST_MB} MB: save it to read it.",
            on_click=_set,
            args=(_VIEWER_FOR, paper.id),
        )
        save_button(path, paper.id, "save_pdf")


def _draw_viewer(path: Path, paper: Paper, looking: _Looking, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="page_turner"):
        _draw_turner(looking)
    show_pdf(path, looking.page, looking.boxes, looking.last, key=key)
    with st.container(horizontal=True, vertical_alignment="center", key="pdf_doors"):
        st.button(
            "Close the viewer",
            key="close_viewer",
            type="tertiary",
            icon=":material/close:",
            on_click=_set,
            args=(_VIEWER_FOR, ""),
        )
        save_button(path, paper.id, "save_pdf")


def _draw_turner(looking: _Looking) -> None:
    """Draw the way to the page before, to any by its number, and to the next."""
    page, last = looking.page, looking.last
    _turn_button(":material/chevron_left:", "Previous page", "Left", page - 1, enabled=page > 1)
    if last > 1:
        # What is shown counts: the field follows it, and says what is wanted when it is changed.
        st.session_state["page_wanted"] = page
        st.number_input(
            "Page",
            1,
            last,
            key="page_wanted",
            width=110,
            label_visibility="collapsed",
            on_change=_turn_as_wanted,
        )
    st.markdown(f"of {last}" if last > 1 else "One page", width="content")
    _turn_button(":material/chevron_right:", "Next page", "Right", page + 1, enabled=page < last)


def _turn_button(label: str, meaning: str, shortcut: str, page: int, *, enabled: bool) -> None:
    st.button(
        label,
        key=meaning.replace(" ", "_").lower(),
        help=f"{meaning} ({'←' if shortcut == 'Left' else '→'})",
        type="tertiary",
        disabled=not enabled,
        shortcut=shortcut,
        on_click=_set,
        args=(_PAGE, page),
    )


def _turn_as_wanted() -> None:
    st.session_state[_PAGE] = int(st.session_state.get("page_wanted") or 1)


def _set(name: str, value: object) -> None:
    st.session_state[name] = value
