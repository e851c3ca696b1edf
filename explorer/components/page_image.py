"""Pictures of pages with the evidence boxed, cached for all visitors."""

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

# Pixels per point: enough for a column of text that fills the panel.
SCALE = 2.2
STRIP_MARGIN = 50.0
SHORTEST_STRIP = 170.0
COLUMN_MARGIN = 12.0
NARROWEST_COLUMN = 180.0

Corners = tuple[tuple[float, float, float, float], ...]
# The path of a PDF, a page, and the boxes marked on it.
Key = tuple[str, int, Corners]


@dataclass(frozen=True, slots=True)
class EvidenceBoxes:
    """The boxes of the evidence, and those of the passage that it is `within`, which give its column.

    The boxes are marked unless `shows` names what they hold: a formula, a figure or a whole passage.
    `margin` is the space shown above and below them, in points.
    """

    boxes: tuple[Box, ...]
    within: tuple[Box, ...]
    shows: str = ""
    margin: float = STRIP_MARGIN

    def on(self, page: int) -> "EvidenceBoxes":
        """Return the same with the boxes of one page only."""
        boxes = tuple(box for box in self.boxes if box.page == page)
        return replace(self, boxes=boxes, within=tuple(box for box in self.within if box.page == page))


@dataclass(frozen=True, slots=True)
class Strip:
    """The part of a page that is shown, and the width of the page, in whole points."""

    left: int
    top: int
    width: int
    height: int
    page_width: int


def strip_round(shown: EvidenceBoxes, width: float, height: float) -> Strip:
    """Return the part of a page of `width` x `height` around the boxes, as wide as their column of text.

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


def _column(shown: EvidenceBoxes, width: float) -> tuple[float, float]:
    """Return the left and right edge of the column or columns of text with the boxes, with a margin."""
    if not shown.boxes:
        return 0.0, width
    left = min(box.x for box in shown.boxes)
    right = max(box.x + box.width for box in shown.boxes)
    lines = [box for box in shown.within if box.x < right and box.x + box.width > left]
    left = min([left, *(box.x for box in lines)])
    right = max([right, *(box.x + box.width for box in lines)])
    margin = max(COLUMN_MARGIN, (NARROWEST_COLUMN - right + left) / 2)
    return max(0.0, left - margin), min(width, right + margin)


def show_strip(path: Path, page: int, evidenced: EvidenceBoxes, place: str) -> None:
    """Draw the part of a page with the evidence; `place` is a key, unique on the screen."""
    marked = () if evidenced.shows else evidenced.boxes
    try:
        if is_drawn_in_sandbox(path):
            drawn = _draw_in_sandbox(path, page, marked)
            width, height = drawn.width, drawn.height
        else:
            width, height = _size(str(path), page)
    except PdfError:
        return
    except DocumentError as error:
        _draw_failure(page, error)
        return
    with st.container(key=f"strip_{place}"):
        st.html(_strip_style(place, strip_round(evidenced.on(page), width, height)))
        show_page(path, page, marked, evidenced.shows)


def _strip_style(place: str, strip: Strip) -> str:
    """Return the style that clips the page's picture to a strip."""
    assert place.isidentifier(), "a key of this program, safe in a style"
    left, top = 100 * strip.left / strip.width, 100 * strip.top / strip.height
    return (
        f"<style>.st-key-strip_{place} {{ --pt-ratio: {strip.width} / {strip.height};"
        f" --pt-wide: {100 * strip.page_width / strip.width:.2f}%;"
        f" --pt-left: {-left:.2f}%; --pt-top: {-top:.2f}%; }}</style>"
    )


def show_page(path: Path, page: int, boxes: tuple[Box, ...], shows: str = "") -> None:
    """Draw one page with `boxes` marked, or why it cannot be drawn; `shows` names its visible part."""
    try:
        if is_drawn_in_sandbox(path):
            picture = _draw_in_sandbox(path, page, boxes).picture
        else:
            picture = _picture(str(path), *_marks(page, boxes))
    except (PdfError, DocumentError) as error:
        _draw_failure(page, error)
        return
    marked = "with the evidence boxed" if any(box.page == page for box in boxes) else "as printed"
    alt = f"{shows}, as printed on page {int(page)}" if shows else f"Page {int(page)} of the PDF, {marked}"
    st.image(picture, alt=alt, width="stretch")


def is_drawn_in_sandbox(path: Path) -> bool:
    """Return True for every PDF except those that the indexer stored, told by the file's path.

    PDFium has one lock for the whole server, which a page made to be slow would hold.
    """
    settings = read_settings()
    indexed = settings.cache if settings.address else Path(str(settings.pdf_path))
    return not path.resolve().is_relative_to(indexed.resolve())


def _draw_failure(page: int, error: Exception) -> None:
    st.caption(f"The picture of page {int(page)} cannot be drawn.")
    st.text(str(error))


def _key(path: str, page: int = 0, corners: Corners = (), *_: object) -> Key:
    """Return the cache key of a picture, which leaves out the visitor."""
    return path, page, corners


_counts, _sizes, _pictures = (LRUCache[Key, Any](most) for most in (256, 256, 96))
# A page that was too slow is tried again after ten minutes, not at every rerun.
_drawings: TTLCache[Key, Any] = TTLCache(96, ttl=600)
_changed = Condition()


@cached(_counts, key=_key, condition=_changed)
def pages_in(path: str) -> int:
    """Return the number of pages of a PDF of the corpus, 0 if it cannot be read or is a visitor's."""
    if is_drawn_in_sandbox(Path(path)):
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


def _draw_in_sandbox(path: Path, page: int, boxes: tuple[Box, ...]) -> DrawnPage:
    """Draw a page in a sandboxed process; raises DocumentError."""
    drawn = _drawn_or_error(str(path), *_marks(page, boxes), current_owner(current_visitor()))
    if isinstance(drawn, str):
        raise DocumentError(drawn)
    return drawn


@cached(_drawings, key=_key, condition=_changed)
def _drawn_or_error(path: str, page: int, corners: Corners, owner: str) -> DrawnPage | str:
    boxes = [Box(page, *corner) for corner in corners]
    try:
        with st.spinner("Drawing the page"):
            return draw_sandboxed(Path(path), page, boxes, SCALE, owner=owner, limits=DRAWING_LIMITS)
    except BusyError:
        raise
    except DocumentError as error:
        return str(error)


def forget_pictures(*places: Path) -> None:
    """Drop the cached pictures of deleted PDFs, given as files or folders."""
    with _changed:
        for cache in (_counts, _sizes, _pictures, _drawings):
            for key in list(cache):
                if any(Path(key[0]).is_relative_to(place) for place in places):
                    cache.pop(key, None)


def _marks(page: int, boxes: tuple[Box, ...]) -> tuple[int, Corners]:
    return page, tuple((box.x, box.y, box.width, box.height) for box in boxes if box.page == page)


def file_name(paper_id: str, extension: str) -> str:
    """Return a file name for a paper: its id in letters, digits, dots and dashes."""
    safe = re.sub(r"[^A-Za-z0-9.]+", "-", paper_id).strip("-.")[:100]
    return f"{safe or 'paper'}.{extension}"


def save_button(path: Path, paper_id: str, key: str) -> None:
    """Draw the button that downloads a PDF; the file is read on the click."""
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
