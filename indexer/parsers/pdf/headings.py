"""Section headings among the lines of a PDF, with their depths."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.records import Section
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import Style, Vocabulary
from indexer.parsers.section_names import BIBLIOGRAPHY, is_inner_part, is_part

_NUMBERED = re.compile(
    r"(?P<number>(?:appendix |section )?"
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,3}|[IVX]{1,5}|[A-Z]))"
    r"(?P<mark>[.:)]?)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"I{1,3}\.? [A-Z].*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_WORD = re.compile(r"[^\W\d_]{4}")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as printed, its depth (1 is outermost), and its number of lines."""

    section: Section
    depth: int
    lines: int


def parse_heading(text: str) -> Section:
    """Split a heading into its number, as printed, and its title; ("", text) when it has none."""
    match = _NUMBERED.fullmatch(text.strip())
    if match is None or not _is_number(match):
        return Section("", text.strip())
    return Section(match["number"], match["title"])


def _is_number(match: re.Match[str]) -> bool:
    number = match["number"]
    bare = re.sub(r"(?i)^(?:appendix|section) ", "", number)
    if bare[0].isdecimal():
        return not match["title"][0].islower() and _LETTERS.search(match["title"]) is not None
    if not bare[0].isupper():
        return False
    return (
        bool(match["mark"])
        or "." in bare
        or number != bare
        or bare not in ("A", "I")
        or match["title"].isupper()
    )


def number_depth(number: str) -> int:
    """Return the depth of a section number: "2" and "A" 1, "2.1" 2."""
    return number.count(".") + 1


