"""Roles of PDF lines: running text, captions, footnotes, tables, figures and page artifacts."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import Literal

from indexer.parsers.pdf.fragments import has_figure
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import LITTLE_WORDS, Style
from indexer.parsers.section_names import BIBLIOGRAPHY

Role = Literal["body", "caption", "note", "table", "figure", "artifact"]

_CAPTION = re.compile(
    r"(?:supplementary |extended data |appendix )?"
    r"(?:figure|fig\.?|table|tab\.|algorithm|listing|scheme|exhibit|chart|plate|gráfico|figura|tabla|cuadro)"
    r"\s*(?:[A-Z]?\.?\d{1,3}(?:\.\d{1,2})?[a-z]?|[IVX]{1,5})(?P<mark>\s*[.:|–—]|\s*$|\s+-)?",
    re.IGNORECASE,
)

_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*∗†‡§¶♠♣]{1,2})(?:\s*[^\W\d_]|\s+\W|\s*https?:|\s*$)")
_ARTIFACT = re.compile(
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
_LABELLED_ENTRY = re.compile(r"\[[^\]]{1,20}\]\s")
_MOST_FOOT_ROWS = 8
_SMALL = 0.94


def roles(lines: Sequence[Line], style: Style) -> list[Role]:
    """Return the role of each line."""
    result: list[Role] = ["body"] * len(lines)
    _mark_captions(lines, style, result)
    _mark_feet(lines, style, result)
    _mark_tables(lines, style, result)
    _mark_table_heads(lines, result)
    _mark_column_heads(lines, result)
    _mark_labels(lines, style, result)
    for _, group in groupby(range(len(lines)), key=lambda index: lines[index].column):
        _mark_notes(lines, list(group), style, result)
    _mark_figures(lines, style, result)
    return result


def _mark_feet(lines: Sequence[Line], style: Style, result: list[Role]) -> None:
    """Mark the feet of pages, and of columns before the bibliography, which is in small print too."""
    end = next((i for i, line in enumerate(lines) if BIBLIOGRAPHY.fullmatch(line.text)), len(lines))
    for foot, is_artifact in (*_page_feet(lines, style), *_column_feet(lines[:end], style)):
        if all(result[index] == "body" for index in foot) and not (
            foot[0] > 0 and BIBLIOGRAPHY.fullmatch(lines[foot[0] - 1].text)
        ):
            for index in foot:
                result[index] = "artifact" if is_artifact else "note"


def _page_feet(lines: Sequence[Line], style: Style) -> Iterator[tuple[list[int], bool]]:
    """Yield the foot lines of each page, and whether they are page artifacts.

    They are few, in small print, and set off by white space or a rule.
    """
    for page, group in groupby(range(len(lines)), key=lambda index: lines[index].page):
        downwards = sorted(group, key=lambda index: lines[index].baseline)
        foot = _foot(lines, downwards, style, gap=2.0)
        if foot:
            text = " ".join(lines[index].text for index in foot)
            unsigned = page == lines[0].page and len(foot) <= 3 and not _AUTHOR_NOTE.search(text)
            is_artifact = unsigned or _ARTIFACT.search(text) is not None
            yield foot, is_artifact and not _NOTE_MARK.match(text)


def _column_feet(lines: Sequence[Line], style: Style) -> Iterator[tuple[list[int], bool]]:
    """Yield the foot lines of columns on authors or licences, and whether they are page artifacts.

    Their wording decides, as small print at the foot of a column may also be an abstract or a list.
    """
    for _, group in groupby(range(len(lines)), key=lambda index: lines[index].column):
        foot = _foot(lines, list(group), style, gap=1.05)
        opening = " ".join(lines[index].text for index in foot[:3])
        is_artifact = _ARTIFACT.search(opening) is not None
        if is_artifact or _AUTHOR_NOTE.search(opening):
            yield foot, is_artifact and not _NOTE_MARK.match(opening)


def _foot(lines: Sequence[Line], downwards: Sequence[int], style: Style, gap: float) -> list[int]:
    """Return the last lines if in small print and at least `gap` leadings below the others."""
    rows = 0
    for position in range(len(downwards) - 1, 0, -1):
        line, above = lines[downwards[position]], lines[downwards[position - 1]]
        if line.size >= _SMALL * style.size or line.cells > 2:
            return []
        distance = line.baseline - above.baseline
        rows += distance > 3
        if distance > gap * style.leading and (gap >= 2 or above.size >= _SMALL * style.size):
            return [] if _LABELLED_ENTRY.match(line.text) else list(downwards[position:])
        if rows > _MOST_FOOT_ROWS:
            return []
    return []


def begins_float(lines: Sequence[Line], index: int, role: Role) -> bool:
    """Return True if a caption, note or table begins at a line that follows one of the same role."""
    line, before = lines[index], lines[index - 1]
    if role == "caption":
        return _CAPTION.match(line.text) is not None and line.text[0].isupper()
    if role == "note":
        return line.column != before.column or _NOTE_MARK.match(line.text) is not None
    return line.page != before.page


def _mark_captions(lines: Sequence[Line], style: Style, result: list[Role]) -> None:
    index = 0
    while index < len(lines):
        if not _begins_caption(lines, index, style):
            index += 1
            continue
        start = index
        result[index] = "caption"
        index += 1
        while index < len(lines) and _continues_caption(lines, start, index):
            result[index] = "caption"
            index += 1


def _begins_caption(lines: Sequence[Line], index: int, style: Style) -> bool:
    line = lines[index]
    match = _CAPTION.match(line.text)
    if match is None or not line.text[0].isupper():
        return False
    before = lines[index - 1] if index else None
    apart = (
        before is None
        or before.column != line.column
        or line.baseline - before.baseline > 1.15 * max(style.leading, 1.15 * line.size)
        or abs(before.size - line.size) > 0.5
    )
    apart = apart or (before is not None and _is_row(before))
    if match["mark"] is None:
        rest = line.text[match.end() :].lstrip()
        return apart and rest[:1].isupper() and (line.bold or line.size < 0.96 * style.size)
    unfinished = before is not None and not re.search(r"[.!?:;]$", before.text)
    return apart or not unfinished


def _continues_caption(lines: Sequence[Line], start: int, index: int) -> bool:
    line, before = lines[index], lines[index - 1]
    if (
        line.column != before.column
        or index - start > 25
        or (_CAPTION.match(line.text) and line.text[0].isupper())
    ):
        return False
    if abs(line.size - before.size) > 0.07 * before.size or line.cells > 2:
        return False
    return line.baseline - before.baseline < 1.36 * before.size


def _mark_tables(lines: Sequence[Line], style: Style, result: list[Role]) -> None:
    """Mark runs of lines in cells, and single ones next to a caption."""
    rows = {index for index, line in enumerate(lines) if result[index] == "body" and _is_row(line)}
    for index in sorted(rows):
        near = [
            neighbour
            for neighbour in (index - 2, index - 1, index + 1, index + 2)
            if neighbour in rows or (0 <= neighbour < len(result) and result[neighbour] == "caption")
        ]
        if any(lines[neighbour].page == lines[index].page for neighbour in near) or _is_all_figures(
            lines[index]
        ):
            result[index] = "table"
    for index in range(1, len(lines) - 1):
        between = result[index - 1] in ("table", "caption") and result[index + 1] in ("table", "caption")
        if (
            result[index] == "body"
            and between
            and lines[index - 1].column == lines[index + 1].column == lines[index].column
        ):
            filled = lines[index].right - lines[index].left > 0.8 * (
                lines[index].column_right - lines[index].column_left
            )
            running = (filled or is_prose(lines[index])) and lines[index].size > 0.95 * style.size
            result[index] = "body" if running else "table"


def is_prose(line: Line) -> bool:
    """Return True if a short line is prose, by its function words, not a table's row."""
    return sum(word.text.lower() in LITTLE_WORDS for word in line.words) >= 3


