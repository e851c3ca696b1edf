"""Markup in written text: bold words, and marks at the beginning of a line."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.records import Answer, AnswerSentence

STRONG = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*")
_MARKED = re.compile(r"[ \t]*(?P<mark>[-*•]|\d{1,2}[.)]|#{1,6})[ \t]+")


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of an answer: its character offsets without its mark, and the mark."""

    start: int
    end: int
    mark: str = ""

    @property
    def is_item(self) -> bool:
        return bool(self.mark) and not self.mark.startswith("#")

    @property
    def number(self) -> str:
        """The number of an item in an ordered list, else ""."""
        value = self.mark.rstrip(".)")
        return value if value.isdigit() else ""


def lines_with_sentences(answer: Answer) -> Iterator[tuple[AnswerLine, dict[int, AnswerSentence]]]:
    """Yield the lines of an answer, each with the sentences that begin in it by their start."""
    ordered = sorted(answer.sentences, key=lambda sentence: sentence.start)
    starts = [sentence.start for sentence in ordered]
    for line in answer_lines(answer.text):
        first, last = bisect_left(starts, line.start), bisect_left(starts, line.end)
        yield line, {sentence.start: sentence for sentence in ordered[first:last]}


def answer_lines(text: str) -> Iterator[AnswerLine]:
    """Yield the lines of an answer."""
    start = 0
    for line in text.splitlines(keepends=True):
        marked = _MARKED.match(line)
        first = start + (marked.end() if marked else 0)
        yield AnswerLine(first, start + len(line.rstrip()), marked["mark"] if marked else "")
        start += len(line)
