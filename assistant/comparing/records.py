"""The records of a comparison: from chosen papers to a checked summary, with the whole tree behind it.

The terms are ChatCite's (arXiv 2403.02574): key elements are extracted from the description of the proposed
work and from every paper; paper by paper, samples continue each kept summary, and votes decide which to keep.
"""

import re
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from assistant.annotations import Annotation
from assistant.records import (
    Answer,
    AssistantError,
    Call,
    DraftProblem,
    ElementName,
    Evidence,
    LabelledPaper,
    Parameters,
    Provenance,
    StepTime,
    Usage,
    usage_of,
)
from corpus.records import Paper

ELEMENT_NAMES: tuple[ElementName, ...] = get_args(ElementName)
# The source of a text for key elements.
TextKind = Literal["full text", "abstract", "title", "description"]
PaperOrder = Literal["given", "year", "similarity"]
# The part that an ablation leaves out (ChatCite, section 5): the full method is compared with each.
Ablation = Literal["elements", "increments", "reflection"]
# The label of the description of the proposed work; papers are labelled from 1.
DESCRIPTION = 0


@dataclass(frozen=True, slots=True)
class ElementEvidence:
    """A sentence that supports a key element, and its support, 0..1.

    `passage_id` is "" for a sentence of the description.
    """

    passage_id: str
    sentence: int
    text: str
    support: float


@dataclass(frozen=True, slots=True)
class KeyElement:
    """A text's answer to one of ChatCite's seven questions; "" if the text does not state it.

    `support` is that by the evidence, 0..1, None without a text.
    """

    name: ElementName
    text: str = ""
    support: float | None = None
    evidence: tuple[ElementEvidence, ...] = ()

    @property
    def is_stated(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True)
