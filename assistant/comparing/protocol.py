"""The protocol of comparers, and the input of each step."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from assistant.comparing.ledger import Task
from assistant.comparing.records import Budget, Candidate, ComparisonOptions, KeyElements, TextKind, Vote
from assistant.records import Draft, ElementName, LabelledPaper, Parameters


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source of key elements: a paper with all its passages, or the description.

    The description has the label 0, no title, and one passage, whose id is "".
    """

    kind: TextKind
    paper: LabelledPaper

    @property
    def label(self) -> int:
        return self.paper.label


@dataclass(frozen=True, slots=True)
class ComparisonStep:
    """The input of a round: everything extracted so far, and the labels of the `new` papers.

    `sources` and `elements` are by label, the description's (0) and those of the papers up to the new ones.
    Without elements (an ablation), the texts themselves are compared.
    """

    about: str
    sources: Mapping[int, SourceText]
    elements: Mapping[int, KeyElements]
    new: tuple[int, ...]
    total: int
    options: ComparisonOptions

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels of all papers so far, the new ones last."""
        return tuple(label for label in self.sources if label)


class ComparativeGenerator(Protocol):
    """A comparer: extracts key elements, and writes in one pass or with reflection.

    Its methods are called by several threads at once.
    """

    @property
    def name(self) -> str:
        """The name it is chosen by ("extractive", or a model's id)."""

    @property
    def label(self) -> str:
        """The name readers see."""

    @property
    def note(self) -> str:
        """A note for readers on how its summaries are made, "" for none."""

    @property
    def elements_version(self) -> str:
        """A cache key of its key elements: everything that they depend on except the text."""

    @property
    def parameters(self) -> Parameters | None:
        """The generation parameters of its model, None without one."""

    @property
    def at_once(self) -> int:
        """The most of its calls that may run at once."""

    def budget(
        self, sources: Sequence[SourceText], missing: Collection[int], options: ComparisonOptions
    ) -> Budget:
        """Return the budget of a comparison; the elements of the labels `missing` are not extracted yet."""

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:
        """Extract the text's answers to the seven questions; unanswered ones are left out.

        Raises ModelError, and BadReplyError if a model twice replies in an unusable form.
        """


@runtime_checkable
class SinglePassGenerator(ComparativeGenerator, Protocol):
    """A comparer without a model, which neither samples nor votes."""

    def compose(self, step: ComparisonStep) -> Draft:
        """Return a summary of the papers of a step."""


@runtime_checkable
class ReflectiveGenerator(ComparativeGenerator, Protocol):
    """A model with ChatCite's comparative summarizer and reflective evaluator."""

    @property
    def can_vote(self) -> bool:
        """Whether it votes; otherwise the sample with the best citations is kept."""

    def update_summary(self, step: ComparisonStep, summary: str, sample: int, task: Task) -> Draft:
        """Return `summary`, "" at first, extended to the new papers; raises ModelError."""

    def vote(self, step: ComparisonStep, candidates: Sequence[Candidate], number: int, task: Task) -> Vote:
        """Return one vote for the best candidate; raises BadReplyError and ModelError."""
