"""From the words of PDF pages to lines in reading order: find columns, drop page artifacts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from corpus.pdf.pages import PdfPage
from corpus.pdf.words import Word
from indexer.parsers.pdf.fragments import (
    LEAST_GUTTER,
    Fragment,
    fragment_of,
    fragments_of,
    has_figure,
    without_artifacts,
)
from indexer.parsers.pdf.line_numbers import without_line_numbers
from indexer.parsers.pdf.lines import Line, runs_right_to_left
from indexer.parsers.pdf.repair import with_exponents_joined, with_initials_joined

_SPANNING = -1


def lines_in_order(pages: Sequence[PdfPage]) -> list[Line]:
    """Return the lines of all pages in reading order, without running heads, page and line numbers."""
    pages = list(map(with_initials_joined, without_line_numbers(pages)))
    fragments = without_artifacts([fragments_of(page.words) for page in pages], pages)
    gutters = _gutters(fragments, pages)
    lines: list[Line] = []
    column = 0
    for page, parts, cuts in zip(pages, fragments, gutters, strict=True):
        backwards = runs_right_to_left(page.words)
        for block in _blocks(_cut(parts, cuts), cuts, right_to_left=backwards):
            rows = _rows(block)
            left = min(fragment.left for fragment in block)
            right = max(fragment.right for fragment in block)
            lines.extend(Line.of(row, page.number, column, left, right) for row in rows)
            column += 1
    return lines


def _gutters(pages: list[list[Fragment]], sizes: Sequence[PdfPage]) -> list[tuple[float, ...]]:
    """Return per page the left edges of the columns after the first."""
    starts = [_starts(fragments, page) for fragments, page in zip(pages, sizes, strict=True)]
    edges_of = [_strong_edges(counts, 3) for counts in starts]
    usual = _usual_edges(starts, edges_of)
    result = []
    for fragments, counts, edges in zip(pages, starts, edges_of, strict=True):
        shared = {_nearest(counts, edge) or _clear_edge(fragments, edge) for edge in usual} - {0}
        result.append(tuple(sorted(_apart(shared))) or edges)
    return result


def _usual_edges(starts: Sequence[dict[int, int]], edges_of: Sequence[tuple[float, ...]]) -> list[float]:
    """Return the edges that several pages share, or, in short papers, many lines of one page.

    The edges of a single page are unreliable, as tables may mislead.
    """
    least = max(2, 0.3 * len(edges_of))
    pages_with = Counter(round(edge / 6) for edges in edges_of for edge in edges)
    usual = [key * 6.0 for key, count in pages_with.items() if count >= least]
    if usual or len(edges_of) > 3:
        return usual
    pairs = zip(starts, edges_of, strict=True)
    return [edge for counts, edges in pairs for edge in edges if _near(counts, round(edge)) >= 12]


def _clear_edge(fragments: list[Fragment], usual: float) -> int:
    """Return the edge near `usual` of a page whose text ends left of it, else 0.

    The last page may have only a few lines to the right of the edge, and other pages a table.
    """
    begins = [usual]
    inside = across = 0
    for fragment in fragments:
        after = min((word.left for word in fragment.words if word.left >= usual - 6), default=None)
        begins.extend([after] if after is not None and after <= usual + 6 else [])
        if len(fragment.words) < 3 or not fragment.left < usual - 40 < fragment.right:
            continue
        end = max(word.right for word in fragment.words if word.left < usual - 6)
        is_clear = end < usual and (after is None or after - end >= LEAST_GUTTER)
        inside += is_clear
        across += not is_clear
    return int(min(begins)) if inside >= 5 and across < 3 * inside else 0


def _nearest(counts: dict[int, int], edge: float) -> int:
    """Return the leftmost place near `edge` where many lines begin, 0 without such a place."""
    places = [p for p in counts if abs(p - edge) <= 12 and _near(counts, p) >= 2]
    most = max((_near(counts, p) for p in places), default=0)
    return min((p for p in places if _near(counts, p) >= 0.2 * most), default=0)


def _apart(edges: set[int]) -> list[int]:
    distinct: list[int] = []
    for edge in sorted(edges):
        if not distinct or edge - distinct[-1] > 90:
            distinct.append(edge)
    return distinct


def _starts(fragments: list[Fragment], page: PdfPage) -> dict[int, int]:
    """Count, per point of the page's width, the lines that begin there to the right of other text."""
    counts: Counter[int] = Counter()
    reached = _leftmost_ends(fragments)
    for fragment in fragments:
        for index in (0, *fragment.parts):
            word = fragment.words[index]
            if not 0.27 * page.width < word.left < 0.78 * page.width:
                continue
            words = fragment.words[index:]
            before = min(reached.get(round(word.baseline / 8) + step, page.width) for step in (-1, 0, 1))
            if len(words) >= 3 and words[-1].right - word.left > 0.15 * page.width and before < word.left - 5:
                counts[round(word.left)] += 1
    crossed = Counter[int]()
    for fragment in fragments:
        points = [p for p in counts if fragment.left < p - 8 and fragment.right > p + 8]
        begins = {int(word.left) for word in fragment.words} if points else set()
        for point in points:
            near = not begins.isdisjoint(range(point - 3, point + 3))
            if not (near and any(abs(word.left - point) < 2.5 for word in fragment.words)):
                crossed[point] += 1
    # Lines may cross the edge of a column: pages are often partly in one column.
    return {
        point: count
        for point, count in counts.items()
        if crossed[point] < (3 if _near(counts, point) >= 5 else 1) * _near(counts, point)
    }


