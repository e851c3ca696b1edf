"""The words of a page: its characters joined, with their boxes and how they are set."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.markup.raised import lower_text, raise_text
from corpus.pdf.characters import compose, size_from_letters
from corpus.pdf.glyphs import Characters, Extents, Numbers, Transform, are_apart
from corpus.pdf.styles import styles_of
from corpus.records import Box

# In heights of the font; typesetters raise marks by a third of it.
RAISED = 0.2
_LOWERED = 0.08
_LEAST_SHIFT = 0.5  # points
_FULL_SIZE = 0.9  # of the largest characters of a word
# Raised parts of figures and formulas: "6", "-3", "n", "i+1", "th".
_FIGURE = r"[A-Za-z0-9\u0370-\u03ff\U0001d400-\U0001d7ff]{1,6}"
_FIGURES = re.compile(rf"[+\-−–]?{_FIGURE}(?:[+\-−–=*/.,()∗]{_FIGURE}){{0,3}}[+\-−–]?|[+\-−–]")
LEAST_SIZE, LEAST_WIDTH = 2.0, 0.2
"""Points: the smallest type that is read, and how wide its letters are at least, one with another."""
_NO_HEIGHT = 0.01

_Flags = NDArray[np.bool_]


class Word(NamedTuple):
    """Characters without white space between them, where they stand, and how they are set.

    Points from the top left of the page as it is shown, like `Box`. `baseline` is where the letters stand,
    `size` the height of the font. `hyphenated` marks a word that a line break cut; its hyphen is not in the
    text.
    `ends_line` says that the file itself breaks the line after it; turned text runs downwards (`turn` 1), to
    the left upside down (2) or upwards (3). The last `raised` characters stand above the baseline, as the
    mark of a footnote does. `marked` is the text with raised and lowered figures as such ("10⁶"), "" where
    there are none.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    hyphenated: bool = False
    ends_line: bool = False
    turn: int = 0
    raised: int = 0
    legible: bool = True
    marked: str = ""

    @property
    def upright(self) -> bool:
        return self.turn == 0

    def box(self, page: int) -> Box:
        return Box(page, self.left, self.top, self.right - self.left, self.bottom - self.top)


def words_of(text: object, found: Characters, transform: Transform) -> list[Word]:
    """Return the words that characters of a text page of PDFium's make, as `transform` leads to the page."""
    if not found.signs:
        return []
    runs = _runs(found)
    styles = styles_of(text, found.places[runs.starts].tolist(), transform)
    upright = styles.turns == 0
    shifted = _shifted(text, found, runs, transform, upright)
    letters = _extents_of_letters(found, runs, shifted)
    sizes = _real_sizes(found, runs, letters, styles.sizes)
    extents = _extents(letters, found.extents[runs.starts], np.array(sizes), upright)
    columns = (
        [compose("".join(found.signs[start:end])) for start, end in runs.spans()],
        *(one.tolist() for one in extents.arrays),
        sizes,
        *zip(*styles.fonts, strict=True),
        *(column.tolist() for column in (*_ends(found, runs), styles.turns)),
        _raised(found, runs, letters.baseline, sizes, upright),
        _legible(found, runs, np.array(styles.sizes), upright).tolist(),
        _marked(found, runs, letters.baseline, shifted),
    )
    words = list(map(Word._make, zip(*columns, strict=True)))
    _draw_hyphens(words, found, runs)
    return words


class _Runs(NamedTuple):
    """Characters without anything between them, in arrays: each run makes a word.

    `starts` and `ends` are places among the characters drawn; `passed` is how many of the page's breaks stand
    before each run. One that `is_broken` ends at the break of that number, another where the next is apart.
    """

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    passed: NDArray[np.intp]
    is_broken: _Flags

    def spans(self) -> Iterable[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)


def _runs(found: Characters) -> _Runs:
    before = np.searchsorted(found.breaks, found.places)
    apart = are_apart(found.extents[:-1], found.extents[1:])
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(before) > 0) | apart)))
    passed = before[starts]
    ends = np.append(starts[1:], len(found.places))
    return _Runs(starts, ends, passed, np.diff(passed, append=len(found.breaks)) > 0)


