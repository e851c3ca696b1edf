"""The PDF in streamlit-pdf-viewer, opened on demand, as the whole file is sent to the browser."""

from pathlib import Path

import streamlit as st

from corpus.records import Box

LARGEST_MB = 15
HEIGHT = 640
MOST_PAGES = 40
COLOUR = "#ca8a04"


def fits_viewer(path: Path) -> bool:
    """Return True if a PDF is small enough to be sent to the browser."""
    try:
        return path.stat().st_size <= LARGEST_MB * 1024 * 1024
    except OSError:
        return False


def show_pdf(path: Path, page: int, boxes: tuple[Box, ...], last: int, key: str) -> None:
    """Draw a PDF from `page` on with `boxes` marked; other boxes need another `key`.

    The viewer's own jump to a page would scroll the whole screen, so it gets only the pages from there on.
    """
    # Imported late: the import registers the component with the running server.
    from streamlit_pdf_viewer import pdf_viewer  # noqa: PLC0415

    try:
        binary = path.read_bytes()
    except OSError:
        st.caption("The PDF cannot be read. It may just have been removed: reload the page.")
        return
    pages = pages_drawn(page, last)
    pdf_viewer(
        binary,
        height=HEIGHT,
        key=key,
        annotations=annotations(boxes, pages),
        pages_to_render=pages,
        render_text=True,
    )
    if len(pages) < last:
        shown = f"Pages {pages[0]} to {pages[-1]}" if len(pages) > 1 else f"Page {page}"
        st.caption(f"{shown} of {last}; turn the page above to begin elsewhere.")


def pages_drawn(page: int, last: int) -> list[int]:
    """Return the pages to draw: at most `MOST_PAGES` from `page` on."""
    return list(range(page, min(last, page + MOST_PAGES - 1) + 1))


def annotations(boxes: tuple[Box, ...], pages: list[int]) -> list[dict[str, str | int | float | bool]]:
    """Return the boxes on `pages` in the viewer's format."""
    return [
        {
            "page": box.page,
            "x": box.x,
            "y": box.y,
            "width": box.width,
            "height": box.height,
            "color": COLOUR,
            "border": "solid",
        }
        for box in boxes
        if box.page in pages
    ]
