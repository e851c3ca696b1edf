"""Headings and paragraphs to a document: shared by Markdown, plain text, Word and web pages."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from corpus.records import Author, PassageKind, Reference, Section
from corpus.sentences import sentence_spans
from corpus.text import storable
from indexer.errors import ParseError
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.parsers.identifiers import find_arxiv_id, find_doi, letters_of
from indexer.parsers.pdf.headings import parse_heading
from indexer.parsers.pdf.references import read_reference
from indexer.parsers.section_names import ABSTRACT, BIBLIOGRAPHY, KEYWORD_SEPARATOR, KEYWORDS, is_no_title

_KEYWORDS = re.compile(rf"(?:{KEYWORDS.pattern})\s*(?:[:.—–-]+|$)\s*", re.IGNORECASE)
_ABSTRACT_RUN_IN = re.compile(r"abstract\s*[:.—–]\s*(?=\S)", re.IGNORECASE)
_LABEL = r"(?:\[[^\[\]\n]{1,30}\]:?|\(\d{1,3}\)|\d{1,3}[.)])[ \t]"
_ENTRY_LABEL = re.compile(r"(?:^|(?<=[.\])]\s))(?=\[\d{1,3}\]\s)")
_LABELLED_LINE = re.compile(rf"^(?=[ \t]*{_LABEL})", re.MULTILINE)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|\bn\.d\.|\bin press\b|\bforthcoming\b", re.IGNORECASE)
_CAPITALISED = r"[^\W\d_a-z][\w.'’-]*"
_NAME = re.compile(
    rf"\s*{_CAPITALISED}(?: (?:van|von|de[rnl]?|d[aiu]|la|el|al|bin|{_CAPITALISED})){{1,4}}\s*"
)
_MARKS = re.compile(r"(?<=[^\W\d_])(?:[\d*∗†‡§¶⁰¹²³⁴-⁹]|\^(?:\w|\{[^{}]*\}))+(?:,(?:[\d*∗†‡§¶⁰¹²³⁴-⁹]+))*")
_SHORTEST_ENTRY = 15
_LONGEST_TITLE = 250
_LONGEST_NAME = 60
_MOST_SHIFTED_WORDS = 4
_LONGEST_RUN = 10_000
"""Characters that are split into sentences at once; longer than any usual paragraph."""


@dataclass(frozen=True, slots=True)
class WrittenHeading:
    """A heading as printed, with its number; level 1 is the outermost."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, list item, caption or note, with line breaks, which may separate references."""

    text: str
    kind: PassageKind = "body"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table or the lines of a program, which are not split into sentences."""

    lines: tuple[str, ...]


Block = WrittenHeading | Prose | Rows


@dataclass(slots=True)
class _Draft:
    """The parts of a document, sorted from its blocks."""

    abstract: list[Paragraph] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    sections: list[tuple[tuple[Section, ...], list[Paragraph]]] = field(default_factory=lambda: [((), [])])


def assemble(blocks: Sequence[Block], known: Document, name: str) -> Document:
    """Make a document of blocks; the metadata of `known` take precedence over those found in the blocks.

    A single outermost heading at the beginning is the title; sections named abstract, keywords and
    references become these. Raises ParseError for a file without text, called `name`.
    """
    title, body_blocks = _title(known.title, [block for block in blocks if _is_block(block)])
    authors = known.authors
    if (
        title
        and not authors
        and body_blocks
        and isinstance(body_blocks[0], Prose)
        and (authors := _names(clean(body_blocks[0].text)))
    ):
        del body_blocks[0]
    draft = _sort(_with_named_parts(body_blocks))
    sections = tuple(DocumentSection(path, tuple(body)) for path, body in draft.sections if body)
    document = replace(
        known,
        title=title,
        authors=authors,
        abstract=known.abstract or tuple(draft.abstract),
        keywords=known.keywords or tuple(draft.keywords),
        sections=sections,
        references=tuple(draft.references),
    )
    if not (document.abstract or document.sections):
        raise ParseError(f"{name} has no text")
    return document if title else replace(document, notes=(*document.notes, "no title was found"))


def prose(text: str, kind: PassageKind = "body") -> Paragraph:
    """Split a text into sentences, white space normalised."""
    parts = (run[start:end].strip() for run in _runs(clean(text)) for start, end in sentence_spans(run))
    return Paragraph(tuple(Piece(part) for part in parts if part), kind)


def _runs(line: str) -> Iterator[str]:
    """Cut overlong text, if possible after a full stop."""
    while len(line) > _LONGEST_RUN:
        stop = line.rfind(". ", 1, _LONGEST_RUN) + 1 or line.rfind(" ", 1, _LONGEST_RUN) + 1 or _LONGEST_RUN
        yield line[:stop]
        line = line[stop:]
    yield line


def clean(text: str) -> str:
    """Return text on one line, in Unicode's NFC, without invisible characters."""
    return " ".join(unicodedata.normalize("NFC", storable(text)).split())


