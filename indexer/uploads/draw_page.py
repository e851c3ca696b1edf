"""The program that draws one page of a visitor's PDF; if it crashes, only that picture is lost."""

import base64
import json
from pathlib import Path
from typing import Annotated

import typer

from corpus.pdf.file import PdfError, page_size
from corpus.pdf.images import page_image
from corpus.records import Box
from corpus.sandbox.confinement import ConfinementError, confine
from corpus.sandbox.limits import bound
from corpus.settings import read_settings
from indexer.printing import fail, print_json


def draw(
    path: Path,
    page: int,
    boxes: Annotated[str, typer.Option(help="JSON: left, top, width and height of each mark.")] = "[]",
    scale: float = 1.6,
    seconds: int = 10,
    memory: int = 1024,
) -> None:
    """Print a page's size in points and its picture, a JPEG in base64, as JSON."""
    bound(seconds, memory)
    try:
        confine([path.absolute()], required=read_settings().sandbox == "required")
        width, height = page_size(path, page)
        picture = page_image(path, page, [Box(page, *corner) for corner in json.loads(boxes)], scale)
    except (PdfError, ConfinementError) as error:
        fail(error, as_json=True)
    print_json({"width": width, "height": height, "picture": base64.b64encode(picture).decode()})


if __name__ == "__main__":
    typer.run(draw)