class KeyElements:
    """The seven key elements of the description (label 0) or of a paper, in the order of ELEMENT_NAMES.

    `problem` says why they could not be extracted. `written` is the time of extraction, ISO 8601 in UTC,
    before that of the comparison if they are from an earlier one.
    """

    label: int
    source: TextKind
    elements: tuple[KeyElement, ...] = ()
    problem: str = ""
    written: str = ""

    def element(self, name: ElementName) -> KeyElement:
        return next((element for element in self.elements if element.name == name), KeyElement(name))


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of a paper, word for word, with its place."""

    passage_id: str
    sentence: int
    text: str


@dataclass(frozen=True, slots=True)
class QuotedCell:
    """The sentences in which a paper answers a question of the reader's, () if it does not."""

    label: int
    quotes: tuple[QuotedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionColumn:
    """A question of the reader's, and each paper's answer to it in the order of the labels."""

    question: str
    cells: tuple[QuotedCell, ...] = ()

    def cell(self, label: int) -> QuotedCell:
        return next((cell for cell in self.cells if cell.label == label), QuotedCell(label))


# Problems of a sample that is incomplete or empty.
_UNFINISHED = frozenset({"interrupted", "cut_short", "filtered", "empty", "echo", "looped", "labels_only"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A summary of the papers so far, written by one sample of a round, with normalised labels.

    `number` counts from 1 within its round; `parent` is the number of the summary of the previous round that
    it continues, None in the first round. `lost` are the labels of its parent and of the new papers that it
    does not cite. Precision and recall are those of its citations.
    """

    number: int
    parent: int | None
    text: str
    lost: tuple[int, ...] = ()
    problems: tuple[DraftProblem, ...] = ()
    citation_recall: float | None = None
    citation_precision: float | None = None
    votes: int = 0

    @property
    def is_marked(self) -> bool:
        """Return True if it loses ties, because it lost a reference or is incomplete."""
        return bool(self.lost or _UNFINISHED.intersection(self.problems))


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote for the best candidate of a round: the candidate's number, None if the vote was discarded.

    `criterion` names the measure behind a vote without a model.
    """

    number: int
    choice: int | None
    analysis: str = ""
    problem: str = ""
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of Algorithm 1: its new papers, candidates and votes.

    `kept` are the numbers of the candidates kept, the best first; `failed` are the reasons of failed samples.
    """

    number: int
    labels: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    votes: tuple[Vote, ...]
    kept: tuple[int, ...]
    failed: tuple[str, ...] = ()

    @property
    def survivors(self) -> tuple[Candidate, ...]:
        by_number = {candidate.number: candidate for candidate in self.candidates}
        return tuple(by_number[number] for number in self.kept)

    @property
    def discarded_votes(self) -> int:
        return sum(vote.choice is None for vote in self.votes)


TaskKind = Literal["elements", "sample", "vote"]
_TASK = re.compile(r"(?:round (\d{1,6}) (?=sample|vote))?(elements|sample|vote) (\d{1,6})")


def task_name(kind: TaskKind, number: int, round_number: int = 0) -> str:
    """Return the name of a task: "elements 3", "round 6 sample 2", "round 6 vote 4"."""
    return f"round {round_number} {kind} {number}" if round_number else f"{kind} {number}"


def parse_task_name(name: str) -> tuple[TaskKind, int, int] | None:
    """Return kind, number and round of a task name, None for any other text."""
    match = _TASK.fullmatch(name)
    return (cast(TaskKind, match[2]), int(match[3]), int(match[1] or 0)) if match else None


@dataclass(frozen=True, slots=True)
class WorkCall:
    """A call and the `task_name` of the task it was made for.

    A task has a second call if its first reply had the wrong form. `reused`: an earlier comparison made it.
    """

    work: str
    call: Call
    reused: bool = False

    @property
    def round(self) -> int:
        """The round of the call, 0 before the first."""
        parsed = parse_task_name(self.work)
        return parsed[2] if parsed else 0


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The options of a comparison: n_s, n_v and n_c of Algorithm 1, the order, and ablations."""

    samples: int = 2
    votes: int = 5
    keep: int = 3
    order: PaperOrder = "given"
    without: tuple[Ablation, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """The papers to compare, by id, and the description of the proposed work.

    `questions` are the reader's own; each adds a column to the grid.
    """

    papers: tuple[str, ...]
    about: str
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """The upper bound of a comparison's cost: model calls, tokens and US dollars.

    `calls` is that of Algorithm 1; `most_calls` also counts a second request for every typed reply. Tokens
    are upper estimates for `calls`; `price` is None if the model's is not known.
    """

    calls: int
    most_calls: int
    prompt_tokens: int
    completion_tokens: int
    price: float | None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def is_used_up(self, calls: int, usage: Usage) -> bool:
        """Return True if `calls` and `usage` reach the budget; free use is limited by calls alone."""
        if calls >= self.most_calls:
            return True
        if self.price is not None:
            return (usage.price or 0.0) >= self.price > 0
        return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0) >= self.tokens


@dataclass(frozen=True, slots=True)
class Comparison:
    """A finished comparison: the checked summary, the key elements, all rounds, and every call.

    `evidence` holds the papers in the order of the comparison, with the passages that are cited. `remarks`
    are notes for readers on the papers and the run. `notes` are the reader's annotations, added on export.
    `names_unsaid` is that of AskOptions. `columns` are the reader's own questions with their answers.
    """

    id: str
    about: str
    options: ComparisonOptions
    paper_ids: tuple[str, ...]
    asked: str
    evidence: Evidence
    elements: tuple[KeyElements, ...]
    rounds: tuple[Round, ...]
    answer: Answer
    calls: tuple[WorkCall, ...]
    seconds: tuple[StepTime, ...]
    provenance: Provenance
    parameters: Parameters | None = None
    remarks: tuple[str, ...] = ()
    notes: tuple[Annotation, ...] = ()
    names_unsaid: bool = False
    columns: tuple[QuestionColumn, ...] = ()

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers that were compared."""
        return tuple(labelled.paper for labelled in self.evidence.papers)

    @property
    def usage(self) -> Usage:
        """The cost of this comparison, without reused calls."""
        return usage_of(entry.call for entry in self.calls if not entry.reused)

    def elements_of(self, label: int) -> KeyElements:
        """Return the key elements of a label, an empty record if it has none."""
        return next(
            (elements for elements in self.elements if elements.label == label), KeyElements(label, "title")
        )


@dataclass(frozen=True, slots=True)
class Planned:
    """Event: the papers are read and labelled, and the budget is known; always the first.

    `reused` are the labels whose elements an earlier comparison has extracted; `rounds` is 0 without a model.
    """

    papers: tuple[LabelledPaper, ...]
    budget: Budget
    remarks: tuple[str, ...]
    reused: tuple[int, ...] = ()
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Extracted:
    """Event: the key elements of one paper, or of the description, are known."""

    elements: KeyElements


@dataclass(frozen=True, slots=True)
class Sampled:
    """Event: a candidate of a round is written; its scores and votes follow at the end of the round."""

    round: int
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Voted:
    """Event: a vote of a round has been cast or discarded."""

    round: int
    vote: Vote


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """Event: a round has ended, with its kept candidates."""

    round: Round


@dataclass(frozen=True, slots=True)
class Working:
    """Event, sent several times a second: `calls` have been made, `recorded` of them by an earlier run."""

    calls: int
    recorded: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Compared:
    """Event: the comparison is complete; always the last."""

    comparison: Comparison


ComparisonEvent = Planned | Extracted | Sampled | Voted | RoundFinished | Working | Compared


class ComparisonError(AssistantError):
    """A comparison could not begin or continue; its finished calls are kept."""


class TooLongError(ComparisonError):
    """A comparison exceeds its model's context; continuing it would fail again."""
