"""Tables of a PDF: the rows that belong to a caption, split into cells at vertical white strips."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.pdf.words import Word
from corpus.records import Box, Table
from corpus.tables import is_nothing, is_number
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import Style
from indexer.parsers.pdf.roles import Role, begins_float, is_prose
from indexer.parsers.tables import FEWEST_ROWS, MOST_COLUMNS, header_rows

TABLE_CAPTION = re.compile(
    r"(?:\w+ ){0,2}(?:table|tab\.|tabla|cuadro|tableau|tabelle)\s*\W?[\dA-Z]", re.IGNORECASE
)
_CONTINUED = re.compile(r"\bcont(?:inued|['\u2019]?d|\.)", re.IGNORECASE)
# In leadings: the largest gaps between rows, before or after a caption, and to further rows above.
_ROW_GAP, _CAPTION_GAP, _GROWTH = 1.6, 3.0, 0.7
# In type sizes: the least gap between two cells.
_CELL_GAP = 0.55
_LEAST_FILLED = 0.35
_FEWEST_TOLD = 3


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of a page: the indices of its caption's lines and its own, its cells, and its boxes.

    `row_boxes` run parallel to the rows below the header.
    """

    caption: tuple[int, ...]
    members: frozenset[int]
    table: Table
    row_boxes: tuple[tuple[Box, ...], ...]
    area: Box

    @property
    def first(self) -> int:
        return min((*self.caption, *self.members))


@dataclass(frozen=True, slots=True)
class _Extent:
    """Lines of one page and their bounding rectangle, in points."""

    lines: tuple[int, ...]
    page: int
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "_Extent") -> bool:
        return self.left < other.right and other.left < self.right

    def below(self, other: "_Extent") -> float:
        """Return the vertical distance to an extent above this one."""
        return self.top - other.bottom


def find_tables(lines: Sequence[Line], roles: Sequence[Role], style: Style) -> list[FoundTable]:
    """Return the tables with a caption and rows of several cells, in the order of their captions."""
    captions = [_extent(lines, run) for run in caption_runs(lines, roles)]
    tabular = [run for run in captions if TABLE_CAPTION.match(lines[run.lines[0]].text)]
    parts = list(_parts(lines, roles, captions, style))
    tables: list[FoundTable] = []
    for caption, chosen in _claims(tabular, parts, style):
        members = _grown(lines, roles, [index for part in chosen for index in part.lines], style)
        if table := _table(lines, caption.lines, members):
            tables.append(table)
    return _joined_over_pages(lines, tables, parts)


def caption_runs(lines: Sequence[Line], roles: Sequence[Role]) -> Iterator[list[int]]:
    """Yield the line indices of each caption."""
    run: list[int] = []
    for index, role in enumerate(roles):
        if run and (role != "caption" or begins_float(lines, index, "caption")):
            yield run
            run = []
        if role == "caption":
            run.append(index)
    if run:
        yield run


def _extent(lines: Sequence[Line], run: Sequence[int]) -> _Extent:
    of = [lines[index] for index in run]
    return _Extent(
        tuple(run),
        of[0].page,
        min(line.left for line in of),
        min(line.top for line in of),
        max(line.right for line in of),
        max(line.bottom for line in of),
    )


def _union(extents: Sequence[_Extent]) -> _Extent:
    """Return the extent of several extents of one page."""
    return _Extent(
        tuple(index for extent in extents for index in extent.lines),
        extents[0].page,
        min(extent.left for extent in extents),
        min(extent.top for extent in extents),
        max(extent.right for extent in extents),
        max(extent.bottom for extent in extents),
    )


def _parts(
    lines: Sequence[Line], roles: Sequence[Role], captions: Sequence[_Extent], style: Style
) -> Iterator[_Extent]:
    """Yield vertically adjacent lines without a caption between them, merged."""
    rows = [index for index, role in enumerate(roles) if role in ("table", "figure")]
    rows.extend(_among(lines, roles, rows))
    pages: dict[int, list[_Extent]] = {}
    for index in sorted(rows, key=lambda index: lines[index].top):
        pages.setdefault(lines[index].page, []).append(_extent(lines, [index]))
    for page, extents in pages.items():
        walls = [caption for caption in captions if caption.page == page]
        yield from _merged(extents, walls, _ROW_GAP * style.leading)


def _among(lines: Sequence[Line], roles: Sequence[Role], rows: Sequence[int]) -> Iterator[int]:
    """Yield short lines of running text directly between rows."""
    row_indices = set(rows)
    for index in range(1, len(lines) - 1):
        line = lines[index]
        between = {index - 1, index + 1} <= row_indices and lines[index - 1].page == lines[index + 1].page
        if roles[index] == "body" and between and not line.fills and len(line.words) <= 12:
            yield index