class HeadingFinder:
    """Finds headings in order; earlier headings decide which numbers may follow."""

    def __init__(self, lines: Sequence[Line], style: Style, vocabulary: Vocabulary) -> None:
        self._lines = lines
        self._vocabulary = vocabulary
        self._style = style
        self._last: tuple[int, ...] = ()
        self._looks: dict[tuple[int, bool], int] = {}
        self._roman = any(_ROMAN.fullmatch(line.text) and self._stands_out(line) for line in lines)

    def at(self, index: int) -> Heading | None:
        """Return the heading that begins at line `index`, None for other lines."""
        line = self._lines[index]
        if len(line.text) > _LONGEST or not _LETTERS.search(line.text):
            return None
        section = parse_heading(line.text)
        if is_part(section.title) or is_inner_part(section.title):
            return self._known(index, section)
        if section.number:
            return self._numbered(index, section)
        return self._plain(index)

    def _known(self, index: int, section: Section) -> Heading | None:
        line = self._lines[index]
        if not line.text[0].isupper() and not line.text[0].isdecimal():
            return None
        if (
            not self._stands_out(line)
            and self._gap_above(index) < 1.1
            and not BIBLIOGRAPHY.fullmatch(line.text)
        ):
            return None
        if section.number and section.number[0].isdecimal():
            self._last = tuple(int(part) for part in section.number.split("."))
        depth = number_depth(section.number) if section.number else self._depth_by_look(line, 1)
        return self._remember(line, Heading(Section(section.number, section.title.rstrip(":")), depth, 1))

    def _numbered(self, index: int, section: Section) -> Heading | None:
        line = self._lines[index]
        if (
            self._runs_in(line)
            or line.cells > 2
            or (section.title.endswith((".", ",", ";")) and not line.bold)
        ):
            return None
        depth = number_depth(section.number)
        if section.number[0].isdecimal():
            number = tuple(int(part) for part in section.number.split("."))
            strong = self._stands_out(line)
            if not _may_follow(self._last, number, 2 if strong else 1):
                return None
            if not strong and (self._gap_above(index) < 1.25 or self._fills(line)):
                return None
            self._last = number
        elif not self._letter_may_head(line, section) or (self._gap_above(index) < 1.1 and not line.bold):
            return None
        elif self._roman and re.fullmatch(r"[A-Z]", section.number) and section.number not in "IVX":
            depth = 2
        heading = self._with_next_lines(index, depth)
        if heading.section.title.endswith(".") and heading.lines > 1:
            return None
        return self._remember(line, heading)

    def _letter_may_head(self, line: Line, section: Section) -> bool:
        """Return True for "A Proofs" in bold or larger type, and "A. Proofs" in any distinct type."""
        if line.bold or line.size > 1.04 * self._style.size:
            return True
        marked = len(section.number) > 1 or line.text[1:2] in ".:"
        return marked and self._stands_out(line)

    def _plain(self, index: int) -> Heading | None:
        line = self._lines[index]
        if not self._looks_plain(line) or self._gap_above(index) < 1.2:
            return None
        heading = self._with_next_lines(index, self._depth_by_look(line, 2))
        heavy = line.bold or line.size > 1.08 * self._style.size
        if heading.section.title.endswith(".") or len(heading.section.title.split()) > (24 if heavy else 11):
            return None
        after = index + heading.lines
        followed = after < len(self._lines) and self._lines[after].page <= line.page + 1
        return heading if followed and heading.lines <= 3 else None

    def _looks_plain(self, line: Line) -> bool:
        """Return True if a line may be an unnumbered heading by its type and wording."""
        if not (line.bold or line.size > 1.08 * self._style.size or self._other_font(line)):
            return False
        worded = line.text[0].isupper() and _WORD.search(line.text) is not None
        small = line.size < 0.9 * self._style.size or line.cells > 1 or len(line.words) > 14
        return worded and not small and not line.text.endswith((".", ",", ";", "-"))

    def _with_next_lines(self, index: int, depth: int) -> Heading:
        """Return the heading with the following lines that continue it in the same type."""
        line = self._lines[index]
        text, count = line.text, 1
        while index + count < len(self._lines):
            following = self._lines[index + count]
            near = 0 < following.baseline - self._lines[index + count - 1].baseline < 1.35 * line.size
            if count >= 4 or not (near and self._continues(line, following)):
                break
            text = self._vocabulary.join_lines((text, following.text))
            count += 1
        return Heading(parse_heading(text), depth, count)

    def _continues(self, line: Line, following: Line) -> bool:
        """Return True if a line has the heading's type and column, and no number."""
        same = following.bold == line.bold and abs(following.size - line.size) < 0.4
        if not same or following.column != line.column:
            return False
        both = self._stands_out(following) and self._stands_out(line)
        return both and not parse_heading(following.text).number

    def _stands_out(self, line: Line) -> bool:
        if line.bold or line.size > 1.04 * self._style.size or self._other_font(line) or line.italic:
            return True
        letters = [c for c in line.text if c.isalpha()]
        return len(letters) > 3 and sum(map(str.isupper, letters)) > 0.9 * len(letters)

    def _other_font(self, line: Line) -> bool:
        return (
            self._style.font not in ("", line.font) and line.font != "" and line.size > 0.9 * self._style.size
        )

    def _runs_in(self, line: Line) -> bool:
        """Return True if a paragraph begins with words in bold or italics."""
        first = next((w for w in line.words if sum(map(str.isalpha, w.text)) > 1), line.words[0])
        last = line.words[-1]
        turns = (first.bold, first.italic) != (last.bold, last.italic) and (first.bold or first.italic)
        return turns and (self._fills(line) or line.text.endswith("."))

    def _fills(self, line: Line) -> bool:
        return line.right > line.column_right - 0.06 * (line.column_right - line.column_left)

    def _gap_above(self, index: int) -> float:
        """Return the distance to the line above in leadings; 9 at the top of a column."""
        line, before = self._lines[index], self._lines[index - 1] if index else None
        if before is None or before.column != line.column:
            return 9.0
        return (line.baseline - before.baseline) / self._style.leading

    def _look(self, line: Line) -> tuple[int, bool]:
        return round(line.size * 2), line.bold

    def _remember(self, line: Line, heading: Heading) -> Heading:
        self._looks.setdefault(self._look(line), heading.depth)
        return heading

    def _depth_by_look(self, line: Line, default: int) -> int:
        return self._looks.get(self._look(line), default)


def _may_follow(last: tuple[int, ...], number: tuple[int, ...], step: int) -> bool:
    """Return True if a section number may follow another, at most `step` further on its level."""
    if not last:
        return len(number) <= 2 and number[0] <= 2
    if number <= last:
        return False
    level = next((i for i, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(last))
    if level >= len(number):
        return False
    before = last[level] if level < len(last) else 0
    return number[level] - before <= step and all(part <= 2 for part in number[level + 1 :])
