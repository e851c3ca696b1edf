"""Where a paper tells of one of its parts: its problem, its data, its limitations."""

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
# Sections that tell what a whole paper does; every question about one is read with these beside it.
_TELLING = frozenset({"abstract", "introduction", "conclusion", "limitations", "future"})
_MOST_TELLING = 8
# A section of that name tells the part, whatever its sentences say.
_NAMED_FOR = frozenset({"limitations", "future"})
_LATE = frozenset({"conclusion", "discussion", "future", "advice"})


def passages_of_part(paper: Paper, passages: Sequence[Passage], part: AskedPart) -> list[Passage]:
    """Return the passages of a paper in which one of its parts may be told, in reading order.

    At most `MOST_PASSAGES`: those of sections of that name first, then those that say what tells it.
    """
    roles = read_roles(paper, passages)
    telling = [one for one in passages if roles.get(one.number) in _TELLING]
    few = [*telling[: _MOST_TELLING // 2], *telling[-_MOST_TELLING // 2 :]]
    titled = [one for one in passages if roles.get(one.number) in part.cues.roles]
    said = part.cues.said
    saying = sorted(
        (one for one in passages if one.number in roles and said and said.search(one.text)),
        key=lambda one: -len(said.findall(one.text)) if said else 0,
    )
    wanted = dict.fromkeys(one.number for one in (*few, *titled, *saying))
    kept = set(list(wanted)[:MOST_PASSAGES])
    return [one for one in passages if one.number in kept]


def sentences_of_part(
    paper: LabelledPaper, part: AskedPart, encoder: Encoder | None
) -> list[CandidateSentence]:
    """Return the sentences that tell a part of a paper, the surest first; key elements need an encoder.

    What the indexer chose stands first, then what states it as a key element, then sentences that say what
    tells it, those of sections of that name and of the authors' own work first, and last what else stands in
    such sections.
    """
    sentences = list(read_sentences(paper))
    cues = part.cues
    chosen = element_sentences(paper, sentences, encoder) if cues.elements and encoder else {}
    titled = [one for one in sentences if one.role in cues.roles]
    saying = [one for one in sentences if not one.is_foreign and one.role != "related" and _tells(one, part)]
    surest_first = [
        *(one for name in cues.aspects for one in _of_aspect(paper, name, sentences)),
        *(one for name in cues.elements for one in chosen.get(name, ())),
        *(one for one in saying if one.role in cues.roles),
        *(one for one in saying if one.is_own),
        *saying,
        *(one for one in titled if one.role in _NAMED_FOR and not saying),
    ]
    against = cues.against
    return [one for one in dict.fromkeys(surest_first) if not (against and against.search(one.text))]


def _tells(sentence: CandidateSentence, part: AskedPart) -> bool:
    """Return True if a sentence says what tells a part."""
    cues, late = part.cues, part.cues.said_late if sentence.role in _LATE else None
    return any(said.search(sentence.text) for said in (cues.said, late) if said)


def _of_aspect(
    paper: LabelledPaper, name: str, sentences: Sequence[CandidateSentence]
) -> Iterator[CandidateSentence]:
    """Yield the sentence that the indexer chose as an aspect, behind the one it leans on if it does."""
    for aspect in (one for one in paper.paper.aspects if one.name == name):
        places = {(one.passage, one.sentence): one for one in sentences}
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
    """Return an aspect's sentence that reads badly alone, as far as it stands in the evidence."""
    passage = next((one for one in paper.passages if one.number == aspect.passage), None)
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