def _merged(extents: Sequence[_Extent], walls: Sequence[_Extent], reach: float) -> list[_Extent]:
    groups: list[_Extent] = []
    for extent in extents:
        near = [group for group in groups if _is_under(extent, group, walls, reach)]
        groups = [group for group in groups if group not in near] + [_union((*near, extent))]
    return groups


def _is_under(extent: _Extent, group: _Extent, walls: Sequence[_Extent], reach: float) -> bool:
    if not extent.overlaps(group) or extent.below(group) > reach:
        return False
    middle = (extent.top + group.bottom) / 2
    return not any(wall.top <= middle <= wall.bottom and wall.overlaps(extent) for wall in walls)


def _claims(
    tabular: Sequence[_Extent], parts: Sequence[_Extent], style: Style
) -> Iterator[tuple[_Extent, list[_Extent]]]:
    """Yield each caption with its parts, if possible all on the same side of the captions."""
    reach = _CAPTION_GAP * style.leading
    above = {caption: _beside(caption, parts, reach, under=True) for caption in tabular}
    below = {caption: _beside(caption, parts, reach, under=False) for caption in tabular}
    only_above = sum(bool(above[c]) and not below[c] for c in tabular)
    only_below = sum(bool(below[c]) and not above[c] for c in tabular)
    used: set[_Extent] = set()
    for caption in tabular:
        first, second = (above, below) if only_above >= only_below else (below, above)
        chosen = [part for part in first[caption] or second[caption] if part not in used]
        used.update(chosen)
        if chosen:
            yield caption, chosen


def _beside(caption: _Extent, parts: Sequence[_Extent], reach: float, *, under: bool) -> list[_Extent]:
    """Return the parts directly above a caption (`under` them), or directly below it."""
    near = []
    for part in parts:
        gap = caption.below(part) if under else part.below(caption)
        if part.page == caption.page and part.overlaps(caption) and -2 <= gap <= reach:
            near.append((gap, part))
    return [part for gap, part in sorted(near, key=lambda pair: pair[0])]


def _grown(lines: Sequence[Line], roles: Sequence[Role], members: Sequence[int], style: Style) -> list[int]:
    """Return rows with the lines directly above or between them that are no running text."""
    grown = set(members)
    extent = _extent(lines, members)
    page = lines[members[0]].page
    near = [
        i for i, line in enumerate(lines) if line.page == page and roles[i] in ("body", "table", "figure")
    ]
    for index in sorted(near, key=lambda i: -lines[i].bottom):
        line = lines[index]
        apart = extent.top - line.bottom
        if index in grown or not (line.left < extent.right and line.right > extent.left):
            continue
        if apart > _GROWTH * style.leading or line.bottom > extent.bottom:
            continue
        if not _may_be_row(line):
            if apart > -1:
                break
            continue
        grown.add(index)
        extent = _union((extent, _extent(lines, [index])))
    return sorted(grown)


def _may_be_row(line: Line) -> bool:
    narrow = line.right - line.left < 0.55 * (line.column_right - line.column_left)
    return (line.cells > 1 or narrow) and not line.text.endswith((".", ":")) and not is_prose(line)


