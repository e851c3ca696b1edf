"""The records of a comparison: from chosen papers to a checked summary, with the whole tree behind it.

Words are ChatCite's (arXiv 2403.02574): key elements are extracted from the description of the proposed work
and from every paper; paper by paper each kept summary is continued by samples; votes decide which are kept.
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
    """A sentence that carries a key element, and how well, 0..1.

    `passage_id` is "" for a sentence of the description.
    """

    passage_id: str
    sentence: int
    text: str
    support: float


@dataclass(frozen=True, slots=True)
class KeyElement:
    """A text's answer to one of ChatCite's seven questions; "" for one that it does not state.

    `support` is how well the evidence carries it, 0..1, None where there is nothing to carry.
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

    `problem` says why they could not be read. `written` is when they were extracted, ISO 8601 in UTC:
    earlier than the comparison where they were kept from another one.
    """

    label: int
    source: TextKind
    elements: tuple[KeyElement, ...] = ()
    problem: str = ""
    written: str = ""

    def element(self, name: ElementName) -> KeyElement:
        return next((one for one in self.elements if one.name == name), KeyElement(name))


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of a paper, word for word, with its place."""

    passage_id: str
    sentence: int
    text: str


@dataclass(frozen=True, slots=True)
class QuotedCell:
    """The sentences in which a paper answers a question of the reader's; none where it does not say."""

    label: int
    quotes: tuple[QuotedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionColumn:
    """A question of the reader's, and each paper's answer to it in the order of the labels."""

    question: str
    cells: tuple[QuotedCell, ...] = ()

    def cell(self, label: int) -> QuotedCell:
        return next((cell for cell in self.cells if cell.label == label), QuotedCell(label))


# Of a sample so marked nothing, or not the whole, can be read.
_UNFINISHED = frozenset({"interrupted", "cut_short", "filtered", "empty", "echo", "looped", "labels_only"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A summary of the papers so far, as one sample of a round wrote it; labels are in the one form.

    `number` counts from 1 within its round, the oldest first; `parent` is the number of the summary of the
    round before that it continues, None in the first round. `lost` are the labels that it should cite and
    does not: its parent's, and those of the papers that were new. Precision and recall are of its citations.
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
        """Return True if it loses ties: it lost a reference, or was not written to its end."""
        return bool(self.lost or _UNFINISHED.intersection(self.problems))


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote for the best candidate of a round: its number, None of a vote that had to be discarded.

    `criterion` names what is measured where no model votes.
    """

    number: int
    choice: int | None
    analysis: str = ""
    problem: str = ""
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of Algorithm 1: the papers that are new in it, its candidates and votes, and who is kept.

    `kept` are numbers of candidates, the best first; `failed` says of samples that were not written why.
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
    """Return the name of a piece of work: "elements 3", "round 6 sample 2", "round 6 vote 4"."""
    return f"round {round_number} {kind} {number}" if round_number else f"{kind} {number}"


def parse_task_name(name: str) -> tuple[TaskKind, int, int] | None:
    """Return kind, number and round of a piece of work, None for a name that `task_name` does not give."""
    found = _TASK.fullmatch(name)
    return (cast(TaskKind, found[2]), int(found[3]), int(found[1] or 0)) if found else None


@dataclass(frozen=True, slots=True)
class WorkCall:
    """A call and the piece of work it was made for, by its `task_name`.

    A piece of work has a second call where its first reply did not fit. `reused`: made for an earlier
    comparison, and paid then.
    """

    work: str
    call: Call
    reused: bool = False

    @property
    def round(self) -> int:
        """The round it was made in, 0 for what comes before the first."""
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

    `questions` are the reader's own, which each paper answers in a further column of the grid.
    """

    papers: tuple[str, ...]
    about: str
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a comparison may take: model calls, tokens and US dollars.

    `calls` is what Algorithm 1 makes; `most_calls` also counts every typed reply asked for once more. Tokens
    are estimated from above, for `calls`; `price` is None where the model's is not known.
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
    """A finished comparison: the checked summary, the elements behind it, the whole tree, and every call.

    `evidence` holds the papers under their labels, in the order in which they were compared, each with those
    of its passages that something cites. `remarks` say what readers should know of the papers. `notes` are
    what its reader has marked in them, added when it is exported. `names_unsaid` as in AskOptions: it was
    checked so. `columns` are the reader's own questions.
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
        return tuple(one.paper for one in self.evidence.papers)

    @property
    def usage(self) -> Usage:
        """The cost of this comparison; calls paid for by an earlier one do not count."""
        return usage_of(one.call for one in self.calls if not one.reused)

    def elements_of(self, label: int) -> KeyElements:
        """Return the key elements of a label; of one without any, an empty record."""
        return next((one for one in self.elements if one.label == label), KeyElements(label, "title"))


@dataclass(frozen=True, slots=True)
class Planned:
    """Event: the papers are read and labelled, and what the comparison will take is known; always the first.

    `reused` are the labels whose elements an earlier comparison has extracted; without a model there are no
    `rounds`.
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
    """Event: a candidate of a round has been written; its scores and votes come when the round is over."""

    round: int
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Voted:
    """Event: a vote of a round has been cast, or had to be discarded."""

    round: int
    vote: Vote


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """Event: a round is over, and who is kept is decided."""

    round: Round


@dataclass(frozen=True, slots=True)
class Working:
    """Event: `calls` of the planned calls have been made; sent several times a second.

    `recorded` of them were found in the record of a run before, and not made again.
    """

    calls: int
    recorded: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Compared:
    """Event: the comparison is complete; always the last."""

    comparison: Comparison


ComparisonEvent = Planned | Extracted | Sampled | Voted | RoundFinished | Working | Compared


class ComparisonError(AssistantError):
    """A comparison could not be begun or gone on with; what was done of it is kept."""


class TooLongError(ComparisonError):
    """A comparison has become more than its model can take in: to go on with it comes to the same end."""
