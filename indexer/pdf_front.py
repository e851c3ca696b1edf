"""The head of a paper's first page: title, authors, and where the abstract begins."""

import re
from collections.abc import Sequence

from corpus.records import Author
from indexer.pdf_headings import ABSTRACT
from indexer.pdf_layout import Line
from indexer.pdf_paragraphs import Style

_BANNER = re.compile(
    r"proceedings|arxiv:|\bjournal\b|transactions on|\bvol(?:ume)?\b\.? ?\d|https?://|\bdoi\b|^contents lists"
    r"|©|conference|workshop|^(?:original |research |review )?article$|^open access$|^\W*\d+\W*$"
    r"|^(?:letter|research|report|paper)s?$|available online",
    re.IGNORECASE,
)
_AFFILIATION = re.compile(
    r"universit|institut|department|dept|school|college|laborator|\blab\b|\binc\b|research|center|centre|corporation"
    r"|faculty|academy|@|www|http|street|avenue|\d{3}|group|company|technolog|sciences?\b|abstract|\bltd\b|hospital|national",
    re.IGNORECASE,
)
_NAME_PART = r"(?:[A-Z][\w'’.-]*|van|von|de|der|den|da|di|du|la|le|el|al|bin|ten)"
_NAME = re.compile(rf"{_NAME_PART}(?: {_NAME_PART}){{1,4}}")
_MARKS = re.compile(r"[\d*∗†‡§¶‖♠♣♥♦♯⋆★✉#]+(?:,[\d*∗†‡§¶]+)*")
ABSTRACT_RUN_IN = re.compile(r"(?:abstract|summary)\s*(?:[—–:.-]+|$)\s*", re.IGNORECASE)


def find_title(lines: Sequence[Line], title: str) -> range:
    """Return the lines of page 1 that print `title`, as the file's properties give it; may be empty."""
    wanted = _letters(title)
    first = [line for line in lines if line.page == lines[0].page]
    if len(title.split()) < 3 or len(wanted) < 12 or _BANNER.search(title):
        return range(0)
    for start in range(len(first)):
        text = ""
        for stop in range(start, min(start + 6, len(first))):
            text += _letters(first[stop].text)
            if text == wanted:
                return range(start, stop + 1)
            if not wanted.startswith(text):
                break
    return range(0)


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def title_lines(lines: Sequence[Line], style: Style) -> range:
    """Return which lines are the title: those in the largest type before the abstract; may be empty."""
    end = next((i for i, line in enumerate(lines) if is_abstract_heading(line)), len(lines))
    first = [
        index
        for index, line in enumerate(lines[: end or len(lines)])
        if line.page == lines[0].page and not _BANNER.search(line.text) and _has_words(line)
    ]
    if not first:
        return range(0)
    largest = max(lines[index].size for index in first)
    if largest < 1.08 * style.size:
        return range(first[0], first[0] + 1) if first[0] < 3 else range(0)
    start = next(index for index in first if lines[index].size > 0.97 * largest)
    stop = start + 1
    while stop in first and _continues_title(lines, stop, lines[start]):
        stop += 1
    return range(start, stop)


def _has_words(line: Line) -> bool:
    return sum(c.isalpha() for c in line.text) >= 4 and len(line.words) > 1


def _continues_title(lines: Sequence[Line], index: int, first: Line) -> bool:
    before, line = lines[index - 1], lines[index]
    gap = line.baseline - before.baseline
    if line.bold != first.bold or not 0 < gap < 2.3 * first.size:
        return False
    if abs(line.size - first.size) < 0.05 * first.size:
        return True
    after = lines[index + 1].baseline - line.baseline if index + 1 < len(lines) else 0.0
    # Scanners misjudge sizes: a line set close below, with the authors further off, belongs to the title too.
    return gap < 1.3 * first.size and 0.8 * first.size < line.size < first.size and after > 1.6 * gap


def is_abstract_heading(line: Line) -> bool:
    return ABSTRACT.fullmatch(line.text.strip(" .:—-*∗†‡§¶0123456789")) is not None


def author_names(lines: Sequence[Line]) -> tuple[Author, ...]:
    """Return the authors when the lines right under the title hold nothing but names, else nobody."""
    authors: list[Author] = []
    for line in lines:
        names = _names(line)
        if not names:
            break
        authors.extend(names)
    return tuple(authors)


def _names(line: Line) -> list[Author]:
    if _AFFILIATION.search(line.text):
        return []
    cells: list[str] = [""]
    for before, word in zip((None, *line.words), line.words, strict=False):
        if before is not None and word.left - before.right > 1.2 * line.size:
            cells.append("")
        cells[-1] = f"{cells[-1]} {word.text}"
    names: list[Author] = []
    for cell in cells:
        plain = _MARKS.sub(",", cell)
        for part in re.split(r"\s*(?:,|;|&|\band\b)\s*", plain):
            name = part.strip(" .·•|")
            if not name:
                continue
            if not _NAME.fullmatch(name):
                return []
            given, _, family = name.rpartition(" ")
            names.append(Author(given, family))
    return names
