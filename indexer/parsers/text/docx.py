"""Word files (.docx) to a document: headings by their styles, notes and tables where they stand.

The file may come from anybody: it is measured before it is opened, and its XML is read by python-docx, which
resolves no entities and fetches nothing.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import OpcError
from docx.opc.part import Part
from docx.oxml import parse_xml

from corpus.records import Author
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.identifiers import year_in
from indexer.parsers.text.docx_hidden import FALLBACK, Look, M, W, remove_hidden
from indexer.parsers.text.structure import (
    Block,
    Prose,
    Rows,
    WrittenHeading,
    assemble,
    author,
    clean,
    keywords_in,
    may_be_title,
)
from indexer.parsers.text.text_file import read_bytes

LARGEST_FILE = 64 * 1024 * 1024
LARGEST_UNPACKED = 256 * 1024 * 1024
"""Bytes of everything in the file, pictures too, when unpacked."""
LARGEST_XML = 32 * 1024 * 1024
"""Bytes of its XML when unpacked; that of a long thesis has about 10 MiB."""
MOST_PARTS = 10_000

PARSER = "python-docx"

_APART = frozenset({FALLBACK, f"{W}txbxContent", f"{W}del", f"{W}moveFrom", f"{W}instrText"})
_SPACES = frozenset({f"{W}tab", f"{W}br", f"{W}cr"})
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CAPTION = re.compile(r"(?:(?:image|table|figure) )?caption", re.IGNORECASE)
_NO_TITLE = re.compile(r"microsoft word\b.*|document ?\d*|untitled.*|.*\.docx?|title|\W*", re.IGNORECASE)
_NO_AUTHOR = re.compile(
    r"(?:microsoft|windows|office) .*|python-docx|administrator|admin|user|author|unknown|\W*", re.IGNORECASE
)
_LONGEST_BASE_CHAIN = 12
_MOST_HEADING_WORDS = 14
_DAMAGE = (
    OpcError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
)


def read_docx(path: Path) -> Document:
    """Read a paper from a Word file; raises ParseError for what is none, and for what is too large."""
    _check_package(path)
    try:
        # lxml's errors are SyntaxErrors, those of compression that Python lacks NotImplementedErrors.
        package = docx.Document(str(path))
        reader = _Reader(package)
        blocks = list(reader.blocks())
        properties = package.core_properties
        known = _known(
            blocks, clean(properties.title or ""), clean(properties.author or ""), properties.keywords
        )
        known = replace(known, hidden_text=reader.hidden)
    except (*_DAMAGE, SyntaxError, NotImplementedError, RuntimeError, OSError) as error:
        raise ParseError(f"{path.name} is broken: it cannot be read as a Word file") from error
    return assemble([block for block in blocks if not isinstance(block, _Front)], known, path.name)


def _check_package(path: Path) -> None:
    """Refuse what is no zip archive, is encrypted, or would fill the memory, by its table of contents."""
    head = read_bytes(path, LARGEST_FILE)[:8]
    if not head.strip(b"\x00"):
        raise ParseError(f"{path.name} is empty")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise ParseError(
            f"{path.name} is encrypted, or an old Word file: save it as .docx without a password"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (*_DAMAGE, OSError) as error:
        raise ParseError(f"{path.name} is not a Word file: it is no zip archive, or cut off") from error
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise ParseError(f"{path.name} is encrypted: save it without a password")
    xml = sum(entry.file_size for entry in entries if entry.filename.lower().endswith((".xml", ".rels")))
    if xml > LARGEST_XML or sum(e.file_size for e in entries) > LARGEST_UNPACKED or len(entries) > MOST_PARTS:
        raise ParseError(f"{path.name} would unpack to more than any paper holds (a zip bomb?)")


@dataclass(frozen=True, slots=True)
class _Front:
    """A paragraph that its style calls title, author or date."""

    text: str
    style: str


def _known(blocks: list["Block | _Front"], title: str, writer: str, keywords: str) -> Document:
    """Build a document from the styled paragraphs, or else from the file's properties."""
    front = [block for block in blocks if isinstance(block, _Front)]
    titles = [block.text for block in front if block.style == "title"]
    names = [block.text for block in front if block.style == "author"]
    dates = (year for block in front if block.style == "date" and (year := year_in(block.text)))
    title, writer = clean(title), clean(writer)
    own = "" if _NO_TITLE.fullmatch(title) or len(title.split()) < 2 else title
    people = [name for text in names for name in re.split(r"(?:(?<!\s)\s++)?(?:;|,|\band\b|&)\s*+", text)]
    if not people and not _NO_AUTHOR.fullmatch(writer):
        people = re.split(r"(?:(?<!\s)\s++)?;\s*+", writer)
    return Document(
        title=" ".join(titles) or own or _first_line(blocks),
        authors=_authors(people),
        year=next(dates, None),
        keywords=keywords_in(clean(keywords)),
        parser=PARSER,
        parser_version=docx.__version__,
    )


def _authors(names: list[str]) -> tuple[Author, ...]:
    found = (author(name) for name in names if any(letter.isalpha() for letter in name))
    return tuple(dict.fromkeys(found))


def _first_line(blocks: list["Block | _Front"]) -> str:
    """Take the first paragraph off where it may be the title and no heading stands before it."""
    if blocks and isinstance(first := blocks[0], Prose) and len(blocks) > 1 and may_be_title(first.text):
        del blocks[0]
        return first.text
    return ""


