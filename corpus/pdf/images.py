"""Pictures of the pages of a PDF, with passages marked."""

import io
import math
from collections.abc import Iterable
from pathlib import Path

import pypdfium2
from PIL import Image, ImageDraw

from corpus.pdf.file import LOCK, PdfError, opened, size_of
from corpus.records import Box

_MOST_PIXELS = 16_000_000
_FILL, _BORDER = (255, 214, 10, 90), (202, 138, 4, 255)


def page_image(path: str | Path, page: int, boxes: Iterable[Box] = (), scale: float = 1.6) -> bytes:
    """Return a page as a JPEG, `scale` pixels to the point, with those of `boxes` that lie on it marked.

    Very large pages come smaller than asked, so that no file can fill the memory. Raises PdfError.
    """
    picture, scale = page_picture(path, page, scale)
    return _as_jpeg(_mark(picture, [box for box in boxes if box.page == page], scale))


def page_picture(path: str | Path, page: int, scale: float) -> tuple[Image.Image, float]:
    """Return a page as a picture, as large as `page_image` draws it, and its pixels to the point.

    Raises PdfError.
    """
    with opened(path) as document, LOCK:
        width, height = size_of(document, path, page)
        scale = min(scale, math.sqrt(_MOST_PIXELS / max(width * height, 1.0)))
        try:
            return document[page - 1].render(scale=scale).to_pil().convert("RGB"), scale
        except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
            why = str(error) or "not enough memory"
            raise PdfError(f"page {page} of {Path(path).name} cannot be drawn: {why}") from error


def _mark(picture: Image.Image, boxes: list[Box], scale: float) -> Image.Image:
    if not boxes:
        return picture
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    for box in boxes:
        left, top = round(box.x * scale) - 1, round(box.y * scale) - 1
        right, bottom = round((box.x + box.width) * scale) + 1, round((box.y + box.height) * scale) + 1
        if right >= left and bottom >= top:
            draw.rectangle((left, top, right, bottom), fill=_FILL, outline=_BORDER)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _as_jpeg(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format="JPEG", quality=80)
    return buffer.getvalue()
