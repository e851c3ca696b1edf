"""The registry of the scores of an answer: each is a field of `Answer` under its name here."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.checking.scores.citing import CITATION_PRECISION, CITATION_RECALL
from assistant.checking.scores.relevance import RELEVANCE, Answering
from assistant.checking.scores.score import Basis, Score
from assistant.checking.support import Weighed
from assistant.records import Answer

# Of an answer to a question.
ANSWERING_SCORES: dict[str, Score[Answering]] = {"relevance": RELEVANCE}
# Of the citations of any checked text.
CITING_SCORES: dict[str, Score[Weighed]] = {
    "citation_recall": CITATION_RECALL,
    "citation_precision": CITATION_PRECISION,
}
# In the order in which readers are told of them.
SCORES: dict[str, Score[Any]] = {**ANSWERING_SCORES, **CITING_SCORES}


def measure_scores(scores: Mapping[str, Score[Basis]], basis: Basis) -> dict[str, Any]:
    """Return the values of scores as fields of an answer."""
    return {name: score.measure(basis) for name, score in scores.items()}


def measured_scores(answer: Answer) -> Iterator[tuple[Score[Any], float]]:
    """Yield the scores of an answer that were measured, with their values."""
    for name, score in SCORES.items():
        if (value := getattr(answer, name)) is not None:
            yield score, value