class _Reader:
    """Reads the paragraphs and tables of one file in their order."""

    def __init__(self, package: Any) -> None:
        self._body = package.element.body
        self._levels = {style.style_id: _level(style) for style in package.styles}
        self._names = {style.style_id: (style.name or "").lower() for style in package.styles}
        look = Look(
            package.element, package.styles.element, package.settings.element, _theme(package.part.rels)
        )
        self.hidden = remove_hidden(self._body, look)
        self._notes: dict[tuple[str, str], str] = {}
        for kind, notes in _notes(package.part.rels):
            self.hidden += remove_hidden(notes, look)
            self._notes |= _texts_of_notes(kind, notes)
        self._is_styled = any(self._levels.get(style) for style in map(_style_id, self._body.iter(f"{W}p")))

    def blocks(self) -> Iterator[Block | _Front]:
        yield from self._within(self._body)

    def _within(self, container: Any) -> Iterator[Block | _Front]:
        for child in container:
            if child.tag == f"{W}p":
                yield from self._paragraph(child)
            elif child.tag == f"{W}tbl":
                rows = (" | ".join(map(_text_below, row.iter(f"{W}tc"))) for row in child.iter(f"{W}tr"))
                yield Rows(tuple(row for row in rows if row.strip(" |")))
            elif child.tag not in _APART:
                # Content controls, insertions and the like hold paragraphs too.
                yield from self._within(child)

    def _paragraph(self, element: Any) -> Iterator[Block | _Front]:
        text = clean("".join(_flow(element)))
        style = self._names.get(_style_id(element), "")
        if text and not style.startswith("toc"):
            yield self._block(element, text, style)
        for box in element.iter(f"{W}txbxContent"):
            if not any(ancestor.tag == FALLBACK for ancestor in box.iterancestors()):
                yield from self._within(box)
        for mark in element.iter(f"{W}footnoteReference", f"{W}endnoteReference"):
            if note := self._notes.get((mark.tag, mark.get(f"{W}id"))):
                yield Prose(note, "note")

    def _block(self, element: Any, text: str, style: str) -> Block | _Front:
        if style in ("title", "author", "date"):
            return _Front(text, style)
        if level := self._levels.get(_style_id(element), 0) or _own_level(element):
            return WrittenHeading(text, level)
        if style.startswith("abstract"):
            return (
                WrittenHeading(text, 1) if "title" in style or "heading" in style else Prose(text, "abstract")
            )
        if not self._is_styled and _looks_like_heading(element, text):
            return WrittenHeading(text, 1)
        if _CAPTION.fullmatch(style):
            return Prose(text, "caption")
        return Rows((text,)) if style in ("source code", "html preformatted") else Prose(text)


def _style_id(paragraph: Any) -> str:
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else str(style.get(f"{W}val", ""))


def _level(style: Any) -> int:
    """Return the level of headings in a style or one it is based on; 0 for other styles."""
    for _ in range(_LONGEST_BASE_CHAIN):
        if style is None:
            break
        if match := _HEADING.match(style.name or ""):
            return int(match[1])
        if level := _own_level(style.element):
            return level
        style = getattr(style, "base_style", None)
    return 0


def _own_level(element: Any) -> int:
    """Return the outline level that a paragraph or style states, from 1; Word's 9 is running text."""
    level = element.find(f"{W}pPr/{W}outlineLvl")
    value = "" if level is None else str(level.get(f"{W}val", ""))
    return int(value) + 1 if value in tuple("012345678") else 0


def _looks_like_heading(element: Any, text: str) -> bool:
    """Return True if a short paragraph is all in bold: a heading where a file has no styles."""
    runs = [run for run in element.iter(f"{W}r") if "".join(_flow(run)).strip()]
    is_short = len(text.split()) <= _MOST_HEADING_WORDS and not text.endswith((".", ",", ";"))
    return is_short and bool(runs) and all(_is_bold(run) for run in runs)


def _is_bold(run: Any) -> bool:
    bold = run.find(f"{W}rPr/{W}b")
    return bold is not None and bold.get(f"{W}val", "1") not in ("0", "false", "off")


def _flow(element: Any) -> Iterator[str]:
    """Yield the text of a paragraph, with what was inserted, without what was deleted or stands in boxes."""
    for child in element:
        if child.tag in (f"{W}t", f"{M}t"):
            yield child.text or ""
        elif child.tag in _SPACES:
            yield " "
        elif child.tag == f"{W}noBreakHyphen":
            yield "-"
        elif child.tag not in _APART:
            yield from _flow(child)


def _text_below(element: Any) -> str:
    return clean(" ".join("".join(_flow(paragraph)) for paragraph in element.iter(f"{W}p")))


def _theme(relations: Mapping[str, Any]) -> Any:
    """Return the XML of a file's theme, None where it has none."""
    for relation in relations.values():
        if relation.reltype.endswith("/theme") and not relation.is_external:
            return parse_xml(relation.target_part.blob)
    return None


def _notes(relations: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the footnotes and the endnotes of a file as XML, each with what they are called."""
    for relation in relations.values():
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind in ("footnotes", "endnotes") and not relation.is_external:
            part: Part = relation.target_part
            yield kind, parse_xml(part.blob)


def _texts_of_notes(kind: str, notes: Any) -> dict[tuple[str, str], str]:
    """Return notes by the tag of what refers to them and their id."""
    found = ((note.get(f"{W}id", ""), _text_below(note)) for note in notes.iter(f"{W}{kind[:-1]}"))
    return {(f"{W}{kind[:-1]}Reference", identifier): text for identifier, text in found if text}
