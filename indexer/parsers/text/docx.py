"""Word files (.docx) to a document: headings by their styles, notes and tables in their places.

The file may be hostile: its sizes are checked before it is opened, and python-docx reads its XML without
resolving entities or fetching anything.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import OpcError
from docx.opc.part import Part
from docx.oxml import parse_xml

from corpus.markup.raised import lower_text, raise_text
from corpus.wording import counted
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.identifiers import year_in
from indexer.parsers.text.docx_hidden import FALLBACK, Look, M, W, remove_hidden
from indexer.parsers.text.docx_math import FORMULAS, formula_text
from indexer.parsers.text.docx_package import readable_package
from indexer.parsers.text.docx_symbols import UNREADABLE, in_font, symbol
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
    shifted,
    without_marks,
)

PARSER = "python-docx"

_APART = frozenset(
    f"{W}{name}" for name in "del moveFrom delInstrText rPr pPr sdtPr tblPr trPr tcPr".split()
) | {FALLBACK}
_WRITTEN = {f"{W}noBreakHyphen": "-", f"{W}tab": " ", f"{W}ptab": " ", f"{W}br": "\n", f"{W}cr": "\n"}
_GRAPHIC = "{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData"
_DIAGRAM = re.compile(r"/(?:diagram|chart)\b")
_TURNS = {"raised": raise_text, "lowered": lower_text}
_FORMULA = "[formula]"
_EQUATION = re.compile(r"equation|mathtype", re.IGNORECASE)
_SYMBOL_FIELD = re.compile(
    r"\s*SYMBOL\s+(?:0x(?P<hex>[0-9a-f]+)|(?P<place>\d+))(?:.*?\\f\s+\"?(?P<font>[^\"\\]+))?", re.IGNORECASE
)
_EQUATION_FIELD = re.compile(r"\s*EQ\s", re.IGNORECASE)
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
    """Read a paper from a Word file; raises ParseError for other files, and for too large ones."""
    package = readable_package(path)
    try:
        # lxml's errors are SyntaxErrors, those of compression that Python lacks NotImplementedErrors.
        file = docx.Document(package)
        reader = _Reader(file)
        blocks = list(reader.blocks())
        properties = file.core_properties
        title, writer = clean(properties.title or ""), clean(properties.author or "")
        metadata = _known(blocks, title, writer, properties.keywords)
        metadata = replace(metadata, hidden_text=reader.hidden, notes=reader.remarks())
    except (*_DAMAGE, SyntaxError, NotImplementedError, RuntimeError, OSError) as error:
        raise ParseError(f"{path.name} is broken: it cannot be read as a Word file") from error
    return assemble([block for block in blocks if not isinstance(block, _Front)], metadata, path.name)


@dataclass(frozen=True, slots=True)
class _Front:
    """A paragraph styled as title, author or date."""

    text: str
    style: str


def _known(blocks: list["Block | _Front"], title: str, writer: str, keywords: str) -> Document:
    """Return the metadata from styled paragraphs, else from the file's properties."""
    front = [block for block in blocks if isinstance(block, _Front)]
    titles = [block.text for block in front if block.style == "title"]
    names = [without_marks(block.text) for block in front if block.style == "author"]
    dates = (year for block in front if block.style == "date" and (year := year_in(block.text)))
    property_title = "" if _NO_TITLE.fullmatch(title) or len(title.split()) < 2 else title
    people = [name for text in names for name in re.split(r"(?:(?<!\s)\s++)?(?:;|,|\band\b|&)\s*+", text)]
    if not people and not _NO_AUTHOR.fullmatch(writer):
        people = re.split(r"(?:(?<!\s)\s++)?;\s*+", writer)
    return Document(
        title=" ".join(titles) or property_title or _first_line(blocks),
        authors=tuple(dict.fromkeys(author(name) for name in people if any(map(str.isalpha, name)))),
        year=next(dates, None),
        keywords=keywords_in(clean(keywords)),
        parser=PARSER,
        parser_version=docx.__version__,
    )


