"""Pictures of pages with the evidence boxed, drawn once and kept a while."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition
from typing import Any

import streamlit as st
from cachetools import LRUCache, TTLCache, cached

from corpus.pdf.file import PdfError, page_count, page_size
from corpus.pdf.images import page_image
from corpus.records import Box
from corpus.settings import read_settings
from explorer.app.session import current_owner, current_visitor
from indexer.uploads.document import DocumentError, DrawnPage
from indexer.uploads.sandbox import DRAWING_LIMITS, BusyError, draw_sandboxed

# Pixels to the point: enough for a column of text that fills the panel.
SCALE = 2.2
STRIP_MARGIN = 50.0
SHORTEST_STRIP = 170.0
COLUMN_MARGIN = 12.0
NARROWEST_COLUMN = 180.0

Corners = tuple[tuple[float, float, float, float], ...]
# The path of a PDF, a page of it, and what is marked there.
Key = tuple[str, int, Corners]


@dataclass(frozen=True, slots=True)
class Evidenced:
    """The boxes of what is meant on a page, and of the passage that it is `within`, which tell its column.

    They are marked, but where it is a formula, a figure or a whole passage that is shown: `shows` says
    which. `margin` is what is shown above and below them, in points.
    """

    boxes: tuple[Box, ...]
    within: tuple[Box, ...]
    shows: str = ""
    margin: float = STRIP_MARGIN

    def on(self, page: int) -> "Evidenced":
        boxes, within = (
            tuple(box for box in found if box.page == page) for found in (self.boxes, self.within)
        )
        return replace(self, boxes=boxes, within=within)


@dataclass(frozen=True, slots=True)
class Strip:
    """The part of a page that is shown, in whole points, and how wide the page is."""

    left: int
    top: int
    width: int
    height: int
    page_width: int


def strip_round(shown: Evidenced, width: float, height: float) -> Strip:
    """Return the part of a page of that size that has the boxes in its middle, as wide as their column.

    Without boxes it is the top of the page.
    """
    top = min((box.y for box in shown.boxes), default=0.0)
    bottom = max((box.y + box.height for box in shown.boxes), default=0.0)
    shortest = 0.0 if shown.shows else SHORTEST_STRIP
    tall = min(height, max(shortest, bottom - top + 2 * shown.margin))
    start = min(max(0.0, (top + bottom - tall) / 2), height - tall)
    left, right = _column(shown, width)
    return Strip(
        round(left), round(start), max(1, round(right - left)), max(1, round(tall)), max(1, round(width))
    )


def _column(shown: Evidenced, width: float) -> tuple[float, float]:
    """Return where the column of text begins and ends that the boxes are in, or columns, with a margin."""
    if not shown.boxes:
        return 0.0, width
    left = min(box.x for box in shown.boxes)
    right = max(box.x + box.width for box in shown.boxes)
    lines = [box for box in shown.within if box.x < right and box.x + box.width > left]
    left = min([left, *(box.x for box in lines)])
    right = max([right, *(box.x + box.width for box in lines)])
    margin = max(COLUMN_MARGIN, (NARROWEST_COLUMN - right + left) / 2)
    return max(0.0, left - margin), min(width, right + margin)


def show_strip(path: Path, page: int, evidenced: Evidenced, place: str) -> None:
    """Draw the part of a page that has the evidence in it; `place` tells two of one screen apart."""
    marked = () if evidenced.shows else evidenced.boxes
    try:
        if is_drawn_apart(path):
            drawn = _drawn(path, page, marked)
            width, height = drawn.width, drawn.height
        else:
            width, height = _size(str(path), page)
    except PdfError:
        return
    except DocumentError as error:
        _say_undrawn(page, error)
        return
    with st.container(key=f"strip_{place}"):
        st.html(_strip_style(place, strip_round(evidenced.on(page), width, height)))
        show_page(path, page, marked, evidenced.shows)


def _strip_style(place: str, strip: Strip) -> str:
    """Return the style of one strip, made of numbers and words of ours: a window through which it is seen."""
    assert place.isidentifier(), "places are named in this program"
    left, top = 100 * strip.left / strip.width, 100 * strip.top / strip.height
    return (
        f"<style>.st-key-strip_{place} {{ --pt-ratio: {strip.width} / {strip.height};"
        f" --pt-wide: {100 * strip.page_width / strip.width:.2f}%;"
        f" --pt-left: {-left:.2f}%; --pt-top: {-top:.2f}%; }}</style>"
    )


def show_page(path: Path, page: int, boxes: tuple[Box, ...], shows: str = "") -> None:
    """Draw one page with `boxes` marked, or say why it cannot be drawn; `shows` names what is seen of it."""
    try:
        if is_drawn_apart(path):
            picture = _drawn(path, page, boxes).picture
        else:
            picture = _picture(str(path), *_marks(page, boxes))
    except (PdfError, DocumentError) as error:
        _say_undrawn(page, error)
        return
    marked = "with the evidence boxed" if any(box.page == page for box in boxes) else "as printed"
    alt = f"{shows}, as printed on page {int(page)}" if shows else f"Page {int(page)} of the PDF, {marked}"
    st.image(picture, alt=alt, width="stretch")


def is_drawn_apart(path: Path) -> bool:
    """Return whether a PDF's pages are drawn in a sandboxed process: all but those that the indexer kept.

    Where the file lies decides, never what a conversation or its papers say of it. PDFium has one lock for
    the whole server, which a page that was made to be slow would hold.
    """
    settings = read_settings()
    indexed = settings.cache if settings.address else Path(str(settings.pdf_path))
    return not path.resolve().is_relative_to(indexed.resolve())


def _say_undrawn(page: int, error: Exception) -> None:
    st.caption(f"The picture of page {int(page)} cannot be drawn.")
    st.text(str(error))


def _key(path: str, page: int = 0, corners: Corners = (), *_: object) -> Key:
    """Return by what the pictures of a PDF are kept: not by who looks at them."""
    return path, page, corners


_counts, _sizes, _pictures = (LRUCache[Key, Any](most) for most in (256, 256, 96))
# A page that was too slow is not tried again at every rerun, but after a while.
_drawings: TTLCache[Key, Any] = TTLCache(96, ttl=600)
_changed = Condition()


@cached(_counts, key=_key, condition=_changed)
def pages_in(path: str) -> int:
    """Count the pages of a PDF of the corpus, 0 when it cannot be read or is a visitor's."""
    if is_drawn_apart(Path(path)):
        return 0
    try:
        return page_count(path)
    except PdfError:
        return 0


