"""Plain text to a document: paragraphs from blank lines; headings from numbers, underlines or capitals."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from corpus.records import Section
from indexer.parsers.document import Document
from indexer.parsers.headings import continues_numbering
from indexer.parsers.pdf.headings import number_depth, parse_heading
from indexer.parsers.section_names import BIBLIOGRAPHY, KEYWORDS, is_part
from indexer.parsers.text.structure import Block, Prose, WrittenHeading, assemble, may_be_title
from indexer.parsers.text.text_file import read_text_file, refuse_markup

PARSER = "plain text"

_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,}|\*{3,}|#{3,}|\^{3,})\s*")
_UNDERLINE_LEVELS = {"=": 1, "*": 1, "#": 1, "-": 2, "~": 3, "^": 3}
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪–]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\[\d{1,3}\])\s+(?=\S)")
_LABEL = re.compile(r"\s*\[\d{1,3}\]\s")
_PAGE_NUMBER = re.compile(r"\s*(?:page\s*)?\W{0,2}\d{1,4}\W{0,2}\s*", re.IGNORECASE)
_FEWEST_RUNNING = 3  # pages
_ENDINGS = (".", "?", "!", ":", "”", '"')
_LONGEST_HEADING = 90
_MOST_HEADING_WORDS = 12
_LONGEST_RUN_ON_HEADING = 60
_LONG_RUN = 8
_BROKEN = re.compile(r"(?<!\w)(\w++)-$")
_LONGEST_HALF = 60
_WORD_START = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d_]{2,}")

Lines = list[str]


def read_plain_text(path: Path) -> Document:
    """Read a paper from plain text; raises ParseError for other files."""
    text, remarks = read_text_file(path)
    refuse_markup(text, path.name)
    groups = list(_split_at_headings(_groups(text)))
    title = _take_title(groups)
    blocks = list(_blocks(groups, _Hyphens(text)))
    return assemble(blocks, Document(title=title, parser=PARSER, notes=remarks), path.name)


def _groups(text: str) -> Iterator[Lines]:
    """Yield the lines between blank ones; page breaks and page furniture count as blank."""
    lines: Lines = []
    for line in _lines(text.split("\f")):
        if line.strip():
            lines.append(line.expandtabs(4).rstrip())
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _lines(pages: Sequence[str]) -> Iterator[str]:
    """Yield the lines of all pages without running heads, feet and page numbers.

    A sentence cut by these continues on the next page.
    """
    split = [page.split("\n") for page in pages]
    running = _running(split)
    last, was_cut = "", False
    for page in split:
        lines = _without_edges(page, running)
        is_cut = lines != page
        begins = next((line.strip() for line in lines if line.strip()), "")
        if (is_cut or was_cut) and begins[:1].islower() and last and not last.endswith(_ENDINGS):
            lines = lines[next(index for index, line in enumerate(lines) if line.strip()) :]
        elif is_cut or was_cut:
            yield ""
        while is_cut and lines and not lines[-1].strip():
            lines = lines[:-1]
        yield from lines
        last, was_cut = next((line.strip() for line in reversed(lines) if line.strip()), last), is_cut


def _running(pages: Sequence[Lines]) -> frozenset[str]:
    """Return the running heads and feet, without digits: on three pages and a third of all."""
    edges: Counter[str] = Counter()
    for page in pages:
        names = list(filter(None, map(_name, page)))
        edges.update({names[0], names[-1]} if len(names) > 1 else ())
    return frozenset(name for name, count in edges.items() if count >= max(_FEWEST_RUNNING, len(pages) / 3))


def _name(line: str) -> str:
    """Return the letters of a line, to compare running heads across pages."""
    return "".join(filter(str.isalpha, line)).lower()


def _without_edges(page: Lines, running: frozenset[str]) -> Lines:
    """Return a page without running heads, feet, and a page number next to them."""
    kept = list(page)
    if running or sum(bool(line.strip()) for line in page) > 2:
        for places in (range(len(kept)), range(len(kept) - 1, -1, -1)):
            numbers = 0
            for index in places:
                numbers += (is_number := _PAGE_NUMBER.fullmatch(kept[index]) is not None)
                if kept[index].strip() and not (
                    _name(kept[index]) in running or (is_number and numbers == 1)
                ):
                    break
                kept[index] = ""
    return kept if any(old.strip() and not new for old, new in zip(page, kept, strict=True)) else page


def _split_at_headings(groups: Iterable[Lines]) -> Iterator[Lines]:
    """Split long runs of lines before headings, as in PDF text without blank lines."""
    last = ""
    for group in groups:
        start, may_follow = 0, True
        for index, line in enumerate(group):
            number = _heading_number(line.strip(), last, may_follow=may_follow)
            may_follow = number is not None or line.rstrip().endswith((".", "?", "!"))
            last = number or last
            if number is not None and index > start and len(group) >= _LONG_RUN:
                yield group[start:index]
                start = index
        yield group[start:]


def _heading_number(text: str, last: str, *, may_follow: bool) -> str | None:
    """Return the number of a heading within a run of lines, "" without number; None for other lines.

    A known section name counts anywhere; a number must continue the last one, after a full stop or heading.
    """
    section = parse_heading(text) if _may_head(text) else Section("", "")
    number = section.number if section.number[:1].isdecimal() else ""
    if _is_named(section.title):
        return number
    follows = bool(number) and (continues_numbering(last, number) if last else number == "1")
    return number if follows and may_follow else None


def _is_named(title: str) -> bool:
    return is_part(title) or KEYWORDS.fullmatch(title.rstrip(".:")) is not None


def _take_title(groups: list[Lines]) -> str:
    """Remove and return the first line, with its continuation, if it may be the title."""
    if not groups:
        return ""
    first = groups[0]
    if not _is_underlined(first) and (_level(first, groups[1:2], alone_only=True) or _is_prose(first)):
        return ""
    count = 2 if len(first) > 1 and _runs_on(first[0], first[1]) else 1
    title = " ".join(line.strip() for line in first[:count])
    if not may_be_title(title):
        return ""
    remaining = first[count + (len(first) > count and _UNDERLINE.fullmatch(first[count]) is not None) :]
    groups[:1] = [remaining] if remaining else []
    return " ".join(title.split())


def _is_prose(lines: Lines) -> bool:
    """Return True if the first lines are a paragraph, not a title with names."""
    is_wrapped = len(lines) > 2 and lines[2].strip()[0].islower()
    return is_wrapped or (len(lines) > 1 and lines[-1].rstrip().endswith((".", "?", "!")))


def _runs_on(line: str, after: str) -> bool:
    return after.strip()[:1].islower() or line.rstrip().endswith(
        (":", "-", " of", " and", " for", " the", " in")
    )


def _is_underlined(group: Lines) -> bool:
    return len(group) > 1 and _UNDERLINE.fullmatch(group[1]) is not None and bool(_WORD.search(group[0]))


def _blocks(groups: Sequence[Lines], hyphens: "_Hyphens") -> Iterator[Block]:
    in_references = False
    for group, after in pairwise([*groups, []]):
        lines = group
        while level := _level(lines, [after]):
            heading = WrittenHeading(lines[0].strip(), level)
            in_references = BIBLIOGRAPHY.fullmatch(parse_heading(heading.text).title) is not None
            yield heading
            lines = lines[1 + _is_underlined(lines) :]
        for part in _entries(lines) if in_references else _items(lines):
            yield Prose(hyphens.join(part))


def _level(lines: Lines, following: Sequence[Lines], *, alone_only: bool = False) -> int:
    """Return the level of the heading that a group of lines begins with; 0 for none."""
    if not lines:
        return 0
    if _is_underlined(lines):
        return _UNDERLINE_LEVELS[lines[1].strip()[0]]
    text = lines[0].strip()
    if not _may_head(text):
        return 0
    section = parse_heading(text)
    if _is_named(section.title):
        return number_depth(section.number) if section.number else 1
    if section.number:
        # "A. Borthwick. 1999." is an entry of a bibliography, not an appendix.
        is_initial = section.number.isalpha() and (len(lines) > 1 or any(map(str.isdecimal, text)))
        return 0 if is_initial or _is_list(lines, following) else number_depth(section.number)
    is_loud = text.isupper() and len(_WORD.findall(text)) > 0 and sum(map(str.isalpha, text)) > 3
    return int(is_loud and not alone_only and len(lines) == 1)


def _may_head(text: str) -> bool:
    short = len(text) <= _LONGEST_HEADING and len(text.split()) <= _MOST_HEADING_WORDS
    return short and _WORD.search(text) is not None and not text.endswith((".", ",", ";", "?", "!"))


def _is_list(lines: Lines, following: Sequence[Lines]) -> bool:
    """Return True for list items, not a numbered heading: a number follows, or the line runs on."""
    depth = number_depth(parse_heading(lines[0].strip()).number)
    after = lines[1:2] or [group[0] for group in following if group]
    numbers = [parse_heading(line.strip()).number for line in after]
    if any(number and number_depth(number) == depth for number in numbers):
        return True
    return len(lines) > 1 and (len(lines[0]) > _LONGEST_RUN_ON_HEADING or lines[1].strip()[0].islower())


def _items(lines: Lines) -> Iterator[Lines]:
    """Split lines before every item of a list."""
    begins = [_ITEM.match(line) is not None for line in lines]
    return _split_before(lines, begins if sum(begins) > 1 or begins[:1] == [True] else [])


def _entries(lines: Lines) -> Iterator[Lines]:
    """Split a bibliography before labels, else before lines that are not indented."""
    labelled = [_LABEL.match(line) is not None or _ITEM.match(line) is not None for line in lines]
    hanging = [not line.startswith(" ") for line in lines]
    return _split_before(lines, labelled if any(labelled) else hanging if not all(hanging) else [])


def _split_before(lines: Lines, begins: Sequence[bool]) -> Iterator[Lines]:
    starts = [index for index, is_begin in enumerate(begins) if is_begin and index]
    for start, end in pairwise([0, *starts, len(lines)]):
        if start < end:
            yield lines[start:end]


class _Hyphens:
    """Joins wrapped lines; a hyphen is removed if the text has the word without it elsewhere."""

    def __init__(self, text: str) -> None:
        self._words = set(re.findall(r"\w+(?:-\w+)*", text.lower()))

    def join(self, lines: Sequence[str]) -> str:
        parts: list[str] = []
        for line in filter(None, (line.strip() for line in lines)):
            before = _BROKEN.search(parts[-1][-_LONGEST_HALF:]) if parts else None
            after = _WORD_START.match(line)
            if not (before and after and line[0].islower()):
                parts.append(f" {line}")
            elif f"{before[1]}{after[0]}".lower() in self._words:
                parts[-1] = parts[-1][:-1] + line
            else:
                parts[-1] += line
        return "".join(parts).strip()