def _leftmost_ends(fragments: list[Fragment]) -> dict[int, float]:
    """Return per horizontal strip of eight points the leftmost end of text in it."""
    ends: dict[int, float] = {}
    for fragment in fragments:
        strip = round(fragment.baseline / 8)
        if len(fragment.words) >= 2:
            ends[strip] = min(ends.get(strip, fragment.right), fragment.right)
        for before in (fragment.words[index - 1] for index in fragment.parts if index > 1):
            ends[strip] = min(ends.get(strip, before.right), before.right)
    return ends


def _near(counts: Counter[int] | dict[int, int], point: int) -> int:
    return sum(counts.get(point + shift, 0) for shift in (-1, 0, 1, 2))


def _strong_edges(counts: dict[int, int], least: int) -> tuple[float, ...]:
    edges: list[float] = []
    for point in sorted(counts, key=lambda p: (-_near(counts, p), p)):
        peak = _near(counts, point)
        if peak < least or any(abs(point - edge) <= 90 for edge in edges):
            continue
        # Most lines may be indented, as in lists; the column begins at its leftmost lines.
        left = (p for p in counts if point - 40 < p < point and _near(counts, p) >= max(2, 0.12 * peak))
        edges.append(min((*left, point)))
    return tuple(sorted(edges))


def _cut(fragments: list[Fragment], gutters: tuple[float, ...]) -> list[Fragment]:
    """Split fragments that run from one column into the next."""
    parts: list[Fragment] = []
    for fragment in fragments:
        begin = 0
        words = fragment.words
        for index in fragment.parts:
            crosses = any(words[index - 1].right - 1 < gutter < words[index].left + 4 for gutter in gutters)
            if crosses and not _is_row_of_figures(words):
                parts.append(fragment_of(words[begin:index]))
                begin = index
        parts.append(fragment_of(words[begin:]) if begin else fragment)
    return parts


def _is_row_of_figures(words: list[Word]) -> bool:
    """Return True for a table's row across the page, whose gaps are no gutters."""
    return len(words) >= 5 and sum(has_figure(w.text) for w in words) > 0.6 * len(words)


