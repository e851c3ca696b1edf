"""Words in reading order where a line holds text from right to left."""

import unicodedata
from collections.abc import Sequence
from itertools import groupby

from corpus.pdf import Word

_RIGHT_TO_LEFT = ("R", "AL")
_FIRST_LETTER = "\u0590"  # of those from right to left


def runs_right_to_left(words: Sequence[Word]) -> bool:
    """Return True if more letters of words run from right to left than from left to right."""
    if all(max(word.text) < _FIRST_LETTER for word in words):
        return False
    classes = [unicodedata.bidirectional(sign) for word in words for sign in word.text]
    return sum(map(classes.count, _RIGHT_TO_LEFT)) > classes.count("L")


def reading_order(words: Sequence[Word], *, right_to_left: bool) -> list[Word]:
    """Return the words of a line, given from left to right, as they are read.

    Words of the other direction keep their own order among themselves; figures go with the words around them.
    """
    if all(max(word.text) < _FIRST_LETTER for word in words):
        return list(words)
    runs = []
    for against, run in groupby(_runs_against(words, right_to_left=right_to_left), key=lambda pair: pair[0]):
        members = [word for _, word in run]
        runs.append(members if against == right_to_left else members[::-1])
    ordered = runs[::-1] if right_to_left else runs
    return [word for run in ordered for word in run]


def _runs_against(words: Sequence[Word], *, right_to_left: bool) -> list[tuple[bool, Word]]:
    """Return each word with whether it runs against the line."""
    directions = [_direction(word.text) for word in words]
    known = [place for place, direction in enumerate(directions) if direction is not None]
    result = []
    for place, word in enumerate(words):
        before = next((directions[at] for at in reversed(known) if at <= place), None)
        after = next((directions[at] for at in known if at >= place), None)
        against = before is not None and before == after and before != right_to_left
        result.append((against, word))
    return result


def _direction(text: str) -> bool | None:
    """Return True for a word from right to left, False for one from left to right, None for figures."""
    for sign in text:
        direction = unicodedata.bidirectional(sign)
        if direction in _RIGHT_TO_LEFT or direction == "L":
            return direction != "L"
    return None
