"""Figures of a PDF: the area above or below a caption without running text."""

from collections import Counter
from collections.abc import Sequence

from corpus.records import Box
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.roles import Role

# In points: the least height of a figure, and how far text may reach into its sides.
_LEAST_HEIGHT = 40.0
_SLACK = 4.0
_PAGE_MARGIN = 36.0
_OF_FIGURES: frozenset[Role] = frozenset(("figure", "table"))


def figure_area(lines: Sequence[Line], roles: Sequence[Role], caption: Sequence[Line]) -> Box | None:
    """Return the box of a caption's figure, None if text leaves no room for one."""
    page, top, bottom = caption[0].page, caption[0].top, max(line.bottom for line in caption)
    left, right = _sides(lines, caption)
    on_page = [(line, role) for line, role in zip(lines, roles, strict=True) if line.page == page]
    around = [
        line
        for line, role in on_page
        if role not in _OF_FIGURES and line.left < right - _SLACK and line.right > left + _SLACK
    ]
    highest = min((line.top for line, _ in on_page), default=_PAGE_MARGIN)
    lowest = max((line.bottom for line, _ in on_page), default=bottom)
    ceiling = max((line.bottom for line in around if line.bottom <= top), default=min(highest, _PAGE_MARGIN))
    floor = min((line.top for line in around if line.top >= bottom), default=lowest)
    above, below = (left, ceiling, right, top), (left, bottom, right, floor)
    chosen = next((area for area in (above, below) if area[3] - area[1] >= _LEAST_HEIGHT), None)
    if chosen is None:
        return None
    x, y, end, foot = (round(edge, 2) for edge in chosen)
    return Box(page, x, y, round(end - x, 2), round(foot - y, 2))


def _sides(lines: Sequence[Line], caption: Sequence[Line]) -> tuple[float, float]:
    """Return the sides of the narrowest column that contains a caption, else of all text."""
    left, right = min(line.left for line in caption), max(line.right for line in caption)
    columns = Counter((round(line.column_left), round(line.column_right)) for line in lines)
    usual = [column for column, count in columns.items() if count >= 8]
    holding = [c for c in usual if c[0] - _SLACK <= left and right <= c[1] + _SLACK]
    if holding:
        begin, end = min(holding, key=lambda column: column[1] - column[0])
        return float(begin), float(end)
    return min(left, *(line.left for line in lines)), max(right, *(line.right for line in lines))