def _mark_table_heads(lines: Sequence[Line], result: list[Role]) -> None:
    """Mark the short lines at the top of a page within a table or above a caption."""
    for _, group in groupby(range(len(lines)), key=lambda index: lines[index].page):
        members = list(group)
        above = list(takewhile(lambda index: result[index] != "caption", members))
        sparse = list(takewhile(lambda index: _is_sparse(lines[index], result[index]), members))
        top = above if len(above) < len(members) and set(above) <= set(sparse) else sparse
        captioned = top is above and len(above) > 1
        # A paragraph from the page before may end with a short line.
        if (
            top
            and (captioned or any(result[i] == "table" for i in top))
            and not lines[top[0]].text.endswith(".")
        ):
            for index in top:
                result[index] = "table"


def _mark_column_heads(lines: Sequence[Line], result: list[Role]) -> None:
    """Mark a table's header line at the top of a column."""
    for index in range(1, len(lines) - 1):
        line, after = lines[index], lines[index + 1]
        first = lines[index - 1].column != line.column == after.column
        if first and result[index] == "body" and result[index + 1] == "table" and len(line.words) <= 8:
            result[index] = "body" if line.text.endswith(".") else "table"


def _is_sparse(line: Line, role: Role) -> bool:
    return role == "table" or (role == "body" and len(line.words) <= 6)


