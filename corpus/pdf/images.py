"""Pictures of the pages of a PDF, with passages marked."""

import io
import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pypdfium2
from PIL import Image, ImageDraw

from corpus.pdf.file import LOCK, PdfError, opened, size_of
from corpus.records import Box

_MOST_PIXELS = 16_000_000
_LONGEST_SIDE = 65_000  # a JPEG's
# Limits of boxes on one page, as each takes time to draw, and more would not be readable.
_MOST_BOXES, _MOST_TIMES_COVERED = 2_000, 8
_FILL, _BORDER = (255, 214, 10, 90), (202, 138, 4, 255)


def page_image(path: str | Path, page: int, boxes: Iterable[Box] = (), scale: float = 1.6) -> bytes:
    """Return a page as a JPEG with `scale` pixels per point, with those of `boxes` on this page marked.

    Very large pages are scaled down, so that no file can fill the memory. Boxes are cut to the page; boxes
    outside it, and too many of them, are not drawn. Raises PdfError.
    """
    picture, scale = page_picture(path, page, scale)
    marked = _mark(picture, (box for box in boxes if box.page == page), scale)
    buffer = io.BytesIO()
    try:
        marked.save(buffer, format="JPEG", quality=80)
    except (OSError, ValueError, MemoryError) as error:
        raise _undrawn(path, page, error) from error
    return buffer.getvalue()


def page_picture(path: str | Path, page: int, scale: float) -> tuple[Image.Image, float]:
    """Return a page as a picture in the size of `page_image`, and its pixels per point; raises PdfError."""
    with opened(path) as document, LOCK:
        width, height = size_of(document, path, page)
        try:
            scale = min(scale, math.sqrt(_MOST_PIXELS / max(width * height, 1.0)))
            scale = min(scale, _LONGEST_SIDE / max(width, height, 1.0))
            return document[page - 1].render(scale=scale).to_pil().convert("RGB"), scale
        except (pypdfium2.PdfiumError, ValueError, OverflowError, MemoryError) as error:
            raise _undrawn(path, page, error) from error


def _undrawn(path: str | Path, page: int, error: Exception) -> PdfError:
    return PdfError(f"page {page} of {Path(path).name} cannot be drawn: {error or 'not enough memory'}")


def _mark(picture: Image.Image, boxes: Iterable[Box], scale: float) -> Image.Image:
    places = list(_places(boxes, picture.size, scale))
    if not places:
        return picture
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    for place in places:
        draw.rectangle(place, fill=_FILL, outline=_BORDER)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _places(boxes: Iterable[Box], size: tuple[int, int], scale: float) -> Iterator[tuple[int, int, int, int]]:
    """Yield left, top, right and bottom of each box in a picture, cut to it, up to a total area."""
    width, height = size
    room = _MOST_TIMES_COVERED * width * height
    for box in islice(boxes, _MOST_BOXES):
        if not all(map(_is_finite, (box.x, box.y, box.width, box.height))):
            continue
        left, right = _cut(box.x * scale, (box.x + box.width) * scale, width)
        top, bottom = _cut(box.y * scale, (box.y + box.height) * scale, height)
        if right < max(left, 0) or bottom < max(top, 0) or left >= width or top >= height:
            continue
        room -= (right - left) * (bottom - top)
        if room < 0:
            return
        yield left, top, right, bottom


def _cut(start: float, end: float, length: int) -> tuple[int, int]:
    """Return the ends of a side of a box, rounded outwards and cut just outside the picture."""
    first, last = -2.0, length + 2.0
    return round(min(max(start, first), last)) - 1, round(min(max(end, first), last)) + 1


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
