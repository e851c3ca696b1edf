"""The values that a construction passes from step to step."""

from dataclasses import dataclass, field
from typing import Literal

from assistant.records import Evidence, Message
from corpus.records import Paper, Passage

# TruthReader's three kinds of request.
Kind = Literal["fact", "summary", "synthesis"]
# What stands before a question: nothing, what it leans on, something else, or both.
HistoryType = Literal["none", "relevant", "irrelevant", "both"]
# What was done to the passages that a question is asked with.
Change = Literal["shuffled", "replaced", "omitted", "unanswerable"]


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document that questions are made of, its passages in reading order."""

    paper: Paper
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with its answer as a model wrote them, and the passages that it was shown.

    `leans_on` is the pair that a follow-up question continues.
    """

    id: str
    kind: Kind
    question: str
    answer: str
    shown: tuple[Passage, ...]
    leans_on: "Pair | None" = None


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer without labels, and the labels of the papers that carry it."""

    text: str
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HistoryTurn:
    """An earlier question with its answer, and what that was answered from."""

    question: str
    answer: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its evidence and its cited answer; without sentences it is to be refused.

    `is_partial`: a part of the answer was taken away with what carried it.
    """

    pair: Pair
    evidence: Evidence
    sentences: tuple[CitedSentence, ...]
    history: tuple[HistoryTurn, ...] = ()
    history_type: HistoryType = "none"
    change: Change = "shuffled"
    is_partial: bool = False

    @property
    def cited(self) -> tuple[int, ...]:
        """The labels cited, in order of first appearance."""
        return tuple(dict.fromkeys(label for one in self.sentences for label in one.labels))


@dataclass(frozen=True, slots=True)
class Row:
    """An example as it is trained on: the messages that the product would send, and the reply."""

    id: str
    kind: Kind
    history_type: HistoryType
    change: Change
    is_refusal: bool
    cited: tuple[int, ...]
    papers: tuple[str, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """What did not become a row, and why: `reason` is one of a few, `detail` says more."""

    id: str
    step: str
    reason: str
    question: str = ""
    detail: str = ""


@dataclass(slots=True)
class Yield:
    """What a step keeps and what it drops."""

    pairs: list[Pair] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
