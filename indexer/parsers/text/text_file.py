"""Text files of any encoding; other files are refused."""

import re
import unicodedata
from pathlib import Path

from corpus.text import INVISIBLE
from indexer.errors import ParseError
from indexer.parsers.decoding import EncodingError, decode

LARGEST_TEXT = 8 * 1024 * 1024
"""The most bytes of one file that are read."""

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
_MARKUP = (
    (re.compile(r"\A\s*+<(?:!doctype html|html)\b", re.IGNORECASE), "a web page: give its address instead"),
    (
        re.compile(r"\A(?:[ \t]*+(?:%.*+)?\n)*+[ \t]*+\\document(?:class|style)\b"),
        "LaTeX: use its PDF, or make Markdown of it, as pandoc does",
    ),
)
# Escape sequences of terminals.
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,10}[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[()][0-9A-Z])"
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_INVISIBLE = re.compile(f"[\x00{INVISIBLE}]")
_MOST_CONTROL = 0.02


def read_text_file(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file in NFC with normalised line ends, and remarks; raises ParseError.

    macOS stores accents apart from letters, which neither search nor patterns would match.
    """
    content = read_bytes(path, LARGEST_TEXT)
    if not content.strip(b"\x00 \t\r\n\x0c"):
        raise ParseError(f"{path.name} is empty")
    for magic, name in _OTHER_FORMATS.items():
        if content.startswith(magic):
            raise ParseError(f"{path.name} is no text: it is {name}")
    try:
        decoded = decode(content)
    except EncodingError as error:
        raise ParseError(f"{path.name} {error}") from error
    text, remarks = _TERMINAL.sub("", unicodedata.normalize("NFC", decoded.text)), decoded.remarks
    if len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text):
        raise ParseError(f"{path.name} is no text: it is full of control characters")
    if "\x00" in text:
        remarks += ("null characters were left out",)
    return _INVISIBLE.sub("", text).replace("\r\n", "\n").replace("\r", "\n"), remarks


def refuse_markup(text: str, name: str) -> None:
    """Raise ParseError for the source of a web page or of LaTeX."""
    for source, kind in _MARKUP:
        if source.match(text):
            raise ParseError(f"{name} is {kind}")


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