def _mark_labels(lines: Sequence[Line], style: Style, result: list[Role]) -> None:
    """Mark scattered words above a caption as part of the figure."""
    for caption in range(1, len(lines)):
        if result[caption] != "caption" or result[caption - 1] != "body":
            continue
        index = caption - 1
        while index >= 0 and result[index] == "body" and lines[index].page == lines[caption].page:
            line = lines[index]
            narrow = line.right - line.left < 0.6 * (line.column_right - line.column_left)
            plain = not line.bold and line.size < 1.04 * style.size
            if not (len(line.words) <= 3 and narrow and plain) or line.text.endswith((".", ":", "?")):
                break
            result[index] = "figure"
            index -= 1


def _is_row(line: Line) -> bool:
    figures = sum(has_figure(word.text) or word.text in "-–—" for word in line.words)
    if line.cells >= 3 or (len(line.words) >= 3 and figures > 0.6 * len(line.words)):
        return True
    if len(line.words) >= 6 and len({word.text for word in line.words}) <= 0.5 * len(line.words):
        # A table's header repeats words: "P R F P R F".
        return True
    return line.cells == 2 and not re.search(r"\(\d{1,3}[a-z]?\)$", line.text)


def _is_all_figures(line: Line) -> bool:
    figures = sum(has_figure(word.text) for word in line.words)
    return len(line.words) >= 4 and figures == len(line.words) and not line.text.endswith((".", ";", ","))


def _mark_notes(lines: Sequence[Line], column: list[int], style: Style, result: list[Role]) -> None:
    """Mark small print at the foot of a column, from the first footnote mark on."""
    small = len(column)
    while small and result[column[small - 1]] == "body":
        line = lines[column[small - 1]]
        if line.size >= 0.94 * style.size or BIBLIOGRAPHY.fullmatch(line.text):
            break
        small -= 1
    for position in range(small, len(column)):
        if _NOTE_MARK.match(lines[column[position]].text):
            for index in column[position:]:
                result[index] = "note"
            return


def _mark_figures(lines: Sequence[Line], style: Style, result: list[Role]) -> None:
    """Mark scattered small print that does not fill its column: labels and legends of figures."""
    small = [
        role == "body" and line.size < 0.88 * style.size for line, role in zip(lines, result, strict=True)
    ]
    for is_small, group in groupby(range(len(lines)), key=lambda i: (small[i], lines[i].column)):
        members = list(group)
        width = sum(lines[i].right - lines[i].left for i in members) / len(members)
        column = lines[members[0]].column_right - lines[members[0]].column_left
        if not is_small[0] or (width >= 0.6 * column and lines[members[0]].size > 0.66 * style.size):
            continue
        # Listings and prompts in small print have words and are kept.
        words = sum(len(lines[i].words) for i in members) / len(members)
        for index in members:
            result[index] = "table" if words >= 3 and len(members) >= 3 else "figure"
