"""Pictures of pages with the evidence boxed, drawn once and kept a while."""

import re
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from corpus.pdf import PdfError, page_count, page_image, page_size
from corpus.records import Box

SCALE = 1.8
STRIP_MARGIN = 70.0
SHORTEST_STRIP = 190.0


@dataclass(frozen=True, slots=True)
class Strip:
    """The part of a page that is shown: height and width in whole points, and where it begins in per cent.

    The per cent are those of CSS `object-position`: 0 shows the top of the page, 100 its bottom.
    """

    width: int
    height: int
    percent: int


def strip_round(boxes: tuple[Box, ...], width: float, height: float) -> Strip:
    """Return the strip of a page of that size that has the boxes in its middle, or the top of the page."""
    top = min((box.y for box in boxes), default=0.0)
    bottom = max((box.y + box.height for box in boxes), default=0.0)
    shown = min(height, max(SHORTEST_STRIP, bottom - top + 2 * STRIP_MARGIN))
    start = min(max(0.0, (top + bottom - shown) / 2), height - shown)
    percent = round(100 * start / (height - shown)) if height > shown else 0
    return Strip(max(1, round(width)), max(1, round(shown)), percent)


def show_strip(path: Path, page: int, boxes: tuple[Box, ...], place: str, *, are_marked: bool = True) -> None:
    """Draw the strip of a page that has the boxes in it; `place` tells two strips on one screen apart."""
    try:
        width, height = page_size(path, page)
    except PdfError:
        return
    strip = strip_round(tuple(box for box in boxes if box.page == page), width, height)
    with st.container(key=f"strip_{place}"):
        st.html(_strip_style(place, strip))
        show_page(path, page, boxes if are_marked else ())


def _strip_style(place: str, strip: Strip) -> str:
    """Return the style of one strip, made of whole numbers and words of ours."""
    assert place.isidentifier(), "places are named in this program"
    return (
        f"<style>.st-key-strip_{place} img {{ aspect-ratio: {strip.width} / {strip.height};"
        f" object-position: 0 {strip.percent}%; }}</style>"
    )


def show_page(path: Path, page: int, boxes: tuple[Box, ...]) -> None:
    """Draw one page with `boxes` marked, or say why it cannot be drawn."""
    try:
        picture = _picture(str(path), page, tuple(_corners(box) for box in boxes if box.page == page))
    except PdfError as error:
        st.caption(f"The picture of page {int(page)} cannot be drawn.")
        st.text(str(error))
        return
    marked = "with the evidence boxed" if any(box.page == page for box in boxes) else "as printed"
    st.image(picture, alt=f"Page {int(page)} of the PDF, {marked}", width="stretch")


@st.cache_data(max_entries=256, show_spinner=False)
def pages_in(path: str) -> int:
    """Return how many pages a PDF has, 0 when it cannot be read."""
    try:
        return page_count(path)
    except PdfError:
        return 0


@st.cache_data(max_entries=96, show_spinner=False)
def _picture(path: str, page: int, corners: tuple[tuple[float, float, float, float], ...]) -> bytes:
    return page_image(path, page, [Box(page, *corner) for corner in corners], SCALE)


def forget_pictures() -> None:
    """Drop all pictures: of a PDF that was taken away none may be left."""
    _picture.clear()
    pages_in.clear()


def _corners(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.width, box.height


def file_name(paper_id: str, extension: str) -> str:
    """Return a name for a file of a paper: its id in letters, digits, dots and dashes."""
    safe = re.sub(r"[^A-Za-z0-9.]+", "-", paper_id).strip("-.")[:100]
    return f"{safe or 'paper'}.{extension}"


def save_button(path: Path, paper_id: str, key: str) -> None:
    """Draw the button that downloads a PDF, which is read when it is clicked."""
    st.download_button(
        "Save PDF",
        data=path.read_bytes,
        file_name=file_name(paper_id, "pdf"),
        mime="application/pdf",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key=key,
    )
