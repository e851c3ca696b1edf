"""Lines of running text and their typography."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus.pdf.words import Word
from indexer.parsers.pdf.fragments import LABEL

_RIGHT_TO_LEFT = ("R", "AL")
_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


@dataclass(frozen=True, slots=True)
class Line:
    """Words on one line of one column, in reading order; lengths in points from the top left of the page.

    `column` numbers the columns of the document in reading order; text across the page has its own number.
    `column_left` and `column_right` are the column's edges, and `fills` means that the line reaches both.
    `font` is that of all words, "" if they differ; `cells` is the number of parts between wide gaps, as in
    the rows of tables. For `right_to_left` lines, `begin` and `end` are negative coordinates from the right.
    """

    page: int
    column: int
    column_left: float
    column_right: float
    words: tuple[Word, ...]
    text: str
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float
    font: str
    bold: bool
    fills: bool
    cells: int
    right_to_left: bool = False

    @classmethod
    def of(
        cls, words: Sequence[Word], page: int, column: int, column_left: float, column_right: float
    ) -> "Line":
        """Make a line of words ordered from left to right."""
        texts, lefts, tops, rights, bottoms, baselines, sizes, fonts, bold, *_ = zip(*words, strict=True)
        text = " ".join(texts) + ("-" if words[-1].hyphenated else "")
        right_to_left = False
        if _LETTER.search(text):
            right_to_left = runs_right_to_left(words)
            words = _reading_order(words, right_to_left=right_to_left)
            text = " ".join([word.text for word in words])
        weights = list(map(len, texts))
        left, right, size = lefts[0], max(rights), _weighted_median(sizes, weights)
        slack = 0.04 * (column_right - column_left)
        fills = left < column_left + 3 * slack and right > column_right - slack
        gaps = [after - before for before, after in zip(rights, lefts[1:], strict=False)]
        return cls(
            page,
            column,
            column_left,
            column_right,
            tuple(words),
            text,
            left,
            min(tops),
            right,
            max(bottoms),
            _weighted_median(baselines, weights),
            size,
            _common_font(text, fonts, texts),
            bold[-1]
            and sum(weight for weight, is_bold in zip(weights, bold, strict=True) if is_bold)
            > 0.8 * sum(weights),
            fills,
            _cells(gaps, texts[0], size, fills=fills),
            right_to_left,
        )

    @property
    def begin(self) -> float:
        return -self.right if self.right_to_left else self.left

    @property
    def end(self) -> float:
        return -self.left if self.right_to_left else self.right

    @property
    def column_end(self) -> float:
        return -self.column_left if self.right_to_left else self.column_right

    @property
    def italic(self) -> bool:
        return all(word.italic for word in self.words if sum(map(str.isalpha, word.text)) > 1)


def _weighted_median(values: Sequence[float], weights: Sequence[int]) -> float:
    if min(values) == max(values):
        return values[0]
    half = sum(weights) / 2
    pairs = sorted(zip(values, weights, strict=True))
    for value, weight in pairs:
        half -= weight
        if half <= 0:
            return value
    return pairs[-1][0]


def _common_font(line: str, fonts: Sequence[str], texts: Sequence[str]) -> str:
    """Return the font of all words with letters, "" if they differ."""
    if len(set(fonts)) == 1:
        return fonts[0] if any(map(str.isalpha, line)) else ""
    of_letters = {font for font, text in zip(fonts, texts, strict=True) if any(map(str.isalpha, text))}
    return of_letters.pop() if len(of_letters) == 1 else ""


def _cells(gaps: list[float], first: str, size: float, *, fills: bool) -> int:
    if not gaps or max(gaps) <= 1.4 * size:
        return 1
    # Justified lines with few words also have wide gaps, but equal ones.
    if LABEL.fullmatch(first) or first.isdecimal():
        gaps = gaps[1:]
    justified = len(gaps) > 1 and fills and max(gaps) < 2 * min(gaps) + 0.5 * size
    return 1 + sum(gap > (5 if justified else 1.4) * size for gap in gaps)


def runs_right_to_left(words: Sequence[Word]) -> bool:
    """Return True if most letters are of right-to-left scripts."""
    if not _LETTER.search(" ".join([word.text for word in words])):
        return False
    classes = [unicodedata.bidirectional(sign) for word in words for sign in word.text]
    return sum(map(classes.count, _RIGHT_TO_LEFT)) > classes.count("L")


def _reading_order(words: Sequence[Word], *, right_to_left: bool) -> list[Word]:
    """Return the words of a line, ordered from left to right, in reading order.

    Words of the opposite direction keep their order; numbers go with the words around them.
    """
    runs = []
    for against, run in groupby(_runs_against(words, right_to_left=right_to_left), key=lambda pair: pair[0]):
        members = [word for _, word in run]
        runs.append(members if against == right_to_left else members[::-1])
    ordered = runs[::-1] if right_to_left else runs
    return [word for run in ordered for word in run]


def _runs_against(words: Sequence[Word], *, right_to_left: bool) -> list[tuple[bool, Word]]:
    """Return each word with whether its direction is opposite to the line's."""
    directions = [_direction(word.text) for word in words]
    directed = [index for index, direction in enumerate(directions) if direction is not None]
    result = []
    for place, word in enumerate(words):
        before = next((directions[index] for index in reversed(directed) if index <= place), None)
        after = next((directions[index] for index in directed if index >= place), None)
        against = before is not None and before == after and before != right_to_left
        result.append((against, word))
    return result


def _direction(text: str) -> bool | None:
    """Return True for a right-to-left word, False for left-to-right, None for numbers."""
    for sign in text:
        direction = unicodedata.bidirectional(sign)
        if direction in _RIGHT_TO_LEFT or direction == "L":
            return direction != "L"
    return None
