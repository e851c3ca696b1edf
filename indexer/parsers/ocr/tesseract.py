"""tesseract, an external program, called for words and boxes as TSV."""

import csv
import io
import subprocess

from PIL import Image

from indexer.errors import ParseError
from indexer.parsers.ocr.engines import OcrWord

_SECONDS = 100
_WORD = "5"


class TesseractEngine:
    """Runs the program on each picture and parses its output."""

    name = "tesseract"

    def read(self, picture: Image.Image) -> list[OcrWord]:
        buffer = io.BytesIO()
        picture.convert("L").save(buffer, format="PNG")
        command = ["tesseract", "stdin", "stdout", "--psm", "3", "tsv"]
        try:
            done = subprocess.run(  # noqa: S603 - a fixed command; the picture goes to its standard input
                command, input=buffer.getvalue(), capture_output=True, timeout=_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ParseError(f"tesseract could not read a page: {type(error).__name__}") from error
        return _words(done.stdout.decode("utf-8", "replace"))


def _words(tsv: str) -> list[OcrWord]:
    """Parse the words in tesseract's TSV output."""
    words: list[OcrWord] = []
    numbers: dict[tuple[str, ...], int] = {}
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row.get("level") != _WORD or not text:
            continue
        line = tuple(row[name] for name in ("block_num", "par_num", "line_num"))
        left, top, width, height = (float(row[name]) for name in ("left", "top", "width", "height"))
        sure = max(0.0, float(row["conf"])) / 100
        number = numbers.setdefault(line, len(numbers))
        words.append(OcrWord(text, left, top, left + width, top + height, sure, number))
    return words
