"""The foot of a page: what is printed under the running text, told apart as notes and as furniture."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from indexer.pdf_layout import Line
from indexer.pdf_paragraphs import Style

NOTE_MARK = re.compile(r"(?:\d{1,2}|[*∗†‡§¶♠♣]{1,2})(?:\s*[^\W\d_]|\s+\W|\s*https?:|\s*$)")
_FURNITURE = re.compile(
    r"proceedings of|©|copyright|\(c\) ?\d{4}|rights reserved|permission to make|permission and/or a fee"
    r"|\bissn\b|\bisbn\b|creative commons|\bcc[ -](?:by|0)|\bcc0\b|licen[cs]ed? under|open access"
    r"|\bpreprint\b|arxiv:|downloaded from|under review|(?:to appear|accepted|published) (?:at|for|in)\b"
    r"|reprint|\$ ?\d+\.\d\d",
    re.IGNORECASE,
)
_AUTHOR_NOTE = re.compile(
    r"e-?mails?\b|correspond|(?:is|are|was|were) with the|supported by|funded by|thanks? (?:to|go)|gratefully"
    r"|contributed equally|equal(?:ly)? contribut|work (?:was )?done|present address|manuscript received"
    r"|@[\w-]+\.|this (?:work|research|paper)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\[[^\]]{1,20}\]\s")
_MOST_ROWS = 8
_SMALL = 0.94


def page_feet(lines: Sequence[Line], style: Style) -> Iterator[tuple[list[int], bool]]:
    """Yield the lines under all other text of a page, and whether they are furniture.

    They are small, few, and white space or a rule keeps them apart from what is above.
    """
    for page, group in groupby(range(len(lines)), key=lambda index: lines[index].page):
        downwards = sorted(group, key=lambda index: lines[index].baseline)
        foot = _foot(lines, downwards, style, gap=2.0)
        if foot:
            text = " ".join(lines[index].text for index in foot)
            unsigned = page == lines[0].page and len(foot) <= 3 and not _AUTHOR_NOTE.search(text)
            is_furniture = unsigned or _FURNITURE.search(text) is not None
            yield foot, is_furniture and not NOTE_MARK.match(text)


def column_feet(lines: Sequence[Line], style: Style) -> Iterator[tuple[list[int], bool]]:
    """Yield the small lines at the foot of a column that speak of authors or licences, and which they are.

    Their wording has to tell: small print at the foot of one column may as well be an abstract or a list.
    """
    for _, group in groupby(range(len(lines)), key=lambda index: lines[index].column):
        foot = _foot(lines, list(group), style, gap=1.05)
        opening = " ".join(lines[index].text for index in foot[:3])
        is_furniture = _FURNITURE.search(opening) is not None
        if is_furniture or _AUTHOR_NOTE.search(opening):
            yield foot, is_furniture and not NOTE_MARK.match(opening)


def _foot(lines: Sequence[Line], downwards: Sequence[int], style: Style, gap: float) -> list[int]:
    """Return the last of some lines, when they are small and `gap` times the leading below the others."""
    rows = 0
    for position in range(len(downwards) - 1, 0, -1):
        line, above = lines[downwards[position]], lines[downwards[position - 1]]
        if line.size >= _SMALL * style.size or line.cells > 2:
            return []
        distance = line.baseline - above.baseline
        rows += distance > 3
        if distance > gap * style.leading and (gap >= 2 or above.size >= _SMALL * style.size):
            return [] if _ENTRY.match(line.text) else list(downwards[position:])
        if rows > _MOST_ROWS:
            return []
    return []
