"""Line numbers that preprints and review copies print beside their text.

They stand in a strip of the page that holds nothing else, and grow down the page with its lines: each by as
much as there are lines from one to the next. Tables, lists and contents have other text above or below their
numbers.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from statistics import median

from corpus.pdf.pages import PdfPage
from corpus.pdf.words import Word

_LONGEST = 5  # digits
_MOST_NUMBERS = 500  # on a page; of a page of tables the other pages tell where line numbers stand
_NEAR = 60.0  # points from one number of a listing to the next at most
_STEPS = (1, 2, 5, 10)
_ALIGNED = 1.5  # points by which the edges of numbers in a strip differ at most
_SAME_LINE = 3.0  # points between the baselines of a number and of its line
_MANY = 15  # numbers of a long listing, which covers only a part of its column
_FEWEST, _FEWEST_APART = 5, 3  # numbers at every line, and at every second, fifth or tenth
_MOST_BESIDE = 0.25  # lines in the strip that are none of its numbers, for each of them
_LEAST_COVERED = 0.7  # of the lines of a column
_MOST_UNNUMBERED = 60  # lines of floats and displays between two numbers


@dataclass(frozen=True, slots=True)
class _Strip:
    """Numbers under each other; `words` by their places on the page, from the top."""

    left: float
    right: float
    step: int
    words: tuple[int, ...]
    values: tuple[int, ...]


def without_line_numbers(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """Return the pages without the numbers of their lines; others are the same objects."""
    candidates = [_candidates(page.words) for page in pages]
    found = [_strips(page, numbers) for page, numbers in zip(pages, candidates, strict=True)]
    known = [strip for strips in found for strip in strips]
    if not known:
        return list(pages)
    result = []
    last: _Strip | None = None
    for page, numbers, own in zip(pages, candidates, found, strict=True):
        # A page of few lines has few numbers; they stand where those of other pages do.
        strips = own or _continued(page, numbers, known, last)
        drop = {place for strip in strips for place in strip.words}
        last = strips[-1] if strips else last
        words = tuple(word for place, word in enumerate(page.words) if place not in drop)
        result.append(replace(page, words=words) if drop else page)
    return result


def _candidates(words: Sequence[Word]) -> list[int]:
    return [
        place
        for place, word in enumerate(words)
        if word.text.isdecimal() and len(word.text) <= _LONGEST and word.upright
    ]


def _strips(page: PdfPage, numbers: Sequence[int]) -> list[_Strip]:
    """Return the strips of a page that hold the numbers of its lines and hardly anything else."""
    strips: list[_Strip] = []
    left = list(numbers) if len(numbers) <= _MOST_NUMBERS else []
    while len(left) >= _FEWEST_APART and (strip := _largest_strip(page, left)):
        strips.append(strip)
        left = [place for place in left if place not in strip.words]
    return strips


def _largest_strip(page: PdfPage, numbers: Sequence[int]) -> _Strip | None:
    groups = sorted(_aligned(page.words, numbers), key=len, reverse=True)
    for group in groups:
        chains = (_chain(page.words, group, step, most) for step in _STEPS for most in (inf, _NEAR))
        for strip in sorted(filter(None, chains), key=lambda strip: len(strip.words), reverse=True)[:2]:
            if _is_of_lines(page, strip):
                return strip
    return None


def _aligned(words: Sequence[Word], numbers: Iterable[int]) -> list[tuple[int, ...]]:
    """Return the largest groups of numbers that are flush right, flush left or centred."""
    groups: set[tuple[int, ...]] = set()
    places = list(numbers)
    for share in (0.0, 0.5, 1.0):
        edge_of = {place: words[place].left * (1 - share) + words[place].right * share for place in places}
        by_edge = sorted(places, key=edge_of.__getitem__)
        edges = [edge_of[place] for place in by_edge]
        for start, edge in enumerate(edges):
            stop = bisect_right(edges, edge + _ALIGNED)
            is_largest = start == 0 or bisect_right(edges, edges[start - 1] + _ALIGNED) < stop
            if is_largest and stop - start >= _FEWEST_APART:
                groups.add(tuple(sorted(by_edge[start:stop], key=lambda place: words[place].baseline)))
    return list(groups)


def _chain(words: Sequence[Word], group: Sequence[int], step: int, most: float = inf) -> _Strip | None:
    """Return the longest chain of numbers of a group, each of them `step` above the one before.

    Where lines of floats have none, the next number is still the next; it is `most` points below.
    """
    best: dict[int, list[int]] = {}
    longest: list[int] = []
    for place in group:
        value = int(words[place].text)
        before = best.get(value - step, [])
        is_near = before and words[place].baseline - words[before[-1]].baseline <= most
        chain = [*before, place] if is_near else [place]
        if len(chain) > len(best.get(value, ())):
            best[value] = chain
        longest = max(longest, chain, key=len)
    if len(longest) < (_FEWEST if step == 1 else _FEWEST_APART):
        return None
    members = [words[place] for place in longest]
    return _Strip(
        min(word.left for word in members),
        max(word.right for word in members),
        step,
        tuple(longest),
        tuple(int(word.text) for word in members),
    )


def _is_of_lines(page: PdfPage, strip: _Strip) -> bool:
    """Return True if a strip holds hardly anything else, and its numbers grow with the lines beside it."""
    members = set(strip.words)
    heights = [page.words[place].baseline for place in strip.words]
    others = [
        word
        for place, word in enumerate(page.words)
        if place not in members
        and word.right > strip.left + 0.5
        and word.left < strip.right - 0.5
        and (len(members) < _MANY or heights[0] - _SAME_LINE < word.baseline < heights[-1] + _SAME_LINE)
    ]
    if len(_baselines(others)) > max(1.0, _MOST_BESIDE * len(members)):
        return False
    beside = _lines_beside(page, strip, members)
    return _is_listing(heights) or any(_keeps_step(strip, heights, rows) for rows in beside)


def _is_listing(heights: Sequence[float]) -> bool:
    """Return True for the numbers of a long listing: one to three lines apart, as long lines are broken."""
    gaps = [after - before for before, after in pairwise(heights)]
    leading = median(sorted(gaps)[: len(gaps) // 2 + 1])
    lines = [gap / leading for gap in gaps]
    return len(heights) >= _MANY and all(
        abs(count - round(count)) < 0.1 and 1 <= round(count) <= 3 for count in lines
    )


def _lines_beside(page: PdfPage, strip: _Strip, members: set[int]) -> list[list[float]]:
    """Return the baselines of the lines to the right and to the left of a strip, within its column."""
    size = median(page.words[place].bottom - page.words[place].top for place in strip.words)
    reach = max(60.0, 6 * size)
    others = [word for place, word in enumerate(page.words) if place not in members]
    right = [word for word in others if word.left - strip.right >= -0.5 and word.left < strip.right + reach]
    left = [
        word for word in others if strip.left - word.right >= -0.5 and word.right > strip.left - 4 * reach
    ]
    return [_baselines(side) for side in (right, left) if side]


def _baselines(words: Iterable[Word]) -> list[float]:
    rows: list[float] = []
    for baseline in sorted(word.baseline for word in words):
        if not rows or baseline - rows[-1] > _SAME_LINE:
            rows.append(baseline)
    return rows


def _keeps_step(strip: _Strip, heights: Sequence[float], rows: Sequence[float]) -> bool:
    """Return True if most numbers stand at lines, as many apart as they count, and cover most of them."""
    at = [bisect_left(rows, height - _SAME_LINE) for height in heights]
    level = sum(
        row < len(rows) and abs(rows[row] - height) <= _SAME_LINE
        for row, height in zip(at, heights, strict=True)
    )
    steps = [after - before for before, after in pairwise(at)]
    exact = sum(abs(rise - strip.step) <= (0 if strip.step == 1 else 1) for rise in steps)
    gaps = [after - before for before, after in pairwise(heights)]
    usual = median(gaps)
    even = sum(abs(gap - usual) < 0.12 * usual for gap in gaps)
    if level < 0.7 * len(heights) or max(exact, even) < 0.7 * len(steps):
        return False
    covered = strip.values[-1] - strip.values[0] + strip.step
    return covered >= _LEAST_COVERED * len(rows)


def _continued(
    page: PdfPage, numbers: Sequence[int], known: Sequence[_Strip], last: _Strip | None
) -> list[_Strip]:
    """Return the numbers that stand where those of other pages do and go on from them, or begin anew."""
    words = page.words
    strips: list[_Strip] = []
    for other in {(round(strip.left), strip.step): strip for strip in known}.values():
        near = [
            place
            for place in numbers
            if (
                abs(words[place].right - other.right) < _ALIGNED
                or abs(words[place].left - other.left) < _ALIGNED
            )
            and int(words[place].text) % other.step == other.values[0] % other.step
        ]
        near.sort(key=lambda place: words[place].baseline)
        values = [int(words[place].text) for place in near]
        rising = all(0 < b - a <= _MOST_UNNUMBERED for a, b in pairwise(values))
        starts = {0, 1, other.step, other.values[0], (last.values[-1] + other.step) if last else 0}
        if near and rising and values[0] in starts:
            strip = _Strip(other.left, other.right, other.step, tuple(near), tuple(values))
            taken = {place for found in strips for place in found.words}
            if not taken & set(near):
                strips.append(strip)
    return strips
