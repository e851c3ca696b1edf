"""A paper's pages: a picture with the evidence boxed, or the PDF in a viewer."""

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
class _ShownPage:
    """The page that is shown, the number of pages, and the boxes to mark."""

    page: int
    last: int
    boxes: tuple[Box, ...]


@st.fragment
def draw_pages(path: Path, paper: Paper, target: Passage | None, sentence: int | None) -> None:
    """Draw one page of the PDF with buttons to turn; it opens at the target passage of the address."""
    last = max(1, pages_in(str(path)) or paper.page_count)
    first = min(last, (passage_page(target, sentence) or 1) if target else 1)
    address = f"{paper.id}#{target.number if target else ''}#{sentence}"
    if field_value(_PAGE_FOR) != address:
        set_field(_PAGE_FOR, address)
        set_field(_PAGE, first)
    page = max(1, min(last, int(field_value(_PAGE, first))))
    shown = _ShownPage(page, last, passage_boxes(target, sentence) if target else ())
    with st.container(key="pages", gap="xsmall"):
        if field_value(_VIEWER_FOR) == paper.id:
            with row("page_turner"):
                _draw_turner(shown)
            show_pdf(path, page, shown.boxes, last, key=f"viewer_{address}_{page}")
        else:
            _draw_picture(path, shown)
        with row("pdf_links"):
            _draw_viewer_button(path, paper)
            save_button(path, paper.id, "save_pdf")


def _draw_picture(path: Path, shown: _ShownPage) -> None:
    is_close = bool(field_value(_CLOSE))
    with row("page_turner"):
        _draw_turner(shown)
        zoom, sign = ("Whole page", "out") if is_close else ("Larger", "in")
        action(zoom, "page_zoom", set_field, _CLOSE, not is_close, icon=f":material/zoom_{sign}:")
    # Each key has its own style.
    with st.container(key="page_close" if is_close else "page_whole"):
        show_page(path, shown.page, shown.boxes)


def _draw_viewer_button(path: Path, paper: Paper) -> None:
    """Draw the button that opens or closes the PDF viewer."""
    if field_value(_VIEWER_FOR) == paper.id:
        action("Close the viewer", "close_viewer", set_field, _VIEWER_FOR, "", icon=":material/close:")
        return
    look = {"icon": ":material/picture_as_pdf:"}
    if is_large := not fits_viewer(path):
        look["help"] = f"The PDF is larger than {LARGEST_MB} MB: save it to read it."
    action("Open in viewer", "open_viewer", set_field, _VIEWER_FOR, paper.id, disabled=is_large, **look)


def _draw_turner(shown: _ShownPage) -> None:
    """Draw the buttons to the previous and next page, and the field with the page number."""
    page, last = shown.page, shown.last
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
            on_change=_turn_to_number,
        )
    st.markdown(f"of {last}" if last > 1 else "One page", width="content")
    _turn_button(":material/chevron_right:", "Next page", "Right", page + 1, enabled=page < last)


def _turn_button(label: str, meaning: str, shortcut: str, page: int, *, enabled: bool) -> None:
    look = {"help": f"{meaning} ({'←' if shortcut == 'Left' else '→'})", "shortcut": shortcut}
    key = meaning.replace(" ", "_").lower()
    action(label, key, set_field, _PAGE, page, disabled=not enabled, **look)


def _turn_to_number() -> None:
    set_field(_PAGE, int(field_value("page_wanted") or 1))
