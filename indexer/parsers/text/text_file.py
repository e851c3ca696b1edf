"""The bytes of a text file as text, whatever their encoding; what is no text is refused."""

import codecs
import re
from pathlib import Path

from corpus.text import INVISIBLE
from indexer.errors import ParseError

LARGEST_TEXT = 8 * 1024 * 1024
"""The most bytes of one file that are read."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FORMATS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or an office document",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"{\\rtf": "an RTF document",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
}
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_INVISIBLE = re.compile(f"[\x00{INVISIBLE}]")
_MOST_CONTROL = 0.02


def read_text_file(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file with all line ends made one, and remarks; raises ParseError.

    Without a byte order mark it is UTF-8, or else Windows-1252, the usual superset of Latin-1.
    """
    content = read_bytes(path, LARGEST_TEXT)
    if not content.strip(b"\x00 \t\r\n\x0c"):
        raise ParseError(f"{path.name} is empty")
    for magic, name in _OTHER_FORMATS.items():
        if content.startswith(magic):
            raise ParseError(f"{path.name} is no text: it is {name}")
    text, remarks = _decode(path, content)
    if len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text):
        raise ParseError(f"{path.name} is no text: it is full of control characters")
    if "\x00" in text:
        remarks += ("null characters were left out",)
    return _INVISIBLE.sub("", text).replace("\r\n", "\n").replace("\r", "\n"), remarks


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a file of at most `largest` bytes; raises ParseError."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise ParseError(f"{path.name} cannot be read: {error.strerror or error}") from error
    if len(content) > largest:
        raise ParseError(f"{path.name} is larger than {largest // 1024**2} MiB, more than any paper's text")
    return content


def _decode(path: Path, content: bytes) -> tuple[str, tuple[str, ...]]:
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    try:
        return content.decode(encoding or "utf-8").removeprefix("\ufeff"), ()
    except UnicodeDecodeError as error:
        if encoding:
            raise ParseError(
                f"{path.name} says that it is {encoding.upper()}, but byte {error.start} is not"
            ) from error
    remark = "the text is not UTF-8; it was read as Windows-1252 (Latin-1)"
    try:
        return content.decode("cp1252"), (remark,)
    except UnicodeDecodeError:
        return content.decode("latin-1"), (remark,)
