"""Figures of a PDF: the place above or below a caption where no text runs."""

from collections import Counter
from collections.abc import Sequence

from corpus.records import Box
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.roles import Role

# In points: what is lower is white space, and how far text may reach into the sides of a figure.
_LEAST_HEIGHT = 40.0
_SLACK = 4.0
_PAGE_MARGIN = 36.0
_OF_FIGURES: frozenset[Role] = frozenset(("figure", "table"))


def figure_area(lines: Sequence[Line], roles: Sequence[Role], caption: Sequence[Line]) -> Box | None:
    """Return where on the page the figure of a caption stands, None where text leaves no room for one."""
    page, top, bottom = caption[0].page, caption[0].top, max(line.bottom for line in caption)
    left, right = _sides(lines, caption)
    on_page = [(line, role) for line, role in zip(lines, roles, strict=True) if line.page == page]
    beside = [
        line
        for line, role in on_page
        if role not in _OF_FIGURES and line.left < right - _SLACK and line.right > left + _SLACK
    ]
    highest = min((line.top for line, _ in on_page), default=_PAGE_MARGIN)
    lowest = max((line.bottom for line, _ in on_page), default=bottom)
    ceiling = max((line.bottom for line in beside if line.bottom <= top), default=min(highest, _PAGE_MARGIN))
    floor = min((line.top for line in beside if line.top >= bottom), default=lowest)
    above, below = (left, ceiling, right, top), (left, bottom, right, floor)
    found = next((area for area in (above, below) if area[3] - area[1] >= _LEAST_HEIGHT), None)
    if found is None:
        return None
    x, y, end, foot = (round(edge, 2) for edge in found)
    return Box(page, x, y, round(end - x, 2), round(foot - y, 2))


def _sides(lines: Sequence[Line], caption: Sequence[Line]) -> tuple[float, float]:
    """Return the sides of the narrowest column of running text that holds a caption, or of the whole text."""
    left, right = min(line.left for line in caption), max(line.right for line in caption)
    columns = Counter((round(line.column_left), round(line.column_right)) for line in lines)
    usual = [column for column, count in columns.items() if count >= 8]
    holding = [c for c in usual if c[0] - _SLACK <= left and right <= c[1] + _SLACK]
    if holding:
        begin, end = min(holding, key=lambda column: column[1] - column[0])
        return float(begin), float(end)
    return min(left, *(line.left for line in lines)), max(right, *(line.right for line in lines))
