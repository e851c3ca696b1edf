"""PDF to document without a server: the parts of a paper, recognised by their typography."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from corpus.pdf.file import PDFIUM_VERSION, PdfError, page_count, title_in_properties
from corpus.pdf.pages import PdfPage, read_pages
from corpus.records import Box, PassageKind, Section
from indexer.errors import ParseError
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.parsers.identifiers import find_doi, read_arxiv_stamp
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions
from indexer.parsers.pdf.figures import figure_area
from indexer.parsers.pdf.front_matter import (
    author_names,
    authors_beside,
    bare_abstract,
    begins_run_in,
    cover_pages,
    find_title,
    is_abstract_heading,
    leaves_inset,
    printed_year,
    title_lines,
    without_run_in,
)
from indexer.parsers.pdf.headings import Heading, HeadingFinder
from indexer.parsers.pdf.layout import lines_in_order
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import Style, Vocabulary, paragraph, printed_text, split_paragraphs
from indexer.parsers.pdf.references import split_references
from indexer.parsers.pdf.repair import with_letters_found
from indexer.parsers.pdf.roles import begins_float, roles
from indexer.parsers.pdf.scanned import check_text, page_list, with_scans_read
from indexer.parsers.pdf.tables import TABLE_CAPTION, FoundTable, caption_runs, find_tables
from indexer.parsers.section_names import BIBLIOGRAPHY, KEYWORDS
from indexer.parsers.tables import table_paragraph

PARSER = "pypdfium2"

MOST_PAGES = 1_000
"""The most pages read of one file: their words take about 600 MiB."""

_FEWEST_TURNED = 12  # words; stamps and axis labels have fewer
_UNBOUNDED_AUTHORS = 8  # lines below a title searched for authors if there is no abstract

# Not "keyword" at the beginning of an abstract's line.
_KEYWORDS = re.compile(
    rf"(?!key ?-?word\b)(?:{KEYWORDS.pattern}|general terms)\b\s*[:.—–-]*\s*", re.IGNORECASE
)


def read_pdf(path: Path, most_pages: int = MOST_PAGES, ocr: OcrOptions = NO_OCR) -> Document:
    """Read a paper from the text layer of its PDF, at most `most_pages` pages.

    Pages without text are read with `ocr`. Raises ParseError for files that are broken, encrypted or empty,
    and for scans without OCR.
    """
    try:
        count = page_count(path)
        pages = list(islice(read_pages(path, upright=True), most_pages))
        scanned = with_scans_read(path, pages, ocr)
    except PdfError as error:
        raise ParseError(str(error)) from error
    check_text(path, scanned.pages, ocr, scanned.notes)
    shown, unread = with_letters_found(scanned.pages)
    lines = lines_in_order(shown)
    if not lines:
        raise ParseError(f"{path.name} has no running text on its {len(pages)} pages")
    covers = cover_pages(lines, Style.of(lines))
    document = _Reader([line for line in lines if line.page > covers], title_in_properties(path)).document(
        count
    )
    document = _with_cover(scanned.as_shown(document), [line for line in lines if line.page <= covers])
    # The stamp in the margin is rotated; its words come first.
    words = sorted(scanned.pages[0].words, key=lambda word: word.upright)
    arxiv_id, posted = read_arxiv_stamp(" ".join(word.text for word in words)) or ("", None)
    left_out = f"only the first {most_pages:,} of its {count:,} pages were read"
    missing = f"letters are missing on {page_list(unread)}: the font does not say which they are"
    return replace(
        document,
        year=next(filter(None, map(printed_year, reversed(scanned.pages[: covers + 1]))), None) or posted,
        arxiv_id=arxiv_id,
        notes=(
            *((left_out,) if count > most_pages else ()),
            *scanned.notes,
            *document.notes,
            *_turned_text(scanned.pages),
            *((missing,) if unread else ()),
        ),
        hidden_text=sum(len(word.text) for page in pages for word in page.unseen),
        hidden_pages=tuple(page.number for page in pages if page.unseen),
    )


def _with_cover(document: Document, cover: Sequence[Line]) -> Document:
    """Return a document with metadata from its cover sheets, and a remark on these."""
    if not cover:
        return document
    count = cover[-1].page
    remark = (
        "page 1 is a cover sheet and left out"
        if count == 1
        else f"pages 1-{count} are cover sheets and left out"
    )
    starts = range(1, min(len(cover), _UNBOUNDED_AUTHORS))
    authors = document.authors or next(filter(None, (author_names([cover[start:]]) for start in starts)), ())
    doi = find_doi(" ".join(line.text for line in cover))
    return replace(document, authors=authors, doi=document.doi or doi, notes=(*document.notes, remark))


def _turned_text(pages: Sequence[PdfPage]) -> tuple[str, ...]:
    """Return a remark on the pages with longer text that is not upright, which is not read."""
    unread = [
        page.number
        for page in pages
        if any(sum(word.turn == turn for word in page.words) >= _FEWEST_TURNED for turn in (1, 2, 3))
    ]
    if not unread:
        return ()
    return (f"text on {page_list(unread)} lies on its side or upside down and was not read",)


@dataclass(slots=True)
class _SectionLines:
    path: tuple[Section, ...]
    body: list[Line] = field(default_factory=list)
    floats: list[tuple[PassageKind, list[Line]]] = field(default_factory=list)
    tables: list[FoundTable] = field(default_factory=list)


class _Reader:
    """Sorts the lines of one paper into its parts."""

    def __init__(self, lines: list[Line], printed_title: str) -> None:
        self._style = Style.of(lines)
        self._vocabulary = Vocabulary(lines)
        self._title = find_title(lines, printed_title) or title_lines(lines, self._style)
        self._lines = lines
        self._roles = roles(lines, self._style)
        self._tables = {
            index: table
            for table in find_tables(lines, self._roles, self._style)
            for index in (*table.caption, *table.members)
        }
        self._mark_insides()

    def document(self, page_count: int) -> Document:
        title = self._vocabulary.join_lines(printed_text(self._lines[index]) for index in self._title)
        front, start, abstract, keywords = self._abstract()
        right = authors_beside(self._lines, self._title, front) if abstract else range(0)
        below = range(self._title.stop, front if abstract else self._title.stop + _UNBOUNDED_AUTHORS)
        for index in right:
            self._roles[index] = "artifact"
        sections, references = self._sections(start)
        return Document(
            title=re.sub(r"(?:(?<!\s)\s++)?(?<![*∗†‡§¶])[*∗†‡§¶]++$", "", title).strip(),
            authors=author_names(self._lines[part.start : part.stop] for part in (below, right)),
            abstract=abstract,
            keywords=keywords,
            sections=tuple(sections),
            references=split_references(references, self._vocabulary),
            page_count=page_count,
            parser=PARSER,
            parser_version=PDFIUM_VERSION,
        )

    def _abstract(self) -> tuple[int, int, tuple[Paragraph, ...], tuple[str, ...]]:
        """Return the first line of the abstract and of the body, the abstract and the keywords."""
        start = self._abstract_start()
        if start is None:
            bare = bare_abstract(self._lines, self._title.stop)
            if not bare:
                return self._title.stop, self._title.stop, (), ()
            return bare.start, bare.stop, *self._abstract_parts(bare)
        first = start + 1 if is_abstract_heading(self._lines[start]) else start
        stop = self._abstract_stop(first)
        return start, stop, *self._abstract_parts(range(first, stop))

    def _abstract_parts(self, part: range) -> tuple[tuple[Paragraph, ...], tuple[str, ...]]:
        body = [i for i in part if self._roles[i] == "body"]
        keywords = next((i for i in body if _KEYWORDS.match(self._lines[i].text)), part.stop)
        lines = [self._lines[i] for i in body if i < keywords]
        words = [self._lines[i] for i in body if i >= keywords]
        groups = split_paragraphs(lines, self._style)
        paragraphs = [paragraph(group, self._vocabulary, "abstract") for group in groups]
        if lines and begins_run_in(lines[0]):
            paragraphs = _without_run_in(paragraphs)
        # Longer keywords are text after them.
        printed = _KEYWORDS.sub("", paragraph(words[:6], self._vocabulary).text, count=1) if words else ""
        separator = next((mark for mark in (";", "·", "•", ",") if mark in printed), ",")
        terms = (term.strip(" .") for term in printed.split(separator))
        return tuple(paragraphs), tuple(term for term in terms if 1 < len(term) < 80)

    def _abstract_start(self) -> int | None:
        first_pages = [i for i, line in enumerate(self._lines) if line.page <= 2 and i >= self._title.stop]
        for test in (is_abstract_heading, begins_run_in):
            for index in first_pages:
                if test(self._lines[index]):
                    return index
        return None

    def _abstract_stop(self, first: int) -> int:
        """Return the first line after the abstract: a heading, or where lines exceed its width."""
        finder = HeadingFinder(self._lines, self._style, self._vocabulary)
        for index in range(first + 1, min(first + 120, len(self._lines))):
            if self._roles[index] == "body" and finder.at(index) is not None:
                return index
            if leaves_inset(self._lines, first, index):
                return index
        return min(first + 30, len(self._lines))

    def _sections(self, start: int) -> tuple[list[DocumentSection], list[Line]]:
        finder = HeadingFinder(self._lines, self._style, self._vocabulary)
        sections = [_SectionLines(())]
        references: list[Line] = []
        depths: list[int] = []
        in_references = False
        index = start
        while index < len(self._lines):
            is_text = self._roles[index] == "body" and index not in self._tables
            heading = finder.at(index) if is_text else None
            if (
                heading is not None
                and in_references
                and not (line := self._lines[index]).bold
                and line.size <= 1.04 * self._style.size
                and not heading.section.title.isupper()
            ):
                heading = None
            if heading is None:
                self._add(index, sections[-1], references if in_references else None)
                index += 1
                continue
            in_references = BIBLIOGRAPHY.fullmatch(heading.section.title) is not None
            index += heading.lines
            if not in_references:
                sections.append(_SectionLines(_path(sections[-1].path, depths, heading)))
        return [self._section(section) for section in sections if section.path or section.body], references

    def _add(self, index: int, section: _SectionLines, references: list[Line] | None) -> None:
        line, role = self._lines[index], self._roles[index]
        if table := self._tables.get(index):
            if index == table.first:
                section.tables.append(table)
            return
        if role == "artifact":
            return
        if role == "caption" or (role == "table" and (references is None or self._has_caption(index))):
            self._add_float(index, section, "caption")
        elif references is not None:
            references.append(line)
        elif role == "note":
            self._add_float(index, section, "note")
        elif role == "body":
            section.body.append(line)

    def _has_caption(self, index: int) -> bool:
        """Return True if the table around a line ends at a caption, unlike references that look like rows."""
        column = self._lines[index].column
        for line, role in zip(self._lines[index:], self._roles[index:], strict=True):
            if role != "table" or line.column != column:
                return role == "caption" and line.column == column
        return False

    def _add_float(self, index: int, section: _SectionLines, kind: PassageKind) -> None:
        continues = (
            index > 0
            and section.floats
            and self._roles[index - 1] == self._roles[index]
            and section.floats[-1][1][-1] is self._lines[index - 1]
            and not begins_float(self._lines, index, self._roles[index])
        )
        if continues:
            section.floats[-1][1].append(self._lines[index])
        else:
            section.floats.append((kind, [self._lines[index]]))

    def _section(self, lines: _SectionLines) -> DocumentSection:
        body = [paragraph(group, self._vocabulary) for group in split_paragraphs(lines.body, self._style)]
        floats = [self._float(kind, group) for kind, group in lines.floats]
        tables = [self._table(table) for table in lines.tables]
        return DocumentSection(lines.path, tuple(p for p in (*body, *floats, *tables) if p.sentences))

    def _float(self, kind: PassageKind, lines: list[Line]) -> Paragraph:
        is_figure = kind == "caption" and not TABLE_CAPTION.match(lines[0].text)
        area = figure_area(self._lines, self._roles, lines) if is_figure else None
        return replace(paragraph(lines, self._vocabulary, kind), area=area)

    def _mark_insides(self) -> None:
        """Mark lines within figures, such as axis numbers, which look like tables."""
        for run in caption_runs(self._lines, self._roles):
            caption = [self._lines[index] for index in run]
            if TABLE_CAPTION.match(caption[0].text):
                continue
            area = figure_area(self._lines, self._roles, caption)
            rows = [index for index, role in enumerate(self._roles) if role == "table"] if area else []
            for index in rows:
                if area and index not in self._tables and _is_in(self._lines[index], area):
                    self._roles[index] = "figure"

    def _table(self, table: FoundTable) -> Paragraph:
        caption = paragraph([self._lines[index] for index in table.caption], self._vocabulary).sentences
        return table_paragraph(caption, table.table, table.row_boxes, table.area)


def _is_in(line: Line, area: Box) -> bool:
    is_level = area.y - 2 <= line.top and line.bottom <= area.y + area.height + 2
    return line.page == area.page and is_level and area.x - 4 <= line.left <= area.x + area.width


def _path(path: tuple[Section, ...], depths: list[int], heading: Heading) -> tuple[Section, ...]:
    """Return the path of a heading after one with `path`; `depths` is updated with it."""
    keep = sum(depth < heading.depth for depth in depths)
    del depths[keep:]
    depths.append(heading.depth)
    return (*path[:keep], heading.section)


def _without_run_in(paragraphs: list[Paragraph]) -> list[Paragraph]:
    """Remove the word "Abstract" from the first sentence, which may consist of it."""
    first, *remaining = paragraphs
    opening, *sentences = first.sentences
    text = without_run_in(opening.text)
    pieces = (Piece(text, opening.boxes), *sentences) if text else tuple(sentences)
    return [Paragraph(pieces, first.kind), *remaining] if pieces else remaining
