"""Boxes of text on pages: the @coords of a TEI file, of which implausible ones are dropped."""

import math
from collections.abc import Mapping, Sequence

from lxml import etree

from corpus.records import Box

Element = etree._Element

LARGEST_SIDE = 14_400.0
"""Points; the largest page of a PDF."""

MOST_PAGES = 100_000

_OUTSIDE = 0.1
"""The share of a page's side by which a box may extend over its edge."""

_Rectangle = tuple[float, float, float, float]
_ANYWHERE = (0.0, 0.0, LARGEST_SIDE, LARGEST_SIDE)


def boxes_of(element: Element) -> tuple[Box, ...]:
    """Return the boxes in the @coords of `element` itself."""
    return tuple(box for part in _parts(element) if (box := _read_box(part)))


def enclosing(boxes: Sequence[Box]) -> Box | None:
    """Return the box around all boxes, None for no boxes or several pages."""
    if len({box.page for box in boxes}) != 1:
        return None
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return Box(boxes[0].page, left, top, round(right - left, 2), round(bottom - top, 2))


def drop_bad_boxes(root: Element) -> int:
    """Remove unreadable boxes, and those on no page of the facsimile; return their number."""
    pages = _pages(root)
    dropped = 0
    for element in root.iter("*"):
        parts = _parts(element)
        sound = [part for part in parts if (box := _read_box(part)) and _is_on_page(box, pages)]
        if len(sound) < len(parts):
            dropped += len(parts) - len(sound)
            element.set("coords", ";".join(sound))
    return dropped


def count_pages(root: Element) -> int:
    """Count the pages in the facsimile; 0 without one."""
    return len(_pages(root))


def _parts(element: Element) -> list[str]:
    return [part for part in element.get("coords", "").split(";") if part.strip()]


def _read_box(text: str) -> Box | None:
    try:
        page, *numbers = text.split(",")
        x, y, width, height = map(float, numbers)
        box = Box(int(page), x, y, width, height)
    except ValueError:
        return None
    is_finite = all(math.isfinite(number) for number in (x, y, width, height))
    return box if is_finite and 1 <= box.page <= MOST_PAGES and width > 0 and height > 0 else None


def _pages(root: Element) -> dict[int, _Rectangle]:
    """Return left, top, right and bottom of every page, by its number."""
    pages: dict[int, _Rectangle] = {}
    for surface in root.iterfind("facsimile/surface"):
        number = surface.get("n", "").strip()
        if number.isdecimal() and 1 <= len(number) <= len(str(MOST_PAGES)):
            pages.setdefault(int(number), _rectangle(surface))
    return pages


def _rectangle(surface: Element) -> _Rectangle:
    try:
        left, top, right, bottom = (float(surface.get(name, "")) for name in ("ulx", "uly", "lrx", "lry"))
    except ValueError:
        return _ANYWHERE
    is_sound = 0 < right - left <= LARGEST_SIDE and 0 < bottom - top <= LARGEST_SIDE
    return (left, top, right, bottom) if is_sound else _ANYWHERE


def _is_on_page(box: Box, pages: Mapping[int, _Rectangle]) -> bool:
    if pages and box.page not in pages:
        return False
    left, top, right, bottom = pages.get(box.page, _ANYWHERE)
    across, down = _OUTSIDE * (right - left), _OUTSIDE * (bottom - top)
    return (
        left - across <= box.x
        and box.x + box.width <= right + across
        and top - down <= box.y
        and box.y + box.height <= bottom + down
    )
