"""OCR engines: rapidocr where it is installed, else Debian's tesseract, else none."""

import shutil
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from PIL import Image

from corpus.settings import OcrChoice, Settings

# Of the processor, in builds: a page takes 5 to 20, and four times that where it is turned to be read.
SECONDS_PER_PAGE = 60
INSTALL = "To have them read: pip install 'paper-trail[ocr]'"


@dataclass(frozen=True, slots=True)
class OcrWord:
    """A word of a picture, its place in pixels from the top left, and how surely it was read, 0..1.

    `line` counts the lines as they were found; words of one line stand from left to right.
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
        """Return the words of a picture, line by line; those of text that is turned may be wrong."""
        ...


@dataclass(frozen=True, slots=True)
class OcrOptions:
    """Who reads scans, "" for nobody, and how many pages of one file at most."""

    engine: str = ""
    most_pages: int = 100

    @classmethod
    def of(cls, settings: Settings, most_pages: int | None = None) -> "OcrOptions":
        return cls(engine_name(settings.ocr), most_pages or settings.ocr_pages)


NO_OCR = OcrOptions()


def engine_name(choice: OcrChoice) -> str:
    """Return the engine that is there of those that may be taken, "" for none."""
    if choice in ("auto", "rapidocr") and find_spec("rapidocr") is not None:
        return "rapidocr"
    if choice in ("auto", "tesseract") and shutil.which("tesseract"):
        return "tesseract"
    return ""


def program_folders(options: OcrOptions) -> tuple[Path, ...]:
    """Return where the programs lie that reading scans starts, and their data; none for rapidocr."""
    found = shutil.which("tesseract") if options.engine == "tesseract" else None
    if not found:
        return ()
    folder = Path(found).resolve().parent
    return folder, folder.parent / "lib", folder.parent / "share"


@cache
def open_engine(name: str) -> OcrEngine:
    """Return an engine by its name, loaded once for the process."""
    # Loading rapidocr takes a second and 100 MiB, which only scans need.
    if name == "rapidocr":
        from indexer.parsers.ocr.rapid import RapidEngine  # noqa: PLC0415

        return RapidEngine()
    from indexer.parsers.ocr.tesseract import TesseractEngine  # noqa: PLC0415

    return TesseractEngine()