@cached(_sizes, key=_key, condition=_changed)
def _size(path: str, page: int) -> tuple[float, float]:
    return page_size(path, page)


@cached(_pictures, key=_key, condition=_changed)
def _picture(path: str, page: int, corners: Corners) -> bytes:
    return page_image(path, page, [Box(page, *corner) for corner in corners], SCALE)


def _drawn(path: Path, page: int, boxes: tuple[Box, ...]) -> DrawnPage:
    drawn = _drawn_or_why_not(str(path), *_marks(page, boxes), current_owner(current_visitor()))
    if isinstance(drawn, str):
        raise DocumentError(drawn)
    return drawn


@cached(_drawings, key=_key, condition=_changed)
def _drawn_or_why_not(path: str, page: int, corners: Corners, owner: str) -> DrawnPage | str:
    boxes = [Box(page, *corner) for corner in corners]
    try:
        with st.spinner("Drawing the page"):
            return draw_sandboxed(Path(path), page, boxes, SCALE, owner=owner, limits=DRAWING_LIMITS)
    except BusyError:
        raise
    except DocumentError as error:
        return str(error)


def forget_pictures(*places: Path) -> None:
    """Drop the pictures of PDFs that were taken away, or of all in a folder; others' stay."""
    with _changed:
        for cache in (_counts, _sizes, _pictures, _drawings):
            for key in list(cache):
                if any(Path(key[0]).is_relative_to(place) for place in places):
                    cache.pop(key, None)


def _marks(page: int, boxes: tuple[Box, ...]) -> tuple[int, Corners]:
    return page, tuple((box.x, box.y, box.width, box.height) for box in boxes if box.page == page)


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
