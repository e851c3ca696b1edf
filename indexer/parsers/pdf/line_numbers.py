"""Line numbers of preprints and review copies.

They are alone in a vertical strip of the page and count its lines from top to bottom. Numbers of tables,
lists and contents have other text above or below them.
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
_MOST_NUMBERS = 500  # on a page; pages with more are tables, where other pages give the position
_NEAR = 60.0  # points between consecutive numbers of a listing
_STEPS = (1, 2, 5, 10)
_ALIGNED = 1.5  # points by which the edges of numbers in a strip differ at most
_SAME_LINE = 3.0  # points between the baselines of a number and of its line
_MANY = 15  # numbers of a long listing, which may cover only part of its column
_FEWEST, _FEWEST_APART = 5, 3  # fewest numbers on every line, and on every second, fifth or tenth
_MOST_BESIDE = 0.25  # other lines in the strip, per number
_LEAST_COVERED = 0.7  # of the lines of a column
_MOST_UNNUMBERED = 60  # lines of floats and displays between two numbers


@dataclass(frozen=True, slots=True)
class _Strip:
    """Numbers in a column; `words` are their indices on the page, from the top."""

    left: float
    right: float
    step: int
    words: tuple[int, ...]
    values: tuple[int, ...]


def without_line_numbers(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """Return the pages without line numbers; unchanged pages are the same objects."""
    candidates = [_candidates(page.words) for page in pages]
    strips_of = [_strips(page, numbers) for page, numbers in zip(pages, candidates, strict=True)]
    certain = [strip for strips in strips_of for strip in strips]
    if not certain:
        return list(pages)
    result = []
    last: _Strip | None = None
    for page, numbers, certain_strips in zip(pages, candidates, strips_of, strict=True):
        # A page with few lines has few numbers, at the position of other pages'.
        strips = certain_strips or _continued(page, numbers, certain, last)
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
    """Return the strips of a page that hold line numbers and hardly anything else."""
    strips: list[_Strip] = []
    remaining = list(numbers) if len(numbers) <= _MOST_NUMBERS else []
    while len(remaining) >= _FEWEST_APART and (strip := _largest_strip(page, remaining)):
        strips.append(strip)
        remaining = [place for place in remaining if place not in strip.words]
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
    """Return the longest chain of numbers of a group, each `step` more than the previous.

    Lines of floats may be unnumbered; the next number is at most `most` points below.
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
    """Return True if a strip holds hardly anything else, and its numbers count the lines next to it."""
    members = set(strip.words)
    heights = [page.words[place].baseline for place in strip.words]
    intruders = [
        word
        for place, word in enumerate(page.words)
        if place not in members
        and word.right > strip.left + 0.5
        and word.left < strip.right - 0.5
        and (len(members) < _MANY or heights[0] - _SAME_LINE < word.baseline < heights[-1] + _SAME_LINE)
    ]
    if len(_baselines(intruders)) > max(1.0, _MOST_BESIDE * len(members)):
        return False
    sides = _lines_beside(page, strip, members)
    return _is_listing(heights) or any(_keeps_step(strip, heights, rows) for rows in sides)


def _is_listing(heights: Sequence[float]) -> bool:
    """Return True for the numbers of a long listing: one to three lines apart, as long lines wrap."""
    gaps = [after - before for before, after in pairwise(heights)]
    leading = median(sorted(gaps)[: len(gaps) // 2 + 1])
    lines = [gap / leading for gap in gaps]
    return len(heights) >= _MANY and all(
        abs(count - round(count)) < 0.1 and 1 <= round(count) <= 3 for count in lines
    )


def _lines_beside(page: PdfPage, strip: _Strip, members: set[int]) -> list[list[float]]:
    """Return the baselines of the lines right and left of a strip, within its column."""
    size = median(page.words[place].bottom - page.words[place].top for place in strip.words)
    reach = max(60.0, 6 * size)
    text = [word for place, word in enumerate(page.words) if place not in members]
    right = [word for word in text if word.left - strip.right >= -0.5 and word.left < strip.right + reach]
    left = [word for word in text if strip.left - word.right >= -0.5 and word.right > strip.left - 4 * reach]
    return [_baselines(side) for side in (right, left) if side]


def _baselines(words: Iterable[Word]) -> list[float]:
    rows: list[float] = []
    for baseline in sorted(word.baseline for word in words):
        if not rows or baseline - rows[-1] > _SAME_LINE:
            rows.append(baseline)
    return rows


def _keeps_step(strip: _Strip, heights: Sequence[float], rows: Sequence[float]) -> bool:
    """Return True if most numbers are level with lines, advance by the step, and cover most lines."""
    indices = [bisect_left(rows, height - _SAME_LINE) for height in heights]
    level = sum(
        row < len(rows) and abs(rows[row] - height) <= _SAME_LINE
        for row, height in zip(indices, heights, strict=True)
    )
    steps = [after - before for before, after in pairwise(indices)]
    exact = sum(abs(rise - strip.step) <= (0 if strip.step == 1 else 1) for rise in steps)
    gaps = [after - before for before, after in pairwise(heights)]
    usual = median(gaps)
    even = sum(abs(gap - usual) < 0.12 * usual for gap in gaps)
    if level < 0.7 * len(heights) or max(exact, even) < 0.7 * len(steps):
        return False
    covered = strip.values[-1] - strip.values[0] + strip.step
    return covered >= _LEAST_COVERED * len(rows)


def _continued(
    page: PdfPage, numbers: Sequence[int], certain: Sequence[_Strip], last: _Strip | None
) -> list[_Strip]:
    """Return the numbers at the position of other pages' that continue these or start again."""
    words = page.words
    strips: list[_Strip] = []
    for reference in {(round(strip.left), strip.step): strip for strip in certain}.values():
        near = [
            place
            for place in numbers
            if (
                abs(words[place].right - reference.right) < _ALIGNED
                or abs(words[place].left - reference.left) < _ALIGNED
            )
            and int(words[place].text) % reference.step == reference.values[0] % reference.step
        ]
        near.sort(key=lambda place: words[place].baseline)
        values = [int(words[place].text) for place in near]
        rising = all(0 < b - a <= _MOST_UNNUMBERED for a, b in pairwise(values))
        starts = {
            0,
            1,
            reference.step,
            reference.values[0],
            (last.values[-1] + reference.step) if last else 0,
        }
        if near and rising and values[0] in starts:
            strip = _Strip(reference.left, reference.right, reference.step, tuple(near), tuple(values))
            used = {place for earlier in strips for place in earlier.words}
            if not used & set(near):
                strips.append(strip)
    return strips
