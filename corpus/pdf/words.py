"""The words of a page: its characters joined, with their boxes and styles."""

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

# In font heights; typesetters raise marks by a third of it.
RAISED = 0.2
_LOWERED = 0.08
_LEAST_SHIFT = 0.5  # points
_FULL_SIZE = 0.9  # of the largest characters of a word
# Raised parts of figures and formulas: "6", "-3", "n", "i+1", "th".
_FIGURE = r"[A-Za-z0-9\u0370-\u03ff\U0001d400-\U0001d7ff]{1,6}"
_FIGURES = re.compile(rf"[+\-−–]?{_FIGURE}(?:[+\-−–=*/.,()∗]{_FIGURE}){{0,3}}[+\-−–]?|[+\-−–]")
LEAST_SIZE, LEAST_WIDTH = 2.0, 0.2
"""The smallest font size that is read, and the least mean width of its letters, in points."""
_NO_HEIGHT = 0.01

_Flags = NDArray[np.bool_]


class Word(NamedTuple):
    """Characters without white space between them, with their position and style.

    Coordinates are points from the top left of the page as shown, like those of `Box`. `size` is the height
    of the font. `hyphenated` marks a word that is divided at a line end; its hyphen is not in the text.
    `ends_line` is True if the file breaks the line after it. Turned text runs downwards (`turn` 1), to the
    left upside down (2) or upwards (3). The last `raised` characters are above the baseline, such as the
    mark of a footnote. `marked` is the text with superscript and subscript numbers ("10⁶"), "" without any.
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


def words_of(text: object, characters: Characters, transform: Transform) -> list[Word]:
    """Return the words of the characters of a PDFium text page; `transform` maps to the page as shown."""
    if not characters.signs:
        return []
    runs = _runs(characters)
    styles = styles_of(text, characters.places[runs.starts].tolist(), transform)
    upright = styles.turns == 0
    shifted = _shifted(text, characters, runs, transform, upright)
    letters = _extents_of_letters(characters, runs, shifted)
    sizes = _real_sizes(characters, runs, letters, styles.sizes)
    extents = _extents(letters, characters.extents[runs.starts], np.array(sizes), upright)
    columns = (
        [compose("".join(characters.signs[start:end])) for start, end in runs.spans()],
        *(array.tolist() for array in extents.arrays),
        sizes,
        *zip(*styles.fonts, strict=True),
        *(column.tolist() for column in (*_ends(characters, runs), styles.turns)),
        _raised(characters, runs, letters.baseline, sizes, upright),
        _legible(characters, runs, np.array(styles.sizes), upright).tolist(),
        _marked(characters, runs, letters.baseline, shifted),
    )
    words = list(map(Word._make, zip(*columns, strict=True)))
    _draw_hyphens(words, characters, runs)
    return words


class _Runs(NamedTuple):
    """Runs of adjacent characters, each a word, in arrays.

    `starts` and `ends` are indices of drawn characters; `passed` is the number of the page's breaks before
    each run. A run that `is_broken` ends at the break of that number, another where the next is apart.
    """

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    passed: NDArray[np.intp]
    is_broken: _Flags

    def spans(self) -> Iterable[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)


def _runs(characters: Characters) -> _Runs:
    before = np.searchsorted(characters.breaks, characters.places)
    apart = are_apart(characters.extents[:-1], characters.extents[1:])
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(before) > 0) | apart)))
    passed = before[starts]
    ends = np.append(starts[1:], len(characters.places))
    return _Runs(starts, ends, passed, np.diff(passed, append=len(characters.breaks)) > 0)


def _shifted(
    text: object, characters: Characters, runs: _Runs, transform: Transform, upright: _Flags
) -> dict[int, Numbers]:
    """Return the font sizes of the characters of each run with raised or lowered characters, by run."""
    drawn = characters.extents.baseline
    spread = np.maximum.reduceat(drawn, runs.starts) - np.minimum.reduceat(drawn, runs.starts)
    shifted = np.flatnonzero(upright & (spread > _LEAST_SHIFT)).tolist()
    if not shifted:
        return {}
    places = [characters.places[runs.starts[run] : runs.ends[run]] for run in shifted]
    sizes = np.array(styles_of(text, np.concatenate(places).tolist(), transform).sizes)
    ends = np.cumsum([len(of_run) for of_run in places])[:-1]
    return dict(zip(shifted, np.split(sizes, ends), strict=True))


def _marked(
    characters: Characters, runs: _Runs, baselines: Numbers, shifted: dict[int, Numbers]
) -> list[str]:
    """Return the text of each run with superscript and subscript numbers, "" if it has none."""
    marked = [""] * len(baselines)
    for number, sizes in shifted.items():
        run = slice(runs.starts[number], runs.ends[number])
        rises = (baselines[number] - characters.extents.baseline[run]) / max(LEAST_SIZE, float(sizes.max()))
        text = _with_marks(characters.signs[run], rises)
        marked[number] = text if text != compose("".join(characters.signs[run])) else ""
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
    """Return a part of a word as superscript or subscript; as subscript only next to other digits."""
    if level > 0 and before and after not in ("/", "⁄"):
        return raised_figures(part)
    if level < 0 and part.isdecimal() and (before.isdecimal() or after.isdecimal()):
        return lower_text(part)
    return part


def raised_figures(text: str) -> str:
    """Return raised numbers and letters of formulas as superscripts, anything else unchanged."""
    if not _FIGURES.fullmatch(text):
        return text
    return f"^{text}" if text in ("r", "R") else raise_text(text)


def _extents_of_letters(characters: Characters, runs: _Runs, shifted: dict[int, Numbers]) -> Extents:
    """Return the extents of each run; its baseline is the median of its largest characters' baselines."""
    drawn, starts = characters.extents, runs.starts
    baseline, highest = (reduce.reduceat(drawn.baseline, starts) for reduce in (np.minimum, np.maximum))
    for run in np.flatnonzero(baseline != highest):
        baselines = drawn.baseline[starts[run] : runs.ends[run]]
        if (sizes := shifted.get(int(run))) is not None:
            baselines = baselines[sizes > _FULL_SIZE * sizes.max()]
        baselines = np.sort(baselines)
        baseline[run] = baselines[len(baselines) // 2]
    return Extents(
        np.minimum.reduceat(drawn.left, starts),
        np.minimum.reduceat(drawn.top, starts),
        np.maximum.reduceat(drawn.right, starts),
        np.maximum.reduceat(drawn.bottom, starts),
        baseline,
    )


def _raised(
    characters: Characters, runs: _Runs, baselines: Numbers, sizes: list[float], upright: _Flags
) -> list[int]:
    """Count the last characters of each run that are above its baseline, 0 in rotated text."""
    raised = [0] * len(sizes)
    drawn = characters.extents.baseline
    highest = np.minimum.reduceat(drawn, runs.starts)
    for number in np.flatnonzero(upright & (highest < baselines - RAISED * np.array(sizes))):
        run = drawn[runs.starts[number] : runs.ends[number]]
        is_level = run >= baselines[number] - RAISED * sizes[number]
        raised[number] = int(np.argmax(is_level[::-1]))
    return raised


def _legible(characters: Characters, runs: _Runs, font_sizes: Numbers, upright: _Flags) -> _Flags:
    """Flag the legible runs, by their size in the file and the extents of their letters.

    Letters of a missing font have no height or no width, and fonts drawn by the file (Type 3) have any size;
    runs without a letter count as legible.
    """
    drawn, count = characters.extents, runs.ends - runs.starts
    wide = np.add.reduceat(drawn.right - drawn.left, runs.starts) / count
    high = np.maximum.reduceat(drawn.bottom - drawn.top, runs.starts)
    along = np.where(upright, wide, high)
    is_flat = (high < wide / 4) & ((high > _NO_HEIGHT) | (font_sizes < _NO_HEIGHT))
    is_small = (font_sizes < LEAST_SIZE) & (high < LEAST_SIZE) & ((wide < LEAST_SIZE) | is_flat)
    legible = np.asarray(~is_small & ~((along > 0) & (along < LEAST_WIDTH)))
    for run in np.flatnonzero(~legible).tolist():
        legible[run] = not any(map(str.isalnum, "".join(characters.signs[runs.starts[run] : runs.ends[run]])))
    return legible


def _real_sizes(
    characters: Characters, runs: _Runs, letters: Extents, font_sizes: Sequence[float]
) -> list[float]:
    """Return the font sizes of the runs from the file, or if these are impossible from the letters' heights.

    Fonts drawn by the file (Type 3) have sizes in units of their own.
    """
    sizes, size = list(font_sizes), np.array(font_sizes)
    high, highs = letters.bottom - letters.top, characters.extents.bottom - characters.extents.top
    for number in np.flatnonzero(~((0.75 * high <= size) & (size <= 4 * high + 4))):
        run = slice(runs.starts[number], runs.ends[number])
        sizes[number] = size_from_letters(characters.signs[run], highs[run].tolist())
    return sizes


def _extents(letters: Extents, first: Extents, size: Numbers, upright: _Flags) -> Extents:
    """Return the extents of words from those of all their letters and of the `first` ones.

    Boxes are as high as the font, so that they are even along a line. A baseline far from the first letter is
    invalid: the bottom of the word is used.
    """
    baseline = letters.baseline
    top = np.where(upright, np.minimum(letters.top, baseline - 0.72 * size), letters.top)
    bottom = np.where(upright, np.maximum(letters.bottom, baseline + 0.22 * size), letters.bottom)
    is_near = (first.top - size < baseline) & (baseline < first.bottom + size)
    return Extents(letters.left, top, letters.right, bottom, np.where(is_near, baseline, bottom))


def _ends(characters: Characters, runs: _Runs) -> tuple[_Flags, _Flags]:
    """Flag the runs divided by a hyphen at a line end, and those that end a line of the file."""
    is_hyphen, is_line_end = (
        np.append(flags, False)[runs.passed] for flags in (characters.is_hyphen, characters.is_line_end)
    )
    is_cut = runs.is_broken & is_hyphen
    return is_cut, ~runs.is_broken | is_cut | is_line_end


def _draw_hyphens(words: list[Word], characters: Characters, runs: _Runs) -> None:
    """Extend the boxes of words to the ends of their hyphens.

    A hyphen that PDFium reports after the line break belongs to the word before it.
    """
    for place in np.flatnonzero(characters.is_hyphen & characters.is_drawn).tolist():
        run = int(np.searchsorted(runs.passed, place, side="right")) - 1
        if run < 0:
            continue
        word, hyphen = words[run], characters.extents_of_breaks[place]
        if runs.passed[run] == place:
            is_its = bool(~are_apart(characters.extents[runs.ends[run] - 1], hyphen))
        else:
            is_its = bool(
                abs(hyphen.baseline - word.baseline) < 2 and abs(hyphen.left - word.right) < word.size
            )
        if is_its:
            words[run] = word._replace(hyphenated=True, right=max(word.right, float(hyphen.right)))