def _shifted(
    text: object, found: Characters, runs: _Runs, transform: Transform, upright: _Flags
) -> dict[int, Numbers]:
    """Return the heights of the characters of each run in which some are raised or lowered."""
    drawn = found.extents.baseline
    spread = np.maximum.reduceat(drawn, runs.starts) - np.minimum.reduceat(drawn, runs.starts)
    shifted = np.flatnonzero(upright & (spread > _LEAST_SHIFT)).tolist()
    if not shifted:
        return {}
    places = [found.places[runs.starts[at] : runs.ends[at]] for at in shifted]
    sizes = np.array(styles_of(text, np.concatenate(places).tolist(), transform).sizes)
    ends = np.cumsum([len(of_run) for of_run in places])[:-1]
    return dict(zip(shifted, np.split(sizes, ends), strict=True))


def _marked(found: Characters, runs: _Runs, baselines: Numbers, shifted: dict[int, Numbers]) -> list[str]:
    """Return the text of each run with its raised and lowered figures as such, "" where it has none."""
    marked = [""] * len(baselines)
    for at, sizes in shifted.items():
        run = slice(runs.starts[at], runs.ends[at])
        rises = (baselines[at] - found.extents.baseline[run]) / max(LEAST_SIZE, float(sizes.max()))
        text = _with_marks(found.signs[run], rises)
        marked[at] = text if text != compose("".join(found.signs[run])) else ""
    return marked


def _with_marks(signs: Sequence[str], rises: Numbers) -> str:
    levels = np.where(rises > RAISED, 1, np.where(rises < -_LOWERED, -1, 0)).tolist()
    parts = [
        (level, compose("".join(sign for _, sign in group)))
        for level, group in groupby(zip(levels, signs, strict=True), key=itemgetter(0))
    ]
    marked = ""
    for place, (level, part) in enumerate(parts):
        beside = (
            parts[place - 1][1][-1:] if place else "",
            parts[place + 1][1][:1] if place + 1 < len(parts) else "",
        )
        marked += _mark(level, part, *beside)
    return marked


def _mark(level: int, part: str, before: str, after: str) -> str:
    """Return a part of a word as it is shifted; lowered parts only where they would be read as a figure's."""
    if level > 0 and before and after not in ("/", "⁄"):
        return raised_figures(part)
    if level < 0 and part.isdecimal() and (before.isdecimal() or after.isdecimal()):
        return lower_text(part)
    return part


def raised_figures(text: str) -> str:
    """Return raised figures and letters of formulas as such, anything else as it is."""
    if not _FIGURES.fullmatch(text):
        return text
    return f"^{text}" if text in ("r", "R") else raise_text(text)


