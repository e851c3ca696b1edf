"""Citations put into an answer: each sentence gets the labels of what carries it (TruthReader, Algorithm 1).

The paper scores every sentence against every passage; that further passages are taken as long as they carry
more of it, one after the other, is our reading.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.checking import score_attribution
from assistant.records import Evidence
from corpus.records import Passage
from training.truthreader.records import CitedSentence

CARRIED = 0.5
"""From this ROUGE-1 precision on a sentence is carried by the passages it is given the labels of."""
GAIN = 0.15
"""A further passage is cited where it adds so much to it."""
MOST_LABELS = 3
_STOPS = ".!?"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a sentence may be carried by, with the label of its paper.

    `is_source`: the answer was written from it, so that another must carry a sentence clearly better.
    """

    label: int
    text: str
    is_source: bool = False


def candidates(evidence: Evidence, shown: Sequence[Passage]) -> tuple[Candidate, ...]:
    """Return every passage of the evidence, with those that an answer was written from marked."""
    sources = {passage.id for passage in shown}
    return tuple(
        Candidate(paper.label, f"{paper.paper.title}. {passage.text}", passage.id in sources)
        for paper in evidence.papers
        for passage in paper.passages
    )


def attribute(sentence: str, given: Sequence[Candidate]) -> tuple[int, ...]:
    """Return the labels of what carries a sentence in ascending order, none where nothing does."""
    chosen: list[Candidate] = []
    score = 0.0
    while len(chosen) < MOST_LABELS and (rest := [one for one in given if one not in chosen]):
        gains = [_together(sentence, [*chosen, one]) - score for one in rest]
        best = max(range(len(rest)), key=lambda place: gains[place] + GAIN * rest[place].is_source)
        if chosen and gains[best] < GAIN:
            break
        chosen.append(rest[best])
        score += gains[best]
    return tuple(sorted({one.label for one in chosen})) if score >= CARRIED else ()


def cite(sentences: Sequence[str], given: Sequence[Candidate]) -> tuple[CitedSentence, ...]:
    """Return the sentences with their labels; those that nothing carries have none."""
    return tuple(CitedSentence(sentence, attribute(sentence, given)) for sentence in sentences)


def with_labels(sentence: CitedSentence) -> str:
    """Return a sentence as it is written: its labels before the full stop, as the prompt asks."""
    labels = "".join(f"[{label}]" for label in sentence.labels)
    if not labels:
        return sentence.text
    bare = sentence.text.rstrip()
    stop = bare[-1] if bare.endswith(tuple(_STOPS)) else "."
    return f"{bare.rstrip(_STOPS)} {labels}{stop}"


def written(sentences: Collection[CitedSentence]) -> str:
    """Return an answer as text."""
    return " ".join(map(with_labels, sentences))


def _together(sentence: str, chosen: Sequence[Candidate]) -> float:
    return score_attribution(sentence, "\n".join(one.text for one in chosen))
