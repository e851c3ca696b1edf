"""Passages and sentences of a paper on one of its parts: its problem, its data, its limitations."""

from collections.abc import Iterator, Sequence

from assistant.questions.parts import AskedPart
from assistant.reading.finding import (
    CandidateSentence,
    element_sentences,
    is_own,
    read_roles,
    read_sentences,
)
from assistant.reading.standing_alone import leans, points_away
from assistant.reading.telling import plain
from assistant.records import LabelledPaper
from corpus.encoders.base import Encoder
from corpus.records import Aspect, Paper, Passage

MOST_PASSAGES = 40
# Sections on the paper as a whole, read for every part.
_TELLING = frozenset({"abstract", "introduction", "conclusion", "limitations", "future"})
_MOST_TELLING = 8
# All sentences of a section with such a heading are on the part.
_NAMED_FOR = frozenset({"limitations", "future"})
_LATE = frozenset({"conclusion", "discussion", "future", "advice"})


def passages_of_part(paper: Paper, passages: Sequence[Passage], part: AskedPart) -> list[Passage]:
    """Return at most MOST_PASSAGES passages of a paper that may be on a part of it, in reading order.

    Passages of summarising sections come first, then those of sections on the part, then those with its cues.
    """
    roles = read_roles(paper, passages)
    telling = [passage for passage in passages if roles.get(passage.number) in _TELLING]
    summarizing = [*telling[: _MOST_TELLING // 2], *telling[-_MOST_TELLING // 2 :]]
    titled = [passage for passage in passages if roles.get(passage.number) in part.cues.roles]
    cues = part.cues.said
    saying = sorted(
        (passage for passage in passages if passage.number in roles and cues and cues.search(passage.text)),
        key=lambda passage: -len(cues.findall(passage.text)) if cues else 0,
    )
    numbers = dict.fromkeys(passage.number for passage in (*summarizing, *titled, *saying))
    kept = set(list(numbers)[:MOST_PASSAGES])
    return [passage for passage in passages if passage.number in kept]


def sentences_of_part(
    paper: LabelledPaper, part: AskedPart, encoder: Encoder | None
) -> list[CandidateSentence]:
    """Return the sentences on a part of a paper, the surest first; key elements need an encoder.

    First come the indexer's aspects, then key elements, then sentences with cues of the part (those in
    sections on it first, then those on the authors' own work), and last other sentences of such sections.
    """
    sentences = list(read_sentences(paper))
    cues = part.cues
    chosen = element_sentences(paper, sentences, encoder) if cues.elements and encoder else {}
    titled = [sentence for sentence in sentences if sentence.role in cues.roles]
    saying = [
        sentence
        for sentence in sentences
        if not sentence.is_foreign and sentence.role != "related" and _tells(sentence, part)
    ]
    surest_first = [
        *(sentence for name in cues.aspects for sentence in _of_aspect(paper, name, sentences)),
        *(sentence for name in cues.elements for sentence in chosen.get(name, ())),
        *(sentence for sentence in saying if sentence.role in cues.roles),
        *(sentence for sentence in saying if sentence.is_own),
        *saying,
        *(sentence for sentence in titled if sentence.role in _NAMED_FOR and not saying),
    ]
    against = cues.against
    return [
        sentence
        for sentence in dict.fromkeys(surest_first)
        if not (against and against.search(sentence.text))
    ]


def _tells(sentence: CandidateSentence, part: AskedPart) -> bool:
    """Return True if a sentence has a cue of the part."""
    cues, late = part.cues, part.cues.said_late if sentence.role in _LATE else None
    return any(pattern.search(sentence.text) for pattern in (cues.said, late) if pattern)


def _of_aspect(
    paper: LabelledPaper, name: str, sentences: Sequence[CandidateSentence]
) -> Iterator[CandidateSentence]:
    """Yield the sentence that the indexer chose as an aspect, after the one before it if it needs that."""
    for aspect in (entry for entry in paper.paper.aspects if entry.name == name):
        places = {(entry.passage, entry.sentence): entry for entry in sentences}
        if listed := places.get((aspect.passage, aspect.sentence)):
            yield listed
        elif whole := _whole(paper, aspect):
            before = places.get((aspect.passage, aspect.sentence - 1))
            if leans(whole.text) or points_away(whole.text):
                if before is None:
                    continue
                yield before
            yield whole


def _whole(paper: LabelledPaper, aspect: Aspect) -> CandidateSentence | None:
    """Return an aspect's sentence that cannot stand alone, None if the evidence does not have it."""
    passage = next((candidate for candidate in paper.passages if candidate.number == aspect.passage), None)
    if passage is None or aspect.sentence >= len(passage.sentences):
        return None
    text = plain(passage.sentence_text(aspect.sentence))
    if not text:
        return None
    return CandidateSentence(
        passage.number,
        aspect.sentence,
        "abstract",
        text,
        is_own=is_own(text),
        is_foreign=False,
        is_before=False,
        is_after=False,
        lead="",
    )
