"""A paper's pages: a picture with the evidence boxed, or on demand the PDF itself in a viewer."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from corpus.records import Box, Paper, Passage
from explorer.app.session import field_value, set_field
from explorer.components.page_image import pages_in, save_button, show_page
from explorer.components.rows import action, row
from explorer.paper.pdf_in_page import LARGEST_MB, fits_viewer, show_pdf
from explorer.presenters.citations import passage_boxes, passage_page

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
    if field_value(_PAGE_FOR) != address:
        set_field(_PAGE_FOR, address)
        set_field(_PAGE, first)
    page = max(1, min(last, int(field_value(_PAGE, first))))
    looking = _Looking(page, last, passage_boxes(meant, sentence) if meant else ())
    with st.container(key="pages", gap="xsmall"):
        if field_value(_VIEWER_FOR) == paper.id:
            with row("page_turner"):
                _draw_turner(looking)
            show_pdf(path, page, looking.boxes, last, key=f"viewer_{address}_{page}")
        else:
            _draw_picture(path, looking)
        with row("pdf_links"):
            _draw_viewer_button(path, paper)
            save_button(path, paper.id, "save_pdf")


def _draw_picture(path: Path, looking: _Looking) -> None:
    is_close = bool(field_value(_CLOSE))
    with row("page_turner"):
        _draw_turner(looking)
        zoom, sign = ("Whole page", "out") if is_close else ("Larger", "in")
        action(zoom, "page_zoom", set_field, _CLOSE, not is_close, icon=f":material/zoom_{sign}:")
    # Another key is another container, with a style of its own.
    with st.container(key="page_close" if is_close else "page_whole"):
        show_page(path, looking.page, looking.boxes)


def _draw_viewer_button(path: Path, paper: Paper) -> None:
    """Draw the button that opens the PDF itself, or closes it again."""
    if field_value(_VIEWER_FOR) == paper.id:
        action("Close the viewer", "close_viewer", set_field, _VIEWER_FOR, "", icon=":material/close:")
        return
    look = {"icon": ":material/picture_as_pdf:"}
    if is_large := not fits_viewer(path):
        look["help"] = f"The PDF is larger than {LARGEST_MB} MB: save it to read it."
    action("Open in viewer", "open_viewer", set_field, _VIEWER_FOR, paper.id, disabled=is_large, **look)


def _draw_turner(looking: _Looking) -> None:
    """Draw the way to the page before, to any by its number, and to the next."""
    page, last = looking.page, looking.last
    _turn_button(":material/chevron_left:", "Previous page", "Left", page - 1, enabled=page > 1)
    if last > 1:
        # `page` is the source of truth; the widget follows it and reports changes.
        set_field("page_wanted", page)
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
    look = {"help": f"{meaning} ({'←' if shortcut == 'Left' else '→'})", "shortcut": shortcut}
    key = meaning.replace(" ", "_").lower()
    action(label, key, set_field, _PAGE, page, disabled=not enabled, **look)


def _turn_as_wanted() -> None:
    set_field(_PAGE, int(field_value("page_wanted") or 1))