def _blocks(
    fragments: list[Fragment], gutters: tuple[float, ...], *, right_to_left: bool
) -> list[list[Fragment]]:
    """Return fragments in reading order: down each column, between lines that span columns."""
    blocks: list[list[Fragment]] = []
    columns: dict[int, list[Fragment]] = {}
    middles = _middles(fragments, gutters)
    wide = _wide_rows(fragments, middles)
    for fragment in sorted(fragments, key=lambda f: (f.baseline, f.left)):
        column = _SPANNING if id(fragment) in wide else _column(fragment, middles)
        if columns and (column == _SPANNING) != (_SPANNING in columns):
            blocks.extend(columns[key] for key in sorted(columns, reverse=right_to_left))
            columns = {}
        columns.setdefault(column, []).append(fragment)
    blocks.extend(columns[key] for key in sorted(columns, reverse=right_to_left))
    return blocks


def _middles(fragments: list[Fragment], edges: tuple[float, ...]) -> tuple[float, ...]:
    """Return the middle of the gutter to the left of each edge."""
    middles = []
    for edge in edges:
        ends = sorted(f.right for f in fragments if len(f.words) > 2 and edge - 80 < f.right < edge - 2)
        end = ends[int(0.9 * (len(ends) - 1))] if ends else edge - 10
        middles.append((end + edge) / 2)
    return tuple(middles)


def _column(fragment: Fragment, middles: tuple[float, ...]) -> int:
    """Return the number of the fragment's column, _SPANNING if it spans columns."""
    width = fragment.right - fragment.left
    for middle in middles:
        if min(middle - fragment.left, fragment.right - middle) > max(14, 0.08 * width):
            return _SPANNING
    return sum((fragment.left + fragment.right) / 2 > middle for middle in middles)


def _wide_rows(fragments: list[Fragment], middles: tuple[float, ...]) -> set[int]:
    """Return ids of fragments of tables across the page: rows of figures, or short pieces near wide lines."""
    if not middles:
        return set()
    extent = max(f.right for f in fragments) - min(f.left for f in fragments)
    rows = _level_rows(fragments)
    spans = [any(_column(f, middles) == _SPANNING for f in row) for row in rows]
    short = [all(f.right - f.left < 0.33 * extent for f in row) and len(row) > 1 for row in rows]
    sides = [len({_column(f, middles) for f in row}) > 1 for row in rows]
    wide = {
        id(f)
        for row, is_spanning in zip(rows, spans, strict=True)
        if is_spanning and _is_row_of_figures([word for f in row for word in f.words])
        for f in row
    }
    for start, end in _runs([a and b for a, b in zip(short, sides, strict=True)]):
        adjoins = (start > 0 and spans[start - 1]) or (end < len(rows) and spans[end])
        if end - start >= 2 and adjoins:
            wide.update(id(fragment) for row in rows[start:end] for fragment in row)
    return wide


def _level_rows(fragments: list[Fragment]) -> list[list[Fragment]]:
    rows: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: f.baseline):
        if rows and fragment.baseline - rows[-1][0].baseline < 2.5:
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    return rows


def _runs(flags: list[bool]) -> Iterator[tuple[int, int]]:
    start = 0
    for flag, group in groupby(flags):
        end = start + sum(1 for _ in group)
        if flag:
            yield start, end
        start = end


def _rows(fragments: list[Fragment]) -> list[list[Word]]:
    """Join the fragments of one column to lines, with superscripts and subscripts."""
    rows: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: (f.baseline, f.left)):
        home = next((row for row in reversed(rows[-3:]) if _on_row(row, fragment)), None)
        if home is None:
            rows.append([fragment])
        else:
            home.append(fragment)
    ordered = [sorted(row, key=lambda f: f.left) for row in rows]
    return [with_exponents_joined([word for fragment in row for word in fragment.words]) for row in ordered]


def _on_row(row: list[Fragment], fragment: Fragment) -> bool:
    main = max(row, key=lambda f: f.right - f.left)
    overlap = min(main.bottom, fragment.bottom) - max(main.top, fragment.top)
    if overlap < 0.5 * min(main.bottom - main.top, fragment.bottom - fragment.top):
        return False
    return all(min(f.right, fragment.right) - max(f.left, fragment.left) < 3 for f in row)