def _table(lines: Sequence[Line], caption: tuple[int, ...], members: Sequence[int]) -> FoundTable | None:
    """Return the table in some lines, None if they have no columns."""
    rows = _rows([lines[index] for index in members])
    size = max(1.0, sorted(line.size for line in (lines[index] for index in members))[len(members) // 2])
    chunked = [_chunks(row, _CELL_GAP * size) for row in rows]
    columns = _with_figures_apart(_columns(chunked), rows)
    chunked = [_chunks(row, _CELL_GAP * size, columns) for row in rows]
    if len(rows) < FEWEST_ROWS or not FEWEST_ROWS <= len(columns) <= MOST_COLUMNS:
        return None
    page = lines[members[0]].page
    cells = [_cells(chunks, columns) for chunks in chunked]
    header = header_rows(cells)
    spread = [_spread(chunks, columns, size) for chunks in chunked[:header]]
    placed = [_Row(row, (_box(page, words),)) for row, words in zip(cells, rows, strict=True)]
    merged = _unwrapped(_with_split_labels(placed[header:]))
    body, boxes = [row.cells for row in merged], [row.boxes for row in merged]
    filled = sum(bool(cell) for row in body for cell in row)
    if not body or filled < _LEAST_FILLED * len(columns) * len(body):
        return None
    table = Table((*spread, *body), header)
    return FoundTable(
        caption, frozenset(members), table, tuple(boxes), _box(page, [w for row in rows for w in row])
    )


def _rows(lines: Sequence[Line]) -> list[list[Word]]:
    """Return the words of each row from left to right, across columns of the page."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.baseline):
        if rows and line.baseline - rows[-1][0].baseline < 0.4 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted((word for line in row for word in line.words), key=lambda word: word.left) for row in rows]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Adjacent words of a row."""

    text: str
    left: float
    right: float


def _chunks(words: Sequence[Word], gap: float, columns: Sequence[tuple[float, float]] = ()) -> list[_Chunk]:
    """Return the words of a row grouped by gaps; a number in a column of its own is separate."""
    groups: list[list[Word]] = []
    for word in words:
        is_near = groups and word.left - groups[-1][-1].right < gap
        if is_near and not (is_number(word.text) and _begins_column(word, groups[-1][-1], columns)):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [
        _Chunk(
            " ".join(word.marked or word.text for word in group),
            group[0].left,
            max(word.right for word in group),
        )
        for group in groups
    ]


def _begins_column(word: Word, before: Word, columns: Sequence[tuple[float, float]]) -> bool:
    return any(before.right <= left <= (word.left + word.right) / 2 <= right for left, right in columns)


def _columns(rows: Sequence[Sequence[_Chunk]]) -> list[tuple[float, float]]:
    """Return the left and right edge of each column, by the white strips between them.

    Headers may span columns, so if there are rows of figures only these count.
    """
    numeric = [row for row in rows if sum(is_number(chunk.text) for chunk in row) * 2 >= len(row) > 1]
    numeric = numeric if len(numeric) >= 2 else [row for row in rows if len(row) > 1]
    most = max(map(len, numeric), default=0)
    # In a row with empty cells, a label may extend over them.
    numeric = [row for row in numeric if 2 * len(row) > most]
    return list(_covered([(chunk.left, chunk.right) for row in numeric for chunk in row], len(numeric) // 10))


def _with_figures_apart(
    columns: Sequence[tuple[float, float]], rows: Sequence[Sequence[Word]]
) -> list[tuple[float, float]]:
    """Split columns in which figures closely follow labels or other figures."""
    split: list[tuple[float, float]] = []
    for left, right in columns:
        inside = [[word for word in row if left <= word.left and word.right <= right] for row in rows]
        with_figures = [words for words in inside if len(words) > 1 and is_number(words[-1].text)]
        parts = list(_covered([(word.left, word.right) for words in with_figures for word in words], 0))
        apart = len(with_figures) >= _FEWEST_TOLD and _stand_apart(parts, with_figures)
        split.extend([(left, parts[0][1]), *parts[1:-1], (parts[-1][0], right)] if apart else [(left, right)])
    return split


def _stand_apart(parts: Sequence[tuple[float, float]], rows: Sequence[Sequence[Word]]) -> bool:
    """Return True if every part after the first has one figure of each row."""
    return len(parts) > 1 and all(
        sum(left <= word.left and word.right <= right and is_number(word.text) for word in row) == 1
        for left, right in parts[1:]
        for row in rows
    )


def _covered(spans: Sequence[tuple[float, float]], outliers: int) -> Iterator[tuple[float, float]]:
    """Yield the intervals that more than `outliers` spans cover, from left to right."""
    edges = sorted([(left, 1) for left, _ in spans] + [(right, -1) for _, right in spans])
    depth, begin = 0, 0.0
    for edge, step in edges:
        if step > 0 and depth == outliers:
            begin = edge
        depth += step
        if step < 0 and depth == outliers:
            yield begin, edge


def _cells(chunks: Sequence[_Chunk], columns: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Return a row's cells: each chunk goes to the column it overlaps most, else the nearest."""
    cells = [""] * len(columns)
    for chunk in chunks:
        column = max(range(len(columns)), key=lambda index: _overlap(chunk, columns[index]))
        cells[column] = f"{cells[column]} {chunk.text}".strip()
    return tuple(cells)


def _overlap(chunk: _Chunk, column: tuple[float, float]) -> float:
    """Return the overlap of a chunk with a column, in points; negative for their distance."""
    return min(chunk.right, column[1]) - max(chunk.left, column[0])


def _spread(chunks: Sequence[_Chunk], columns: Sequence[tuple[float, float]], size: float) -> tuple[str, ...]:
    """Return the cells of a header row; a header over several columns is repeated in each."""
    if len(chunks) >= len(columns):
        return _cells(chunks, columns)
    cells = list(_cells(chunks, columns))
    for index, column in enumerate(columns):
        middle = (column[0] + column[1]) / 2
        over = [chunk for chunk in chunks if chunk.left - size <= middle <= chunk.right + size]
        if not cells[index] and over:
            cells[index] = min(over, key=lambda chunk: abs(chunk.left + chunk.right - 2 * middle)).text
    return tuple(cells)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row's cells and the boxes of its lines."""

    cells: tuple[str, ...]
    boxes: tuple[Box, ...]

    @property
    def is_label(self) -> bool:
        return bool(self.cells[0]) and not any(self.cells[1:])

    def joined(self, under: "_Row") -> "_Row":
        """Return this row with the cells of the row below appended."""
        cells = (f"{mine} {others}".strip() for mine, others in zip(self.cells, under.cells, strict=True))
        return _Row(tuple(cells), (*self.boxes, *under.boxes))


def _with_split_labels(rows: Sequence[_Row]) -> list[_Row]:
    """Join labels of two lines with the figures set half a line between them."""
    joined: list[_Row] = []
    for row in rows:
        close = joined and _is_half_a_line_below(joined[-1], row)
        if close and (joined[-1].is_label != row.is_label or (row.is_label and len(joined[-1].boxes) > 1)):
            joined[-1] = joined[-1].joined(row)
        else:
            joined.append(row)
    return joined


def _is_half_a_line_below(above: _Row, row: _Row) -> bool:
    before, box = above.boxes[-1], row.boxes[0]
    either = (above.is_label and not row.cells[0]) or (row.is_label and len(above.boxes) > 1)
    return either and box.y - before.y < 0.75 * min(before.height, box.height)


def _unwrapped(rows: Sequence[_Row]) -> list[_Row]:
    """Join wrapped cells: rows of text without a first cell, below text.

    Text alone in a column of figures becomes the label of the rows below.
    """
    columns = [
        [cell for cell in column if not is_nothing(cell)]
        for column in zip(*(row.cells for row in rows), strict=True)
    ]
    of_figures = [2 * sum(map(is_number, cells)) > len(cells) for cells in columns]
    joined: list[_Row] = []
    for row in rows:
        filled = [index for index, cell in enumerate(row.cells) if cell]
        if len(filled) == 1 and of_figures[filled[0]] and not is_number(row.cells[filled[0]]):
            joined.append(_Row((row.cells[filled[0]], *[""] * (len(row.cells) - 1)), row.boxes))
        elif joined and not row.cells[0] and _continues(joined[-1], row):
            joined[-1] = joined[-1].joined(row)
        else:
            joined.append(row)
    return joined


def _continues(above: _Row, row: _Row) -> bool:
    """Return True if all cells of a row are text below text."""
    pairs = [pair for pair in zip(above.cells, row.cells, strict=True) if pair[1]]
    return not any(is_nothing(cell) or is_number(cell) for pair in pairs for cell in pair)


def _box(page: int, words: Iterable[Word]) -> Box:
    words = list(words)
    left, top = min(word.left for word in words), min(word.top for word in words)
    right, bottom = max(word.right for word in words), max(word.bottom for word in words)
    return Box(page, round(left, 2), round(top, 2), round(right - left, 2), round(bottom - top, 2))


def _joined_over_pages(
    lines: Sequence[Line], tables: Sequence[FoundTable], parts: Sequence[_Extent]
) -> list[FoundTable]:
    """Join tables continued on the next page, with a "continued" caption or without any at the top."""
    joined: list[FoundTable] = []
    for table in tables:
        if joined and _CONTINUED.search(" ".join(lines[index].text for index in table.caption)):
            joined[-1] = _one_table(joined[-1], table) or table
        else:
            joined.append(table)
    used = {index for table in joined for index in table.members}
    for part in parts:
        before = next((t for t in joined if t.area.page == part.page - 1 and _ends_page(lines, t)), None)
        if before and not used & set(part.lines) and _begins_page(lines, part):
            continuation = _table(lines, (), part.lines)
            if continuation and (whole := _one_table(before, continuation)):
                joined[joined.index(before)] = whole
    return joined


def _one_table(table: FoundTable, continuation: FoundTable) -> FoundTable | None:
    """Return a table with its continued rows, None if these have other columns."""
    if len(table.table.rows[0]) != len(continuation.table.rows[0]):
        return None
    heads = table.table.rows[: table.table.header]
    repeats = continuation.table.header and continuation.table.rows[: continuation.table.header] == heads
    rows = continuation.table.rows[
        continuation.table.header if repeats or not continuation.table.header else 0 :
    ]
    boxes = (
        continuation.row_boxes
        if len(continuation.row_boxes) == len(rows)
        else ((continuation.area,),) * len(rows)
    )
    return replace(
        table,
        caption=(*table.caption, *continuation.caption),
        members=table.members | continuation.members,
        table=Table((*table.table.rows, *rows), table.table.header),
        row_boxes=(*table.row_boxes, *boxes),
    )


def _ends_page(lines: Sequence[Line], table: FoundTable) -> bool:
    """Return True if nothing follows a table on its page."""
    bottom = max(lines[index].bottom for index in table.members)
    return not any(line.page == table.area.page and line.top > bottom for line in lines)


def _begins_page(lines: Sequence[Line], part: _Extent) -> bool:
    return all(line.bottom > part.top for line in lines if line.page == part.page)