def shifted(text: str, turn: Callable[[str], str]) -> str:
    """Apply `turn` to raised or lowered text, except citation marks and phrases."""
    plain = text.strip()
    is_mark = plain.startswith("[") and plain.endswith("]")
    if not plain or is_mark or len(plain.split()) > _MOST_SHIFTED_WORDS:
        return text
    return text.replace(plain, turn(plain))


def author(name: str) -> Author:
    """Parse a name: "Ada Lovelace" or "Lovelace, Ada"."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        return Author(given, family)
    given, _, family = name.strip().rpartition(" ")
    return Author(given.strip(), family)


def without_marks(names: str) -> str:
    """Remove the marks of affiliations and notes after names."""
    return _MARKS.sub("", names)


def keywords_in(text: str) -> tuple[str, ...]:
    words = (word.strip(" .") for word in KEYWORD_SEPARATOR.split(_KEYWORDS.sub("", text, count=1)))
    return tuple(word for word in words if word)


def may_be_title(text: str) -> bool:
    """Return True if a first line may be a title: short, with letters, no sentence and no section name."""
    line = text.strip()
    return (
        0 < len(line) <= _LONGEST_TITLE
        and not line.endswith((".", ",", ";", ":"))
        and any(letter.isalpha() for letter in line)
        and not is_no_title(_name(line))
        and not _KEYWORDS.match(line)
        and not _ABSTRACT_RUN_IN.match(line)
    )


def _is_block(block: Block) -> bool:
    return bool("".join(block.lines) if isinstance(block, Rows) else block.text.strip())


def _title(known: str, blocks: list[Block]) -> tuple[str, list[Block]]:
    """Return the title and the blocks without it."""
    if not blocks or not isinstance(first := blocks[0], WrittenHeading):
        return known, blocks
    if known:
        return known, blocks[letters_of(first.text) == letters_of(known) :]
    levels = [block.level for block in blocks if isinstance(block, WrittenHeading)]
    is_sole = levels.count(first.level) == 1 and first.level == min(levels)
    if is_sole and not is_no_title(_name(first.text)) and not parse_heading(first.text).number:
        return first.text, blocks[1:]
    return "", blocks


def _names(text: str) -> tuple[Author, ...]:
    """Return the authors of a line that holds only names; () for other lines."""
    names = [name for name in re.split(r",(?: and\b)?|;| and | & ", without_marks(text)) if name.strip()]
    return tuple(author(name) for name in names) if all(map(_NAME.fullmatch, names)) else ()


def _name(heading: str) -> str:
    return parse_heading(heading).title.strip(" .:*_")


def _with_named_parts(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks; a paragraph that is just "Abstract" or "References" becomes a heading."""
    level = min((block.level for block in blocks if isinstance(block, WrittenHeading)), default=1)
    for block in blocks:
        text = clean(block.text) if isinstance(block, Prose) and block.kind == "body" else ""
        if 0 < len(text) <= _LONGEST_NAME and any(
            part.fullmatch(_name(text)) for part in (ABSTRACT, BIBLIOGRAPHY)
        ):
            yield WrittenHeading(text, level)
        else:
            yield block


