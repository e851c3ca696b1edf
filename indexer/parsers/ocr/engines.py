"""OCR engines: rapidocr if installed, else tesseract, else none."""

import shutil
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from PIL import Image

from corpus.settings import OcrChoice, Settings

# Processor time: a page takes 5 to 20 seconds, four times that if it is tried in all rotations.
SECONDS_PER_PAGE = 60
INSTALL = "To have them read: pip install 'paper-trail[ocr]'"


@dataclass(frozen=True, slots=True)
class OcrWord:
    """A word of a picture, its box in pixels from the top left, and its confidence, 0..1.

    `line` numbers the lines in the order found; words of a line are ordered from left to right.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    line: int


class OcrEngine(Protocol):
    """An OCR engine for pictures whose text is upright."""

    @property
    def name(self) -> str: ...

    def read(self, picture: Image.Image) -> list[OcrWord]:
        """Return the words of a picture, line by line; rotated text may be misread."""
        ...


@dataclass(frozen=True, slots=True)
class OcrOptions:
    """The engine for scans, "" for none, and the most pages of a file that are read."""

    engine: str = ""
    most_pages: int = 100

    @classmethod
    def of(cls, settings: Settings, most_pages: int | None = None) -> "OcrOptions":
        return cls(engine_name(settings.ocr), most_pages or settings.ocr_pages)


NO_OCR = OcrOptions()


def engine_name(choice: OcrChoice) -> str:
    """Return the installed engine for a choice, "" for none."""
    if choice in ("auto", "rapidocr") and find_spec("rapidocr") is not None:
        return "rapidocr"
    if choice in ("auto", "tesseract") and shutil.which("tesseract"):
        return "tesseract"
    return ""


def program_folders(options: OcrOptions) -> tuple[Path, ...]:
    """Return the folders of the programs that OCR starts, and their data; none for rapidocr."""
    program = shutil.which("tesseract") if options.engine == "tesseract" else None
    if not program:
        return ()
    folder = Path(program).resolve().parent
    return folder, folder.parent / "lib", folder.parent / "share"


@cache
def open_engine(name: str) -> OcrEngine:
    """Return an engine by its name, loaded once per process."""
    # Loading rapidocr takes a second and 100 MiB.
    if name == "rapidocr":
        from indexer.parsers.ocr.rapid import RapidEngine  # noqa: PLC0415

        return RapidEngine()
    from indexer.parsers.ocr.tesseract import TesseractEngine  # noqa: PLC0415

    return TesseractEngine()
