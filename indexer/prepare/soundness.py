"""Checks of replies from a process that read a foreign file, before they are stored."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.records import Aspect, Paper, Passage, Reference, passage_id
from corpus.text import storable

_LARGEST_COORDINATE = 1e6


@dataclass(frozen=True, slots=True)
class MostText:
    """The bounds of a document; `passage` is the characters of one passage."""

    passages: int
    sentences: int
    passage: int
    references: int


MOST_IN_A_BOOK = MostText(passages=50_000, sentences=1_000_000, passage=1_000_000, references=50_000)


def is_sound(
    paper: Paper, passages: Sequence[Passage], references: Sequence[Reference], most: MostText
) -> bool:
    """Return True if the passages belong to the paper, in order, and every reference in them resolves."""
    return (
        0 < len(passages) <= most.passages
        and len(references) <= most.references
        and sum(len(passage.sentences) for passage in passages) <= most.sentences
        and bool(paper.title.strip())
        and all(
            _is_of(passage, paper, number) and _is_sound_passage(passage, len(references), most.passage)
            for number, passage in enumerate(passages)
        )
        and len({aspect.name for aspect in paper.aspects}) == len(paper.aspects)
        and all(_is_there(aspect, passages) for aspect in paper.aspects)
        and all(are_sane((topic.score,)) for topic in paper.topics)
        and are_sane((paper.scan_confidence, paper.page_count, paper.scanned_pages))
        and 0 <= paper.hidden_text < 2**31
        and all(0 < page < 2**31 for page in paper.hidden_pages)
    )


def are_sane(numbers: Sequence[float]) -> bool:
    """Return True if numbers are finite and within the range of page coordinates."""
    return all(math.isfinite(number) and abs(number) < _LARGEST_COORDINATE for number in numbers)


def _is_of(passage: Passage, paper: Paper, number: int) -> bool:
    return (
        passage.number == number
        and passage.paper_id == paper.id
        and passage.collection_id == paper.collection_id
        and passage.id == passage_id(paper.id, number)
    )


def _is_there(aspect: Aspect, passages: Sequence[Passage]) -> bool:
    """Return True if the sentence an aspect points to exists."""
    return (
        0 <= aspect.passage < len(passages)
        and 0 <= aspect.sentence < len(passages[aspect.passage].sentences)
        and not aspect.writer
    )


def _is_sound_passage(passage: Passage, references: int, longest: int) -> bool:
    """Return True if sentences tile the text and cite existing references."""
    ends = [0, *(sentence.end for sentence in passage.sentences)]
    cited = [number for sentence in passage.sentences for number in sentence.references]
    return (
        0 < len(passage.text) <= longest
        and storable(passage.text) == passage.text
        and ends[-1] == len(passage.text)
        and all(before < after for before, after in pairwise(ends))
        and [sentence.start for sentence in passage.sentences] == ends[:-1]
        and all(0 <= number < references for number in cited)
        and _is_on_page(passage)
    )


def _is_on_page(passage: Passage) -> bool:
    boxes = [box for sentence in passage.sentences for box in sentence.boxes]
    boxes += [passage.area] if passage.area else []
    return all(box.page >= 1 and are_sane((box.page, box.x, box.y, box.width, box.height)) for box in boxes)
