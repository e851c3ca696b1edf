"""What a person added to a question, found again in what was said before it: what is learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assistant.learned import CONNECTORS, Said, Word, words_of
from corpus.language import stop_words

MOST_REPLACED = 4
FOUND = 0.6  # of the words that carry meaning, so many have to be found one behind the other
_ARTICLES = frozenset(("the", "a", "an"))
_OWNS = frozenset(("'s", "’s"))


@dataclass(frozen=True, slots=True)
class Gap:
    """A place of a question that leans on what was said.

    Its words `first` to `last` are replaced, or something is put behind `last`; `spans` are the first and the
    last of the words that say it, wherever they stand.
    """

    first: int
    last: int
    is_replaced: bool
    connector: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question, what was said before it, and its gaps."""

    question: str
    said: Said
    gaps: tuple[Gap, ...]


def aligned(question: str, rewrite: str, said: Said) -> Resolved | None:
    """Return the gaps of a question that its rewrite fills; None where what was added was not said before."""
    asked, wanted = words_of(question), words_of(rewrite)
    lower, full = [word.text.lower() for word in asked], [word.text.lower() for word in wanted]
    gaps = []
    for kind, first, last, begin, end in SequenceMatcher(None, lower, full, autojunk=False).get_opcodes():
        if kind in ("equal", "delete"):
            continue
        added, connector = _without_connector(full[begin:end])
        if not any(_is_content(word) for word in added):
            continue
        spans = spans_of(added, said.words)
        if not spans or last - first > MOST_REPLACED or (kind == "insert" and first == 0):
            return None
        is_replaced = kind == "replace"
        place = (first, last - 1) if is_replaced else (first - 1, first - 1)
        gaps.append(Gap(*place, is_replaced, CONNECTORS.index(connector), spans))
    return Resolved(question, said, tuple(gaps))


def _without_connector(added: Sequence[str]) -> tuple[list[str], str]:
    """Split what was added into the words themselves and what joins them to the question."""
    if added and added[-1] in _OWNS:
        return list(added[:-1]), "'s"
    if added and added[0] in CONNECTORS:
        return list(added[1:]), added[0]
    return list(added), ""


def _is_content(word: str) -> bool:
    return word not in stop_words() and word not in _OWNS


def spans_of(added: Sequence[str], said: Sequence[Word]) -> tuple[tuple[int, int], ...]:
    """Return where words stand in what was said: all of them, all but the article, or most of them."""
    lower = [word.text.lower() for word in said]
    bare = list(added[1:]) if added[0] in _ARTICLES else list(added)
    for wanted in (list(added), bare):
        if found := _places(wanted, lower):
            return found
    common = SequenceMatcher(None, bare, lower, autojunk=False).find_longest_match()
    run = bare[common.a : common.a + common.size]
    content = sum(map(_is_content, bare))
    if not run or sum(map(_is_content, run)) < FOUND * content:
        return ()
    return _places(run, lower)


def _places(wanted: Sequence[str], lower: Sequence[str]) -> tuple[tuple[int, int], ...]:
    size = len(wanted)
    if not size:
        return ()
    return tuple(
        (at, at + size - 1)
        for at in range(len(lower) - size + 1)
        if list(lower[at : at + size]) == list(wanted)
    )