def _first_line(blocks: list["Block | _Front"]) -> str:
    """Remove and return the first paragraph if it may be the title and no heading precedes it."""
    if (
        blocks
        and isinstance(first := blocks[0], Prose)
        and len(blocks) > 1
        and may_be_title(clean(first.text))
    ):
        del blocks[0]
        return clean(first.text)
    return ""


@dataclass(slots=True)
class _Line:
    """A paragraph being read: parts of text with their shift, and attached boxes and notes."""

    parts: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fields: list[int] = field(default_factory=list)
    """Per open field the index in `parts` where its code begins; -1 after the code."""
    code: str = ""

    def text(self) -> str:
        """Return the text in its lines, superscripts and subscripts converted."""
        runs = groupby(self.parts, key=lambda part: part[1])
        written = "".join(_written("".join(text for text, _ in run), shift) for shift, run in runs)
        return "\n".join(filter(None, map(clean, written.split("\n"))))

    def add(self, text: str, shift: str = "") -> None:
        if text:
            self.parts.append((text, shift))


def _written(text: str, shift: str) -> str:
    return shifted(text, _TURNS[shift]) if shift else text


class _Reader:
    """Reads the paragraphs and tables of one file in their order."""

    def __init__(self, package: Any) -> None:
        self._body = package.element.body
        self._levels = {style.style_id: _level(style) for style in package.styles}
        self._names = {style.style_id: (style.name or "").lower() for style in package.styles}
        self._look = Look(
            package.element, package.styles.element, package.settings.element, _theme(package.part.rels)
        )
        self._unread = dict.fromkeys(("formula", "sign", "part", "diagram"), 0)
        self._struck = 0
        self.hidden = remove_hidden(self._body, self._look)
        self._notes: dict[tuple[str, str], str] = {}
        for kind, notes in _notes(package.part.rels):
            self.hidden += remove_hidden(notes, self._look)
            self._notes |= self._texts_of_notes(kind, notes)
        self._is_styled = any(self._levels.get(style) for style in map(_style_id, self._body.iter(f"{W}p")))

    def blocks(self) -> Iterator[Block | _Front]:
        yield from self._within(self._body)

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on the parts of the file that could not be read."""
        formulas, signs, parts, diagrams = self._unread.values()
        return tuple(
            remark
            for count, remark in (
                (formulas, f"{counted(formulas, 'formula')} of an equation editor cannot be read"),
                (signs, f"{counted(signs, 'sign')} of unknown symbol fonts cannot be read ({UNREADABLE})"),
                (parts, f"{counted(parts, 'inserted file')} cannot be read"),
                (diagrams, f"{counted(diagrams, 'diagram')} of Word's own (SmartArt, charts) cannot be read"),
                (self._struck, f"{counted(self._struck, 'letter')} that are struck out were left out"),
            )
            if count
        )

    def _within(self, container: Any) -> Iterator[Block | _Front]:
        joined: _Line | None = None
        for child in container:
            if child.tag == f"{W}p":
                line = joined or _Line()
                self._read(child, line)
                # A paragraph with a deleted end mark, or a drop cap, continues in the next.
                marks = child.find(f"{W}pPr/{W}rPr")
                is_deleted = marks is not None and any(
                    mark.tag in (f"{W}del", f"{W}moveFrom") for mark in marks
                )
                frame = child.find(f"{W}pPr/{W}framePr")
                is_drop_cap = frame is not None and frame.get(f"{W}dropCap") in ("drop", "margin")
                joined = line if is_deleted or is_drop_cap else None
                yield from () if joined else self._paragraph(child, line)
            elif child.tag == f"{W}tbl":
                yield from self._table(child)
            elif child.tag == f"{W}altChunk":
                self._unread["part"] += 1
            elif child.tag not in _APART and not _is_placeholder(child):
                # Content controls, insertions and the like hold paragraphs too.
                yield from self._within(child)
        if joined and (text := joined.text()):
            yield Prose(text)

    def _paragraph(self, element: Any, line: _Line) -> Iterator[Block | _Front]:
        text = line.text()
        style = self._names.get(_style_id(element), "")
        if text and not style.startswith("toc"):
            yield self._block(element, text, style)
        yield from self._attached(line)

    def _attached(self, line: _Line) -> Iterator[Block | _Front]:
        for box in line.boxes:
            yield from self._within(box)
        for note in line.notes:
            yield Prose(note, "note")

    def _table(self, table: Any) -> Iterator[Block | _Front]:
        rows = [list(_parts_of(row, "tc")) for row in _parts_of(table, "tr")]
        if len(rows) == 1 and len(rows[0]) == 1:
            yield from self._within(rows[0][0])  # a text frame
            return
        line = _Line()
        above: dict[int, str] = {}
        texts = [" | ".join(self._cells(row, line, above)) for row in _parts_of(table, "tr")]
        yield Rows(tuple(row for row in texts if row.strip(" |")))
        yield from self._attached(line)

    def _cells(self, row: Any, attached: _Line, above: dict[int, str]) -> Iterator[str]:
        """Yield the texts of a row's cells; a vertically merged cell repeats the text above.

        `above` are the texts of merged cells by their columns.
        """
        before = row.find(f"{W}trPr/{W}gridBefore")
        column = int(before.get(f"{W}val", "0")) if before is not None else 0
        yield from [""] * column
        for cell in _parts_of(row, "tc"):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and merged.get(f"{W}val", "continue") == "continue"
            text = above.get(column, "") if goes_on else self._text_below(cell, attached)
            above[column] = text if merged is not None else ""
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            column += int(span.get(f"{W}val", "1")) if span is not None else 1
            yield text

    def _text_below(self, container: Any, attached: _Line) -> str:
        """Return the text of a cell or note on one line, tables in it with commas and semicolons."""
        texts = []
        for child in container:
            if child.tag == f"{W}p":
                line = _Line(boxes=attached.boxes, notes=attached.notes)
                self._read(child, line)
                texts.append(clean(line.text()))
            elif child.tag == f"{W}tbl":
                cells: dict[int, str] = {}
                rows = [
                    ", ".join(filter(None, self._cells(row, attached, cells)))
                    for row in _parts_of(child, "tr")
                ]
                texts.append("; ".join(filter(None, rows)))
            elif child.tag not in _APART and not _is_placeholder(child):
                texts.append(self._text_below(child, attached))
        return " ".join(filter(None, texts))

    def _read(self, element: Any, line: _Line, shift: str = "") -> None:
        """Append the text of an element to a line, with insertions and without deletions."""
        for child in element:
            if (text := self._own_text(child)) is not None:
                line.add(text, shift)
            elif child.tag == f"{W}r" and self._look.is_struck(child):
                self._struck += sum(len(text.text or "") for text in child.iter(f"{W}t"))
            elif child.tag == f"{W}r":
                self._read(child, line, self._look.shift(child))
            elif child.tag == f"{W}ruby":
                self._read(child.find(f"{W}rubyBase"), line, shift)
            elif child.tag not in _APART and not _is_placeholder(child) and not self._attach(child, line):
                self._read(child, line, shift)

    def _own_text(self, element: Any) -> str | None:
        """Return the text of an element that is read as a whole, None for others."""
        tag = element.tag
        if tag in (f"{W}t", f"{M}t"):
            font = self._look.font(element.getparent())
            return self._known_sign(in_font(font, element.text or ""))
        if tag == f"{W}sym":
            return self._known_sign(symbol(element.get(f"{W}font", ""), element.get(f"{W}char", "")))
        if tag in FORMULAS:
            return formula_text(element, self._text_of_run)
        if tag == f"{W}object" and any(_EQUATION.search(part.get("ProgID", "")) for part in element):
            return self._unread_formula()
        if tag == _GRAPHIC and _DIAGRAM.search(element.get("uri", "")):
            self._unread["diagram"] += 1
        return _WRITTEN.get(tag)

    def _attach(self, element: Any, line: _Line) -> bool:
        """Store boxes, notes and fields of a line; return False for other elements."""
        if element.tag == f"{W}txbxContent":
            line.boxes.append(element)
        elif element.tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
            line.notes += filter(None, [self._notes.get((element.tag, element.get(f"{W}id")))])
        elif element.tag == f"{W}fldChar":
            self._take_field(element, line)
        elif element.tag == f"{W}instrText":
            line.code += element.text or ""
        else:
            return False
        return True

    def _take_field(self, mark: Any, line: _Line) -> None:
        """Track fields, also nested ones: drop the text of their codes and keep their results."""
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            line.fields.append(len(line.parts))
            line.code = ""
        elif line.fields and line.fields[-1] >= 0:
            del line.parts[line.fields[-1] :]
            if kind == "end":
                line.add(self._result_of(line.code))
            else:
                line.fields[-1] = -1
        if kind == "end" and line.fields:
            line.fields.pop()

    def _result_of(self, code: str) -> str:
        """Return the text of a field that Word renders from its code alone."""
        if _EQUATION_FIELD.match(code):
            return self._unread_formula()
        match = _SYMBOL_FIELD.match(code)
        if match is None:
            return ""
        place = match["hex"] or f"{int(match['place']):x}"
        return self._known_sign(symbol((match["font"] or "").strip(), place))

    def _text_of_run(self, run: Any) -> str:
        line = _Line()
        self._read(run, line, self._look.shift(run))
        return "".join(_written(text, shift) for text, shift in line.parts)

    def _known_sign(self, text: str) -> str:
        self._unread["sign"] += text.count(UNREADABLE)
        return text

    def _unread_formula(self) -> str:
        self._unread["formula"] += 1
        return _FORMULA

    def _texts_of_notes(self, kind: str, notes: Any) -> dict[tuple[str, str], str]:
        """Return the texts of notes, by the tag of their references and their id."""
        texts = (
            (note.get(f"{W}id", ""), self._text_below(note, _Line()))
            for note in notes.iter(f"{W}{kind[:-1]}")
        )
        return {(f"{W}{kind[:-1]}Reference", identifier): text for identifier, text in texts if text}

    def _block(self, element: Any, lines: str, style: str) -> Block | _Front:
        text = clean(lines)
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
        return Rows((text,)) if style in ("source code", "html preformatted") else Prose(lines)


def _parts_of(element: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, without nested tables and deleted ones."""
    for child in element:
        if child.tag == f"{W}{name}":
            marks = child.find(f"{W}{name}Pr")
            if marks is None or not any(m.tag in (f"{W}del", f"{W}cellDel") for m in marks):
                yield child
        elif child.tag not in _APART and child.tag != f"{W}tbl":
            yield from _parts_of(child, name)