def _extents_of_letters(found: Characters, runs: _Runs, shifted: dict[int, Numbers]) -> Extents:
    """Return where the letters of each run lie; a baseline is the middle one of its largest characters'."""
    drawn, starts = found.extents, runs.starts
    baseline, highest = (reduce.reduceat(drawn.baseline, starts) for reduce in (np.minimum, np.maximum))
    for at in np.flatnonzero(baseline != highest):
        baselines = drawn.baseline[starts[at] : runs.ends[at]]
        if (sizes := shifted.get(int(at))) is not None:
            baselines = baselines[sizes > _FULL_SIZE * sizes.max()]
        baselines = np.sort(baselines)
        baseline[at] = baselines[len(baselines) // 2]
    return Extents(
        np.minimum.reduceat(drawn.left, starts),
        np.minimum.reduceat(drawn.top, starts),
        np.maximum.reduceat(drawn.right, starts),
        np.maximum.reduceat(drawn.bottom, starts),
        baseline,
    )


def _raised(
    found: Characters, runs: _Runs, baselines: Numbers, sizes: list[float], upright: _Flags
) -> list[int]:
    """Count the last characters of each run that are raised above its baseline; none in rotated text."""
    raised = [0] * len(sizes)
    drawn = found.extents.baseline
    highest = np.minimum.reduceat(drawn, runs.starts)
    for at in np.flatnonzero(upright & (highest < baselines - RAISED * np.array(sizes))):
        run = drawn[runs.starts[at] : runs.ends[at]]
        is_level = run >= baselines[at] - RAISED * sizes[at]
        raised[at] = int(np.argmax(is_level[::-1]))
    return raised


def _legible(found: Characters, runs: _Runs, told: Numbers, upright: _Flags) -> _Flags:
    """Return the legible runs, by the size in the file and by how their letters are drawn.

    Letters of a font that is not there have no height or no width, and fonts that the file draws itself
    (Type 3) any size; marks without a letter say nothing.
    """
    drawn, count = found.extents, runs.ends - runs.starts
    wide = np.add.reduceat(drawn.right - drawn.left, runs.starts) / count
    high = np.maximum.reduceat(drawn.bottom - drawn.top, runs.starts)
    along = np.where(upright, wide, high)
    is_flat = (high < wide / 4) & ((high > _NO_HEIGHT) | (told < _NO_HEIGHT))
    is_small = (told < LEAST_SIZE) & (high < LEAST_SIZE) & ((wide < LEAST_SIZE) | is_flat)
    legible = np.asarray(~is_small & ~((along > 0) & (along < LEAST_WIDTH)))
    for at in np.flatnonzero(~legible).tolist():
        legible[at] = not any(map(str.isalnum, "".join(found.signs[runs.starts[at] : runs.ends[at]])))
    return legible


def _real_sizes(found: Characters, runs: _Runs, letters: Extents, told: Sequence[float]) -> list[float]:
    """Return the heights of the runs' fonts: what the file tells, or, where that cannot be, what letters do.

    Fonts drawn by the file itself (Type 3) have a size in units of their own.
    """
    sizes, size = list(told), np.array(told)
    high, highs = letters.bottom - letters.top, found.extents.bottom - found.extents.top
    for at in np.flatnonzero(~((0.75 * high <= size) & (size <= 4 * high + 4))):
        run = slice(runs.starts[at], runs.ends[at])
        sizes[at] = size_from_letters(found.signs[run], highs[run].tolist())
    return sizes


def _extents(letters: Extents, first: Extents, size: Numbers, upright: _Flags) -> Extents:
    """Return the extents of words from those of their letters, of which `first` are the first.

    Boxes as high as the font, not as the letters, lie evenly along a line. A baseline far from the first
    letter is none: the word's is where it ends.
    """
    baseline = letters.baseline
    top = np.where(upright, np.minimum(letters.top, baseline - 0.72 * size), letters.top)
    bottom = np.where(upright, np.maximum(letters.bottom, baseline + 0.22 * size), letters.bottom)
    is_near = (first.top - size < baseline) & (baseline < first.bottom + size)
    return Extents(letters.left, top, letters.right, bottom, np.where(is_near, baseline, bottom))


def _ends(found: Characters, runs: _Runs) -> tuple[_Flags, _Flags]:
    """Return the runs cut by a hyphen at a line's end, and those that end a line of the file."""
    is_hyphen, is_line_end = (
        np.append(flags, False)[runs.passed] for flags in (found.is_hyphen, found.is_line_end)
    )
    is_cut = runs.is_broken & is_hyphen
    return is_cut, ~runs.is_broken | is_cut | is_line_end


def _draw_hyphens(words: list[Word], found: Characters, runs: _Runs) -> None:
    """Make the words reach to the ends of their hyphens.

    A hyphen that PDFium reads only behind the line break still goes to the word before it.
    """
    for at in np.flatnonzero(found.is_hyphen & found.is_drawn).tolist():
        run = int(np.searchsorted(runs.passed, at, side="right")) - 1
        if run < 0:
            continue
        word, hyphen = words[run], found.extents_of_breaks[at]
        if runs.passed[run] == at:
            is_its = bool(~are_apart(found.extents[runs.ends[run] - 1], hyphen))
        else:
            is_its = bool(
                abs(hyphen.baseline - word.baseline) < 2 and abs(hyphen.left - word.right) < word.size
            )
        if is_its:
            words[run] = word._replace(hyphenated=True, right=max(word.right, float(hyphen.right)))
