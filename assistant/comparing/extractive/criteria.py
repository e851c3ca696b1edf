"""What the votes measure where no model casts them: one criterion each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assistant.attribution import likeness
from assistant.citations import plain_claim
from assistant.comparing.protocol import ComparisonStep
from assistant.comparing.records import Candidate, Vote
from corpus.sentences import sentence_spans
from corpus.text import words

# "Parsing is studied in [1][2]." and its like repeat nothing.
SHORTEST_COMPARED = 8
_LABEL = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something measured of a candidate: more is better; `says` puts the figure of the best in words."""

    name: str
    measure: Callable[[ComparisonStep, Candidate], float]
    says: Callable[[ComparisonStep, float], str]


@lru_cache(maxsize=32_768)
def _alike(one: str, other: str) -> float:
    # From one round to the next most sentences stay.
    return likeness(one, other)


def sentences_of(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text) if text[start:end].strip()]


def labels_of(text: str) -> frozenset[int]:
    return frozenset(int(number) for number in _LABEL.findall(text))


def coverage(step: ComparisonStep, candidate: Candidate) -> float:
    """Return how many of the papers so far are cited."""
    return len(labels_of(candidate.text) & set(step.labels))


def comparisons(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return how many sentences relate two or more papers."""
    return sum(len(labels_of(sentence)) > 1 for sentence in sentences_of(candidate.text))


def support(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return the mean of citation precision and recall, 0 where neither could be counted."""
    found = [one for one in (candidate.citation_precision, candidate.citation_recall) if one is not None]
    return round(sum(found) / len(found), 4) if found else 0.0


def variety(step: ComparisonStep, candidate: Candidate) -> float:  # noqa: ARG001
    """Return one minus how like, in words, a sentence is to the one most like it, on average."""
    claims = [plain_claim(sentence) for sentence in sentences_of(candidate.text)]
    claims = [claim for claim in claims if len(words(claim)) >= SHORTEST_COMPARED]
    if len(claims) < 2:
        return 1.0
    nearest = [max(_alike(one, other) for other in claims if other is not one) for one in claims]
    return round(1 - sum(nearest) / len(nearest), 4)


def _covers(step: ComparisonStep, best: float) -> str:
    return f"cites {best:.0f} of the {len(step.labels)} papers compared so far"


def _relates(_: ComparisonStep, best: float) -> str:
    return f"relates two or more papers in {best:.0f} {'sentence' if best == 1 else 'sentences'}"


def _is_supported(_: ComparisonStep, best: float) -> str:
    return f"has citation precision and recall of {best:.2f} on average"


def _varies(_: ComparisonStep, best: float) -> str:
    return f"repeats itself least: a sentence shares {1 - best:.0%} of its words with the one most like it"


CRITERIA = (
    Criterion("coverage", coverage, _covers),
    Criterion("comparisons", comparisons, _relates),
    Criterion("support", support, _is_supported),
    Criterion("redundancy", variety, _varies),
)


def _all_told(step: ComparisonStep, candidate: Candidate) -> tuple[float, float, float]:
    return support(step, candidate), comparisons(step, candidate), variety(step, candidate)


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
        analysis=f"Candidate {best.number} {criterion.says(step, figure)}{others}.",
        criterion=criterion.name,
    )
