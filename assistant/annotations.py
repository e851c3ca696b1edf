"""Readers' annotations of papers, and the current positions of the marked words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from corpus.records import Passage

LONGEST_NOTE, LONGEST_QUOTE = 10_000, 20_000
# Of one conversation's papers; more come from no reader.
MOST_ANNOTATIONS = 1_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A highlight in a paper, with a note or without, or a note on the paper as a whole.

    The highlight is sentences `first` to `last` (from 0, both included) of a passage, which said `quoted`
    then; a note on the whole paper has none of these. `paper_title` is what the paper was called. `made` and
    `changed` are ISO 8601 in UTC.
    """

    id: str
    paper_id: str
    paper_title: str
    passage_id: str = ""
    first: int = 0
    last: int = 0
    quoted: str = ""
    note: str = ""
    made: str = ""
    changed: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """Sentences of a passage, from `first` to `last` (both included)."""

    passage_id: str
    first: int
    last: int

    def __contains__(self, sentence: int) -> bool:
        return self.first <= sentence <= self.last


def quoted_text(passage: Passage, first: int, last: int) -> str:
    """Return sentences of a passage as a highlight quotes them."""
    return passage.text[passage.sentences[first].start : passage.sentences[last].end].strip()[:LONGEST_QUOTE]


def place_of(annotation: Annotation, passages: Sequence[Passage]) -> tuple[Marked, ...]:
    """Return where the words of a highlight stand in its paper as it is now; nowhere where they do not.

    Its own place comes first. A later build may have numbered and cut the passages anew: then the words are
    looked for, and may lie in two passages.
    """
    wanted = _letters(annotation.quoted)
    if not wanted:
        return ()
    first, last = annotation.first, annotation.last
    own = next((one for one in passages if one.id == annotation.passage_id), None)
    is_there = own is not None and 0 <= first <= last < len(own.sentences)
    if own and is_there and _letters(quoted_text(own, first, last)) == wanted:
        return (Marked(own.id, first, last),)
    return find_quoted(annotation.quoted, passages)


def find_quoted(quoted: str, passages: Sequence[Passage]) -> tuple[Marked, ...]:
    """Return the sentences that words lie in, by their letters and digits alone; none where they are not.

    What stands between two letters depends on where the words were copied from. Whole words come first.
    """
    wanted = _letters(quoted)
    if not wanted:
        return ()
    places = tuple(_sentences(passages))
    letters = [_letters(passage.text[start:end]) for passage, _, start, end in places]
    whole, ends = "".join(letters), tuple(accumulate(map(len, letters)))
    words = {0, *_ends_of_words(passages)}
    start = whole.find(wanted)
    while start >= 0 and not {start, start + len(wanted)} <= words:
        start = whole.find(wanted, start + 1)
    # A thumb does not always take a word to its end.
    start = whole.find(wanted) if start < 0 else start
    if start < 0:
        return ()
    touched = (
        (passage, number)
        for (passage, number, _, _), end, held in zip(places, ends, letters, strict=True)
        if held and end > start and end - len(held) < start + len(wanted)
    )
    return _joined(touched)


def _sentences(passages: Sequence[Passage]) -> Iterator[tuple[Passage, int, int, int]]:
    for passage in passages:
        for number, one in enumerate(passage.sentences):
            yield passage, number, one.start, one.end


def _ends_of_words(passages: Sequence[Passage]) -> Iterator[int]:
    """Yield where words begin and end, counted in letters over all sentences."""
    sizes = (
        len(word[0].replace("_", ""))
        for passage, _, start, end in _sentences(passages)
        for word in _WORD.finditer(passage.text[start:end])
    )
    return accumulate(sizes)


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text)).replace("_", "")


def _joined(touched: Iterable[tuple[Passage, int]]) -> tuple[Marked, ...]:
    """Return sentences that follow each other as one place for each passage."""
    places: dict[str, list[int]] = {}
    for passage, number in touched:
        places.setdefault(passage.id, []).append(number)
    return tuple(Marked(name, min(numbers), max(numbers)) for name, numbers in places.items())


def of_papers(annotations: Iterable[Annotation], paper_ids: Iterable[str]) -> tuple[Annotation, ...]:
    """Return the annotations on the given papers, in the order of the papers."""
    wanted = {paper: number for number, paper in enumerate(paper_ids)}
    held = [one for one in annotations if one.paper_id in wanted]
    return tuple(sorted(held, key=lambda one: (wanted[one.paper_id], one.made)))[:MOST_ANNOTATIONS]
