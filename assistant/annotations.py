"""Readers' annotations of papers, and the current positions of the marked words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from corpus.records import Passage

LONGEST_NOTE, LONGEST_QUOTE = 10_000, 20_000
MOST_ANNOTATIONS = 1_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A highlight in a paper, with a note or without, or a note on the paper as a whole.

    The highlight is sentences `first` to `last` (from 0, both included) of a passage, with their text at that
    time in `quoted`; a note on the whole paper has none of these. `made` and `changed` are ISO 8601 in UTC.
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
    """Return sentences `first` to `last` of a passage, cut at LONGEST_QUOTE characters."""
    return passage.text[passage.sentences[first].start : passage.sentences[last].end].strip()[:LONGEST_QUOTE]


def place_of(annotation: Annotation, passages: Sequence[Passage]) -> tuple[Marked, ...]:
    """Return the current position of a highlight's words in its paper; () if the paper no longer has them.

    The recorded position is tried first. A later build may have cut and numbered the passages differently:
    then the words are searched for, and may span two passages.
    """
    letters = _letters(annotation.quoted)
    if not letters:
        return ()
    first, last = annotation.first, annotation.last
    for passage in passages:
        is_there = passage.id == annotation.passage_id and 0 <= first <= last < len(passage.sentences)
        if is_there and _letters(quoted_text(passage, first, last)) == letters:
            return (Marked(passage.id, first, last),)
    return find_quoted(annotation.quoted, passages)


def find_quoted(quoted: str, passages: Sequence[Passage]) -> tuple[Marked, ...]:
    """Return the sentences that contain `quoted`, a range for each passage; () if there are none.

    Only letters and digits are compared: spaces and marks depend on where the words were copied from. A match
    of whole words comes before one that cuts a word, which a selection by thumb may do.
    """
    wanted_letters = _letters(quoted)
    if not wanted_letters:
        return ()
    sentences = [
        (passage.id, number, passage.text[sentence.start : sentence.end])
        for passage in passages
        for number, sentence in enumerate(passage.sentences)
    ]
    letters = [_letters(text) for _, _, text in sentences]
    whole, ends = "".join(letters), accumulate(map(len, letters))
    word_sizes = (len(_letters(word)) for _, _, text in sentences for word in _WORD.findall(text))
    word_ends = {0, *accumulate(word_sizes)}
    start = whole.find(wanted_letters)
    while start >= 0 and not {start, start + len(wanted_letters)} <= word_ends:
        start = whole.find(wanted_letters, start + 1)
    start = whole.find(wanted_letters) if start < 0 else start
    if start < 0:
        return ()
    ranges: dict[str, list[int]] = {}
    for (passage_id, number, _), end, held in zip(sentences, ends, letters, strict=True):
        if held and end > start and end - len(held) < start + len(wanted_letters):
            ranges.setdefault(passage_id, []).append(number)
    return tuple(Marked(passage_id, min(numbers), max(numbers)) for passage_id, numbers in ranges.items())


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text)).replace("_", "")


def of_papers(annotations: Iterable[Annotation], paper_ids: Iterable[str]) -> tuple[Annotation, ...]:
    """Return the annotations on the given papers, in the order of the papers."""
    order = {paper: number for number, paper in enumerate(paper_ids)}
    held = [annotation for annotation in annotations if annotation.paper_id in order]
    held.sort(key=lambda annotation: (order[annotation.paper_id], annotation.made))
    return tuple(held[:MOST_ANNOTATIONS])