def _sort(blocks: Iterator[Block]) -> _Draft:
    draft = _Draft()
    stack: list[tuple[int, Section]] = []
    part = ""
    for block in blocks:
        if isinstance(block, WrittenHeading):
            inner = part == "abstract" and bool(stack) and block.level > stack[-1][0]
            if inner:
                draft.abstract.append(prose(f"{block.text.strip(' .:')}:", "abstract"))
                continue
            stack = [entry for entry in stack if entry[0] < block.level]
            part = _part(block)
            stack.append((block.level, _section(block)))
            if not part:
                draft.sections.append((tuple(section for _, section in stack), []))
        else:
            _add(draft, block, part)
    return draft


def _part(heading: WrittenHeading) -> str:
    name = _name(heading.text)
    if ABSTRACT.fullmatch(name):
        return "abstract"
    if BIBLIOGRAPHY.fullmatch(name):
        return "references"
    return "keywords" if _KEYWORDS.fullmatch(name) else ""


def _section(heading: WrittenHeading) -> Section:
    section = parse_heading(" ".join(heading.text.split()))
    return Section(section.number, section.title.rstrip(":"))


def _add(draft: _Draft, block: Prose | Rows, part: str) -> None:
    if isinstance(block, Rows):
        rows = map(clean, block.lines)
        paragraph = Paragraph(tuple(Piece(row) for row in rows if row))
    else:
        paragraph = prose(block.text, block.kind)
    early = not draft.abstract and len(draft.sections) == 1
    if paragraph.kind == "note":
        draft.sections[-1][1].append(paragraph)
    elif part == "references":
        draft.references.extend(_entries(block))
    elif part == "keywords" or (_KEYWORDS.match(paragraph.text) and not draft.keywords):
        draft.keywords.extend(keywords_in(paragraph.text))
    elif part == "abstract" or paragraph.kind == "abstract":
        _add_to_abstract(draft, paragraph)
    elif early and (run_in := _ABSTRACT_RUN_IN.match(paragraph.text)):
        _add_to_abstract(draft, prose(paragraph.text[run_in.end() :]))
    else:
        draft.sections[-1][1].append(paragraph)


def _add_to_abstract(draft: _Draft, paragraph: Paragraph) -> None:
    """Add a paragraph to the abstract, joined to a preceding inner heading."""
    before = draft.abstract[-1].text if draft.abstract else ""
    if before.endswith(":"):
        draft.abstract[-1] = prose(f"{before} {paragraph.text}", "abstract")
    else:
        draft.abstract.append(replace(paragraph, kind="abstract"))


def _entries(block: Prose | Rows) -> Iterator[Reference]:
    texts = block.lines if isinstance(block, Rows) else _split_entries(block.text)
    for text in texts:
        for entry in filter(None, map(clean, _ENTRY_LABEL.split(text))):
            if len(entry) > _SHORTEST_ENTRY:
                yield replace(read_reference(entry), doi=find_doi(entry), arxiv_id=find_arxiv_id(entry))


def _split_entries(text: str) -> Sequence[str]:
    """Split a bibliography's paragraph before labels, or at line ends if every line has a year."""
    if len(labelled := [part for part in _LABELLED_LINE.split(text) if part.strip()]) > 1:
        return labelled
    lines = [line for line in text.split("\n") if line.strip()]
    are_entries = all(len(line) > _SHORTEST_ENTRY and _YEAR.search(line) for line in lines)
    return lines if are_entries and all(line.lstrip()[:1].isupper() for line in lines) else [text]