def _is_placeholder(control: Any) -> bool:
    """Return True for a content control with only the prompt "Click here to enter text"."""
    return control.tag == f"{W}sdt" and control.find(f"{W}sdtPr/{W}showingPlcHdr") is not None


def _style_id(paragraph: Any) -> str:
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else str(style.get(f"{W}val", ""))


def _level(style: Any) -> int:
    """Return the heading level of a style or one it is based on; 0 for other styles."""
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
    """Return the outline level of a paragraph or style, from 1; 0 for body text (Word's 9)."""
    level = element.find(f"{W}pPr/{W}outlineLvl")
    value = "" if level is None else str(level.get(f"{W}val", ""))
    return int(value) + 1 if value in tuple("012345678") else 0


def _looks_like_heading(element: Any, text: str) -> bool:
    """Return True for a short bold paragraph: a heading in files without styles."""
    runs = [run for run in element.iter(f"{W}r") if any((t.text or "").strip() for t in run.iter(f"{W}t"))]
    is_short = len(text.split()) <= _MOST_HEADING_WORDS and not text.endswith((".", ",", ";"))
    return is_short and bool(runs) and all(_is_bold(run) for run in runs)


def _is_bold(run: Any) -> bool:
    bold = run.find(f"{W}rPr/{W}b")
    return bold is not None and bold.get(f"{W}val", "1") not in ("0", "false", "off")


def _theme(relations: Mapping[str, Any]) -> Any:
    """Return the XML of a file's theme, None without one."""
    for relation in relations.values():
        if relation.reltype.endswith("/theme") and not relation.is_external:
            return parse_xml(relation.target_part.blob)
    return None


def _notes(relations: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield "footnotes" and "endnotes" with their XML."""
    for relation in relations.values():
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind in ("footnotes", "endnotes") and not relation.is_external:
            part: Part = relation.target_part
            yield kind, parse_xml(part.blob)
