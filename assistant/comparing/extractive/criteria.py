"""What the votes measure where no model casts them: one criterion each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assistant.attribution import likeness
from assistant.citations import plain_claim
from assistant.comparing.extractive.accounts import split_sentences
from assistant.comparing.extractive.wording import without_stop
from assistant.comparing.protocol import ComparisonStep
from assistant.comparing.records import Candidate, ElementName, KeyElements, Vote
from corpus.sentences import sentence_spans
from corpus.text import words

# "Parsing is studied in [1][2]." and its like repeat nothing.
SHORTEST_COMPARED = 8
REPEATED = 0.6
# What a summary should tell of each paper: what it does, and what came of it.
_TOLD: tuple[tuple[ElementName, ...], ...] = (
    ("contributions", "methodology", "innovations"),
    ("results", "conclusions"),
)
_LABEL = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something measured of a candidate: more is better; `says` puts the figure of the best in words."""

    name: str
    measure: Callable[[ComparisonStep, Candidate], float]
    says: Callable[[ComparisonStep, Candidate], str]


@lru_cache(maxsize=32_768)
def _alike(one: str, other: str) -> float:
    # From one round to the next most sentences stay.
    return likeness(one, other)


def sentences_of(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text) if text[start:end].strip()]


def labels_of(text: str) -> frozenset[int]:
    return frozenset(int(number) for number in _LABEL.findall(text))


def coverage(step: ComparisonStep, candidate: Candidate) -> float:
    """Return how many of the papers so far are cited, and of how many it is told what they do and found.

    A paper that is not cited outweighs all that is told of the others.
    """
    told = sum(_tells(candidate.text, paper, names) for paper, names in _to_tell(step))
    return _cited(step, candidate) + told / (len(step.labels) * len(_TOLD) + 1)


def _cited(step: ComparisonStep, candidate: Candidate) -> int:
    return len(labels_of(candidate.text) & set(step.labels))


def _to_tell(step: ComparisonStep) -> list[tuple[KeyElements, tuple[ElementName, ...]]]:
    """Return what each paper states to what a summary should tell of it."""
    papers = [step.elements[label] for label in step.labels if label in step.elements]
    return [
        (paper, names)
        for paper in papers
        for names in _TOLD
        if any(paper.element(name).text for name in names)
    ]


def _tells(text: str, paper: KeyElements, names: tuple[ElementName, ...]) -> bool:
    """Tell whether a sentence of one of the elements stands in a text, "Later" or not."""
    stated = (one for name in names for one in split_sentences(paper.element(name).text))
    return any(without_stop(one)[1:] in text for one in stated if len(one) > 1)


def comparisons(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return how many sentences relate two or more papers."""
    return sum(len(labels_of(sentence)) > 1 for sentence in sentences_of(candidate.text))


def support(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return the mean of citation precision and recall in tenths: less is no difference to readers."""
    return round(_mean_support(candidate), 1)


def _mean_support(candidate: Candidate) -> float:
    """Return the mean of citation precision and recall, 0 where neither could be counted."""
    found = [one for one in (candidate.citation_precision, candidate.citation_recall) if one is not None]
    return sum(found) / len(found) if found else 0.0


def variety(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return minus how many sentences share most of their words with another."""
    return -float(_repeating(candidate))


def _repeating(candidate: Candidate) -> int:
    claims = [plain_claim(sentence) for sentence in sentences_of(candidate.text)]
    claims = [claim for claim in claims if len(words(claim)) >= SHORTEST_COMPARED]
    return sum(
        any(_alike(one, other) >= REPEATED for other in claims[:at] + claims[at + 1 :])
        for at, one in enumerate(claims)
    )


def _covers(step: ComparisonStep, candidate: Candidate) -> str:
    told = [_tells(candidate.text, paper, names) for paper, names in _to_tell(step)]
    cited = f"cites {_cited(step, candidate)} of the {len(step.labels)} papers compared so far"
    if not told:
        return cited
    return f"{cited} and tells {sum(told)} of the {len(told)} answers to what they do and what they found"


def _relates(step: ComparisonStep, candidate: Candidate) -> str:
    found = int(comparisons(step, candidate))
    return f"relates two or more papers in {found} {'sentence' if found == 1 else 'sentences'}"


def _is_supported(_: ComparisonStep, candidate: Candidate) -> str:
    return f"has citation precision and recall of {_mean_support(candidate):.2f} on average"


def _varies(_: ComparisonStep, candidate: Candidate) -> str:
    found = _repeating(candidate)
    said = f"{found} of its sentences share" if found else "no sentence of it shares"
    return f"repeats itself least: {said} most of its words with another"


CRITERIA = (
    Criterion("coverage", coverage, _covers),
    Criterion("comparisons", comparisons, _relates),
    Criterion("support", support, _is_supported),
    Criterion("redundancy", variety, _varies),
)


def _all_told(step: ComparisonStep, candidate: Candidate) -> tuple[float, ...]:
    return (
        coverage(step, candidate),
        support(step, candidate),
        comparisons(step, candidate),
        variety(step, candidate),
    )


def cast_vote(step: ComparisonStep, candidates: Sequence[Candidate], number: int) -> Vote:
    """Return one criterion's vote; of equals, what loses nothing, then the best all told, then the oldest."""
    criterion = CRITERIA[(number - 1) % len(CRITERIA)]
    measured = {one.number: criterion.measure(step, one) for one in candidates}
    best = max(
        candidates,
        key=lambda one: (measured[one.number], not one.is_marked, _all_told(step, one), -one.number),
    )
    figure = measured[best.number]
    equal = sum(value == figure for value in measured.values()) - 1
    others = f"; so do {equal} others" if equal > 1 else "; so does one other" if equal else ""
    return Vote(
        number=number,
        choice=best.number,
        analysis=f"Candidate {best.number} {criterion.says(step, best)}{others}.",
        criterion=criterion.name,
    )
